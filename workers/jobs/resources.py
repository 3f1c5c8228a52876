"""What a worker's process holds for all its jobs, made on first use and so after any fork."""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import structlog
from celery.signals import worker_process_init, worker_process_shutdown

from app.config import Settings, load_settings
from app.domain.report import Report, Stage
from app.domain.request import EvaluationRequest
from app.kit.db import Database

if TYPE_CHECKING:
    from workers.sandbox import Sandboxes

log = structlog.get_logger(__name__)
Engine = Callable[[EvaluationRequest, Callable[[Stage], None]], Report]


@lru_cache(maxsize=1)
def database() -> Database:
    return Database(load_settings())


@lru_cache(maxsize=1)
def engine() -> Engine:
    return engine_of(load_settings())


def engine_of(settings: Settings) -> Engine:
    """The judge; a test may name another one in the settings."""
    if settings.engine and settings.engine_override:
        module, _, name = settings.engine.partition(":")
        found: Engine = getattr(importlib.import_module(module), name)
        return found
    return _judge()


@worker_process_init.connect
def warm_up(**_: object) -> None:
    """Let the fork server import its libraries now, so that the first submission does not wait for it."""
    settings = load_settings()
    if settings.warm and not settings.engine_override and "torch" in settings.runtimes:
        try:
            _sandboxes().prepare("torch")
        except Exception as error:  # noqa: BLE001 - every evaluation will say so too, with a remedy
            log.warning("no_warm_start", error=str(error))


@worker_process_shutdown.connect
def cool_down(**_: object) -> None:
    """End the fork servers with the process that made them."""
    if _sandboxes.cache_info().currsize:
        _sandboxes().close()


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@lru_cache(maxsize=1)
def _sandboxes() -> Sandboxes:
    from workers.local import sandboxes_for

    settings = load_settings()
    return sandboxes_for(settings.runtimes, warm=settings.warm, allow_unsandboxed=settings.allow_unsandboxed)


def _judge() -> Engine:
    from workers.judge.pipeline import evaluate

    return lambda request, progress: evaluate(request, _sandboxes(), progress)
