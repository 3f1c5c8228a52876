"""A request's step: one handler and its session, opened, used and committed in one thread.

The framework would resolve each dependency, call the handler, check the answer and close the session in as many turns
of its thread pool, which costs more than most handlers do.  Worse, a handler that had written waited with the write
lock in hand for a thread to check its answer in; with every thread waiting for that lock, nothing moved.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from sqlalchemy.orm import Session

from app.kit.db import Database


@dataclass(frozen=True)
class _Door:
    """What a handler is given in place of a session until its step opens it."""

    open: Callable[[], AbstractContextManager[Session]]


class Step(APIRoute):
    """A route whose handler runs in one thread with its session; the commit comes before the answer.

    So a commit that fails is a 500, and not a 200 that has left already.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        is_plain = not inspect.iscoroutinefunction(endpoint)
        super().__init__(path, _in_one_thread(endpoint) if is_plain else endpoint, **options)


def steps(**options: Any) -> APIRouter:
    """A router of steps."""
    return APIRouter(route_class=Step, **options)


def database_of(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


def _in_one_thread(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    async def step(**given: Any) -> Any:
        return await run_in_threadpool(_take, handler, given)

    return step


def _take(handler: Callable[..., Any], given: dict[str, Any]) -> Any:
    with ExitStack() as opened:
        for name, value in given.items():
            if isinstance(value, _Door):
                given[name] = opened.enter_context(value.open())
        return handler(**given)


async def _read_door(request: Request) -> _Door:
    return _Door(database_of(request).read)


async def _write_door(request: Request) -> _Door:
    return _Door(database_of(request).write)


ReadSession = Annotated[Session, Depends(_read_door)]
WriteSession = Annotated[Session, Depends(_write_door)]
