"""What a worker's process holds for all its jobs, made on first use and so after any fork."""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Callable
from functools import lru_cache

from app.config import Settings, load_settings
from app.domain.report import Report, Stage
from app.domain.request import EvaluationRequest
from app.kit.db import Database

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
    return _judge(settings)


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _judge(settings: Settings) -> Engine:
    from workers.judge.pipeline import evaluate
    from workers.local import sandboxes_for

    sandboxes = sandboxes_for(settings.runtimes, warm=settings.warm, allow_unsandboxed=settings.allow_unsandboxed)
    return lambda request, progress: evaluate(request, sandboxes, progress)
