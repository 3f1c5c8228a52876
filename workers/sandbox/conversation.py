"""The ends of socket and output pipe that every kind of start makes, and the child's first frame."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TypeVar

from workers.sandbox.errors import SandboxUnavailable
from workers.sandbox.limits import KIBIBYTE, Limits
from workers.sandbox.process import ForeignProcess
from workers.sandbox.session import Session
from workers.sandbox.watch import Watch
from workers.wire import frames

P = TypeVar("P", bound=ForeignProcess)


@dataclass
class Ends:
    """Our ends and the child's ends, before a process holds the latter."""

    ours: socket.socket
    child: socket.socket
    output_read: int
    output_write: int

    def close_child_ends(self) -> None:
        """Once the child has its own copies, ours would keep the pipe open for ever."""
        self.child.close()
        os.close(self.output_write)

    def close_own_ends(self) -> None:
        """Give up before a session exists."""
        self.ours.close()
        os.close(self.output_read)

    def printed(self) -> str:
        """What was printed so far, without waiting."""
        os.set_blocking(self.output_read, False)
        try:
            return os.read(self.output_read, 4096).decode(errors="replace").strip()
        except BlockingIOError:
            return ""


def open_ends() -> Ends:
    """A socket pair and an output pipe."""
    return Ends(*socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM), *os.pipe())


def converse(
    ends: Ends,
    start: Callable[[], P],
    limits: Limits,
    *,
    begin: Mapping[str, object],
    limits_in_force: Callable[[P], Mapping[str, str]],
    folders: Mapping[str, str],
) -> Session:
    """Start a process on the child's ends, send it the first frame and make the session.

    Raises `SandboxUnavailable` with what the launcher printed.
    """
    with ExitStack() as on_failure:
        on_failure.callback(ends.close_own_ends)
        try:
            process = start()
        except SandboxUnavailable as error:
            raise SandboxUnavailable(f"{error}\n{ends.printed()}".strip()) from error
        finally:
            ends.close_child_ends()
        on_failure.pop_all()
    deadline = time.monotonic() + limits.wall_seconds
    watch = Watch(ends.output_read, output_bytes=limits.output_kb * KIBIBYTE, deadline=deadline, on_breach=process.kill)
    session = Session(
        process, ends.ours, watch, limits=limits, limits_in_force=limits_in_force(process), folders=folders
    )
    with suppress(frames.Closed):  # it died already; the first call tells why
        frames.send(ends.ours, dict(begin))
    return session


def begin_message(module: str, code_folder: str | None, rlimits: Mapping[str, list[int]]) -> dict[str, object]:
    """The first frame: what to limit, where to look for code, what to serve."""
    return {"module": module, "paths": [code_folder] if code_folder else [], "rlimits": dict(rlimits)}
