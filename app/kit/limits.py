"""A bound on request bodies, before any of them is kept: by the stated length, then by what really comes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import problem_body


class Limit(NamedTuple):
    bytes_max: int
    what_to_do: str = "Leave out data files; inputs are made by the task, not sent along."


class BodyLimit:
    """Answers 413 to a body larger than `limit`, or than the one of its path in `others`; the rest is not read."""

    def __init__(self, app: ASGIApp, limit: Limit, others: Mapping[str, Limit] | None = None) -> None:
        self._app = app
        self._limit, self._others = limit, others or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._others.get(scope["path"], self._limit)
        stated = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        if not stated.isdigit() or int(stated) > limit.bytes_max:
            await self._refuse(scope, send, limit)
            return
        meter = _Meter(receive, send, limit.bytes_max)
        try:
            await self._app(scope, meter.receive, meter.send)
        except _BodyTooLarge:
            if not meter.has_answered:
                await self._refuse(scope, send, limit)

    async def _refuse(self, scope: Scope, send: Send, limit: Limit) -> None:
        detail = f"The request is larger than {limit.bytes_max // (1 << 20)} MiB."
        accepts = next((v for k, v in scope["headers"] if k == b"accept"), b"")
        is_page = b"text/html" in accepts and not scope["path"].startswith("/api/")
        kind = b"text/html; charset=utf-8" if is_page else b"application/problem+json"
        body = _page(detail, limit.what_to_do) if is_page else _problem(detail, limit.what_to_do)
        headers = [(b"content-type", kind), (b"connection", b"close"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _page(detail: str, what_to_do: str) -> bytes:
    said = f"<p>{detail} {what_to_do}</p><p>Go back in your browser: what you typed is still there.</p>"
    return f"<!doctype html><title>Too large</title><h1>Too large</h1>{said}".encode()


def _problem(detail: str, what_to_do: str) -> bytes:
    return json.dumps(problem_body(413, "Too large", detail, what_to_do=what_to_do)).encode()


class _BodyTooLarge(Exception):
    """Unwinds the application once more came than was allowed."""


class _Meter:
    def __init__(self, receive: Receive, send: Send, bytes_max: int) -> None:
        self._receive, self._send, self._left = receive, send, bytes_max
        self.has_answered = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        self.has_answered = True
        await self._send(message)
