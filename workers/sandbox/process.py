"""The two kinds of foreign process, cold and warm, as one interface: kill, wait, count, clean up."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from workers.sandbox.cgroups import Group

_DEATH_SECONDS = 10.0
# bubblewrap, like a shell, reports death by signal n as the exit code 128 + n.
_SIGNAL_BASE = 128


class ForeignProcess(Protocol):
    """What a session needs to know of the process behind it."""

    def kill(self) -> None:
        """End the process and all it started; safe to call from any thread and again."""

    def wait(self, timeout_seconds: float) -> tuple[int | None, int | None] | None:
        """(exit code, signal) once all of it is dead; None when it still lives."""

    def oom_kills(self) -> int:
        """How many processes the kernel provably killed for memory."""

    def release(self) -> None:
        """Free what was held for it; only after `wait` told the end."""


class ColdProcess:
    """A program started through bubblewrap, alone in a tree of processes of its own."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self.group: Group | None = None
        self.uid: int | None = None  # outside, when it is one of its own
        self.init_pid = -1
        self._popen = popen
        self._init_pidfd = -1
        self._cleanup = ExitStack()

    def adopt(self, init_pid: int) -> None:
        """Remember the sandbox's init (host pid): its death is the death of all."""
        self.init_pid = init_pid
        self._init_pidfd = os.pidfd_open(init_pid)

    def on_release(self, cleanup: Callable[[], object]) -> None:
        """Call `cleanup` on release, latest first."""
        self._cleanup.callback(cleanup)

    def kill(self) -> None:
        """Kill the sandbox's init; its launchers then reap it and leave by themselves."""
        if self._init_pidfd >= 0:
            kill_pidfd(self._init_pidfd)
        else:
            self._kill_launchers()

    def wait(self, timeout_seconds: float) -> tuple[int | None, int | None] | None:
        """As in `ForeignProcess`; also waits for the init, which a killed launcher leaves behind briefly."""
        code = self._popen_code(timeout_seconds)
        if code is None:
            return None
        if self._init_pidfd >= 0 and not becomes_readable(self._init_pidfd, _DEATH_SECONDS):
            return None
        return told_status(code)

    def _popen_code(self, timeout_seconds: float) -> int | None:
        try:
            return self._popen.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return None

    def _kill_launchers(self) -> None:
        if self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def oom_kills(self) -> int:
        """The control group's count, 0 without one."""
        return self.group.oom_kills() if self.group else 0

    def release(self) -> None:
        """Close the descriptor, remove the group, run the cleanups."""
        self._kill_launchers()
        if self._init_pidfd >= 0:
            os.close(self._init_pidfd)
            self._init_pidfd = -1
        if self.group is not None:
            self.group.remove()
        self._cleanup.close()


def becomes_readable(fd: int, seconds: float) -> bool:
    """Whether `fd` is or becomes readable in time; by `poll`, as `select` takes no descriptor above 1023."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def kill_pidfd(pidfd: int) -> None:
    """SIGKILL to the process behind a pidfd, if there is one and it lives."""
    if pidfd >= 0:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def told_status(code: int) -> tuple[int | None, int | None]:
    """(exit code, signal) from a launcher's exit code."""
    if code < 0:
        return None, -code
    if code > _SIGNAL_BASE and code - _SIGNAL_BASE in set(signal.Signals):
        return None, code - _SIGNAL_BASE
    return code, None


def host_pid(pidfd: int) -> int:
    """The pid that we see for a pidfd from another pid namespace; -1 when it is gone."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1
