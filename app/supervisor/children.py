"""One child: how it is started, watched, and stopped without leaving anything behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_SHIM = Path(__file__).with_name("shim.py")
_TAIL_LINES = 20
_OUTPUT_LOCK = threading.Lock()


@dataclass(frozen=True)
class ChildSpec:
    """What to run.

    `stop_signal` asks it to end; `stop_seconds` later it is killed with its whole process group.
    `death_signal` is what the kernel sends it when the supervisor itself dies.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: int = signal.SIGTERM
    stop_seconds: float = 10.0
    death_signal: int = signal.SIGTERM


class Child:
    """A started `ChildSpec`.

    Start it from the main thread: the kernel sends the death signal when the *thread* that
    started a child ends.
    """

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self.tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SHIM), str(os.getpid()), str(int(spec.death_signal)), *spec.command],
            env={**os.environ, "PYTHONUNBUFFERED": "1", **spec.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal reaches the supervisor only
        )
        self._pump = threading.Thread(target=self._copy_output, name=f"log-{spec.name}", daemon=True)
        self._pump.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_status(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(self.spec.stop_signal)

    def wait(self, deadline: float) -> bool:
        """Whether it ended before `deadline`, a `time.monotonic()` value."""
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill_group(self) -> None:
        """End it and what it started in its process group; harmless when all have ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._pump.join(timeout=1.0)

    def _copy_output(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with stream:
            for line in _lines(stream):
                self.tail.append(line)
                say(self.spec.name, line)


def say(name: str, line: str) -> None:
    """One line of the log, under the name of who said it."""
    with _OUTPUT_LOCK:
        print(f"{name:<9} | {line}", flush=True)  # noqa: T201 - this is the log


def _lines(stream: IO[bytes]) -> Iterator[str]:
    for raw in iter(lambda: stream.readline(1 << 16), b""):
        yield raw.decode(errors="replace").rstrip("\n")


def stop(child: Child, seconds: float | None = None) -> bool:
    """Ask, wait, kill the group; whether it ended by itself."""
    child.ask_to_stop()
    ended = child.wait(time.monotonic() + (child.spec.stop_seconds if seconds is None else seconds))
    child.kill_group()
    return ended
