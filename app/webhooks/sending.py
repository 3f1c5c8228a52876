"""One POST to an address that was checked: no redirect, no proxy, a bounded answer, and an end for the whole of it.

By the standard library's client over a socket of our own, because that lets us say which address is connected to,
and cut the socket when the time is over, however slowly its other end drips.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.webhooks.addresses import Target

ANSWER_BYTES_MAX = 500


@dataclass(frozen=True)
class Answer:
    """`status` is None where none came; `text` is the answer's beginning, or why there is none."""

    status: int | None
    text: str

    @property
    def is_ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        return self.status == http.client.GONE


def post(target: Target, headers: Mapping[str, str], body: bytes, *, seconds: float) -> Answer:
    """Never raises for what the other side does."""
    over = threading.Event()
    try:
        with _connection(target, seconds, over) as connection:
            whole = {"Host": target.host_header, "Connection": "close", **headers}
            connection.request("POST", target.path, body=body, headers=whole)
            response = connection.getresponse()
            return Answer(response.status, _text(response.read(ANSWER_BYTES_MAX)))
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = over.is_set() or isinstance(error, TimeoutError)
        reason = f"no whole answer within {seconds:g} s" if late else str(error) or type(error).__name__
        return Answer(None, _text(reason.encode()))


@contextlib.contextmanager
def _connection(target: Target, seconds: float, over: threading.Event) -> Iterator[http.client.HTTPConnection]:
    ends_at = time.monotonic() + seconds
    plain = socket.create_connection((target.address, target.port), timeout=seconds)
    kept = (
        _tls().wrap_socket(plain, server_hostname=target.host, do_handshake_on_connect=False)
        if target.is_https
        else plain
    )
    watch = threading.Timer(max(0.0, ends_at - time.monotonic()), _cut, (kept, over))
    watch.daemon = True
    watch.start()
    try:
        if isinstance(kept, ssl.SSLSocket):
            kept.do_handshake()
        connection = http.client.HTTPConnection(target.host, target.port)
        connection.sock = kept
        yield connection
    finally:
        watch.cancel()
        kept.close()


def _cut(kept: socket.socket, over: threading.Event) -> None:
    """Whoever waits on the socket wakes up; closing it would not wake them."""
    over.set()
    with contextlib.suppress(OSError):
        socket.socket.shutdown(kept, socket.SHUT_RDWR)


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "\u2400")[:ANSWER_BYTES_MAX]
