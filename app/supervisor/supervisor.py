"""Keeps a handful of children running: starts, restarts, gives up, and stops them in order."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

from app.supervisor import orphans
from app.supervisor.children import Child, ChildSpec, say, stop
from app.supervisor.errors import ChildFailed

DEATHS_MAX = 3
DEATHS_WINDOW_SECONDS = 60.0
_LOOK_EVERY_SECONDS = 0.2
_REAP_EVERY_SECONDS = 5.0


_GUARD = Path(__file__).with_name("guard.py")


class Supervisor:
    """The running children, by name, and what Ctrl-C has said so far."""

    def __init__(self) -> None:
        self.children: dict[str, Child] = {}
        self._guard: subprocess.Popen[str] | None = None
        self._adopts_orphans = False
        self.is_stopping = False
        self._is_hurried = False
        self._deaths: dict[str, deque[float]] = {}

    def listen_to_signals(self) -> None:
        """Ctrl-C or SIGTERM stops in order; a second one does not wait for running jobs."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def adopt_orphans(self) -> None:
        """From now on every child of this process is the supervisor's to end."""
        orphans.adopt()
        self._adopts_orphans = True

    def start(self, spec: ChildSpec) -> None:
        child = Child(spec)
        self.children[spec.name] = child
        self._tell_guard(f"+{child.pid}")

    def watch(self, until: Callable[[], bool], seconds: float = float("inf")) -> bool:
        """Keep the children running until `until()`, a signal, or `seconds`; whether `until()` came true.

        Raises `ChildFailed` when one of them dies three times within a minute.
        """
        deadline = time.monotonic() + seconds
        reap_at = time.monotonic() + _REAP_EVERY_SECONDS
        while not self.is_stopping and time.monotonic() < deadline:
            self._restart_the_dead()
            if until():
                return True
            if self._adopts_orphans and time.monotonic() >= reap_at:
                orphans.reap(self._known_pids())
                reap_at = time.monotonic() + _REAP_EVERY_SECONDS
            time.sleep(_LOOK_EVERY_SECONDS)
        return False

    def stop(self, order: Iterable[str]) -> None:
        """Stop the children in `order`, the others after them, and whatever they left behind."""
        names = [*order, *self.children]
        for name in dict.fromkeys(names):
            if (child := self.children.pop(name, None)) is not None:
                self._stop_one(child)
        self._dismiss_guard()
        if self._adopts_orphans and (killed := orphans.end_descendants()):
            say("serve", f"ended {len(killed)} process(es) that the children had left behind")

    def _stop_one(self, child: Child) -> None:
        say("serve", f"stopping {child.spec.name}")
        deadline = time.monotonic() + child.spec.stop_seconds
        child.ask_to_stop()
        while not self._is_hurried and time.monotonic() < deadline:
            if child.wait(time.monotonic() + _LOOK_EVERY_SECONDS):
                break
        stop(child, seconds=0.0)
        self._tell_guard(f"-{child.pid}")

    def _restart_the_dead(self) -> None:
        for name, child in list(self.children.items()):
            status = child.exit_status()
            if status is None:
                continue
            child.kill_group()
            self._tell_guard(f"-{child.pid}")
            if self._count_death(name) >= DEATHS_MAX:
                raise ChildFailed(_last_words(child, status))
            say("serve", f"{name} ended ({_in_words(status)}); starting it again")
            self.start(child.spec)

    def _count_death(self, name: str) -> int:
        now = time.monotonic()
        deaths = self._deaths.setdefault(name, deque())
        deaths.append(now)
        while deaths[0] < now - DEATHS_WINDOW_SECONDS:
            deaths.popleft()
        return len(deaths)

    def _tell_guard(self, word: str) -> None:
        if self._guard is None:
            command = [sys.executable, "-I", "-S", str(_GUARD)]
            self._guard = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)
        assert self._guard.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # somebody killed it: the death signals remain
            print(word, file=self._guard.stdin, flush=True)

    def _dismiss_guard(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.communicate()

    def _known_pids(self) -> set[int]:
        guard = {self._guard.pid} if self._guard else set()
        return guard | {child.pid for child in self.children.values()}

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._is_hurried = self.is_stopping
        self.is_stopping = True


def _last_words(child: Child, status: int) -> str:
    lines = "\n".join(f"    {line}" for line in child.tail)
    return (
        f"The {child.spec.name} died {DEATHS_MAX} times within a minute ({_in_words(status)}), "
        f"so everything was stopped. Its last lines:\n{lines}"
    )


def _in_words(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
