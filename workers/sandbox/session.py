"""One live conversation with a foreign process: call it, read its log, end it."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from workers.sandbox.errors import Ended, Reason
from workers.sandbox.limits import Limits
from workers.sandbox.process import ForeignProcess
from workers.sandbox.watch import Watch
from workers.wire import frames

_DEATH_SECONDS = 10.0
_GRACE_SECONDS = 2.0


class _BadAnswer(Exception):
    """The child's fault; a `FrameError` in sending is the caller's."""


@dataclass(frozen=True)
class Reply:
    """An answer of the foreign process: a claim, not a fact.  The caller closes the descriptors."""

    message: dict[str, Any]
    fds: list[int]


class Session:
    """A foreign process within its limits; a context manager that leaves nothing behind.

    Attributes:
        limits_in_force: field -> what holds, or "not in force: why".
        folders: the program's path inside -> where the child really finds that folder (the same,
            except in an unsandboxed run).
    """

    def __init__(
        self,
        process: ForeignProcess,
        sock: socket.socket,
        watch: Watch,
        *,
        limits: Limits,
        limits_in_force: Mapping[str, str],
        folders: Mapping[str, str],
    ) -> None:
        self.limits_in_force = dict(limits_in_force)
        self.folders = dict(folders)
        self._process = process
        self._sock = sock
        self._watch = watch
        self._limits = limits
        self._ended: Ended | None = None
        self._closed = False
        self._lock = threading.Lock()

    def call(self, message: dict[str, Any], fds: Sequence[int] = (), *, timeout_s: float) -> Reply:
        """Send a message and wait for its answer, at most `timeout_s` seconds.

        `fds` are duplicated into the child and stay the caller's.  Raises `Ended` when the process
        ends, breaks a limit, answers late or answers nonsense; it is dead then, and each later
        call raises the same.  `FrameError` from a message that is too long is the caller's fault
        and changes nothing.
        """
        with self._lock:
            if self._ended is None:
                try:
                    return self._exchange(message, fds, time.monotonic() + timeout_s)
                except (frames.Late, TimeoutError):
                    self._end("time", f"no answer within {timeout_s:g} s")
                except _BadAnswer as error:
                    self._end("protocol", str(error))
                except frames.Closed:
                    self._end(None, "")
            raise self._ended or AssertionError("unreachable")

    @property
    def log(self) -> str:
        """The tail of stdout and stderr so far."""
        return self._watch.log

    def close(self) -> None:
        """Kill all of it, reap it, free what it held.  May be called again, and during a call."""
        if not self._closed:
            self._process.kill()
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._ended is None:
                self._ended = Ended("exit", detail="the session was closed")
            self._process.kill()
            self._process.wait(_DEATH_SECONDS)
            self._watch.close()
            self._sock.close()
            self._process.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(self, message: dict[str, Any], fds: Sequence[int], deadline: float) -> Reply:
        self._sock.settimeout(max(0.001, deadline - time.monotonic()))
        frames.send(self._sock, message, fds)
        try:
            return Reply(*frames.receive(self._sock, deadline))
        except frames.FrameError as error:
            raise _BadAnswer(str(error)) from error

    def _end(self, reason: Reason | None, detail: str) -> None:
        """Make the process dead and say once and for all why; `reason` None: as it chose itself."""
        status = None
        if reason is None:  # it hung up: it is dying, or it only closed its socket
            status = self._process.wait(_GRACE_SECONDS)
        if status is None:
            if reason is None and self._watch.breach is None:
                reason, detail = "protocol", "closed its socket and lived on"
            self._process.kill()
            status = self._process.wait(_DEATH_SECONDS)
        self._watch.drained.wait(_GRACE_SECONDS)
        exit_code, signal_number = status or (None, None)
        proved = self._proved(exit_code, signal_number)
        if proved is not None:
            reason, detail = proved
        elif reason is None:
            reason, detail = _own_end(exit_code, signal_number)
        self._ended = Ended(reason, exit_code, signal_number, detail, self._watch.log)

    def _proved(self, exit_code: int | None, signal_number: int | None) -> tuple[Reason, str] | None:
        """The limit that ended it, where we or the kernel saw it break."""
        if self._watch.breach == "output":
            return "output", f"printed more than {self._limits.output_kb} KiB"
        if self._process.oom_kills() and exit_code != 0:
            return "memory", f"the kernel killed it for using more than {self._limits.memory_mb} MiB"
        if self._watch.breach == "time":
            return "time", f"the session lasted longer than {self._limits.wall_seconds:g} s"
        if signal_number == signal.SIGXCPU:
            return "time", f"used more than {self._limits.cpu_seconds} s of processor time"
        return None


def _own_end(exit_code: int | None, signal_number: int | None) -> tuple[Reason, str]:
    if signal_number is not None:
        return "signal", f"ended by {signal.Signals(signal_number).name}"
    return "exit", f"exited with {exit_code}"
