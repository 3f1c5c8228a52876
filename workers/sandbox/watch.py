"""Reads what a foreign process prints and minds the two limits that only time and output can break."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from typing import Literal

Breach = Literal["output", "time"]
TAIL_BYTES = 60_000
_LONGEST_POLL_SECONDS = 3600.0


class Watch:
    """A thread that drains one pipe, keeps its tail, and calls `on_breach` once when a limit breaks."""

    def __init__(
        self, pipe_fd: int, *, output_bytes: int | None, deadline: float | None, on_breach: Callable[[], None]
    ) -> None:
        """`pipe_fd` is owned from here on; `deadline` is a `time.monotonic()` value."""
        self.breach: Breach | None = None
        self.drained = threading.Event()
        self._pipe_fd = pipe_fd
        self._output_bytes = output_bytes
        self._deadline = deadline
        self._on_breach = on_breach
        self._tail = bytearray()
        self._gone_bytes = 0
        self._lock = threading.Lock()
        self._stop_fd = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name="sandbox-watch", daemon=True)
        self._thread.start()

    @property
    def log(self) -> str:
        """The end of what was printed so far, below a line that says how much went before it."""
        with self._lock:
            gone = f"({self._gone_bytes} earlier bytes are not kept)\n" if self._gone_bytes else ""
            return gone + bytes(self._tail).decode(errors="replace")

    def close(self) -> None:
        """Stop the thread and close the pipe; the log stays readable."""
        if self._thread.is_alive():
            os.eventfd_write(self._stop_fd, 1)
            self._thread.join()
        for name in ("_pipe_fd", "_stop_fd"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._stop_fd, select.POLLIN)
        poll.register(self._pipe_fd, select.POLLIN)
        total_bytes = 0
        while self.breach is None:
            ready = [fd for fd, _ in poll.poll(1000 * min(self._left(), _LONGEST_POLL_SECONDS))]
            if self._stop_fd in ready:
                break
            if self._pipe_fd in ready:
                total_bytes += self._read(poll)
            if self._output_bytes is not None and total_bytes > self._output_bytes:
                self._break("output")
            elif self._left() <= 0:
                self._break("time")
        self.drained.set()

    def _left(self) -> float:
        return _LONGEST_POLL_SECONDS if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _read(self, poll: select.poll) -> int:
        chunk = os.read(self._pipe_fd, 65536)
        if not chunk:  # every writer is gone, or closed it: only the clock is left to mind
            poll.unregister(self._pipe_fd)
            self.drained.set()
        with self._lock:
            self._tail += chunk
            self._gone_bytes += max(0, len(self._tail) - TAIL_BYTES)
            del self._tail[:-TAIL_BYTES]
        return len(chunk)

    def _break(self, breach: Breach) -> None:
        self.breach = breach
        self._on_breach()
