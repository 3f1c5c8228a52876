"""The last sweep: whatever a child left behind is adopted by the supervisor, and ended.

A sandboxed process may have a session of its own, so a process group does not hold it.  As
the nearest "subreaper" the supervisor becomes the parent of every descendant whose own parent
died; what is still there when all children have ended has no business left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_MOMENT_SECONDS = 0.5
_SWEEP_SECONDS = 5.0


def adopt() -> None:
    """Become the parent of orphaned descendants (Linux only; elsewhere nothing happens)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> list[int]:
    """Kill every child that is left, and what that orphans in turn; returns the pids killed.

    Sandboxed processes die with the one that started them; they get a moment to do so.
    """
    killed: set[int] = set()
    began = time.monotonic()
    while (left := reap(known=set())) and time.monotonic() < began + _SWEEP_SECONDS:
        if time.monotonic() > began + _MOMENT_SECONDS:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.02)
    return sorted(killed)


def reap(known: set[int]) -> list[int]:
    """Collect adopted processes that have ended; those that have not.  `known` pids belong to `subprocess`."""
    left = []
    for pid in _children():
        if pid not in known:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    left.append(pid)
    return left


def _children() -> list[int]:
    return [int(status.parent.name) for status in Path("/proc").glob("[0-9]*/stat") if _parent(status) == os.getpid()]


def _parent(status: Path) -> int | None:
    """The fourth field; the second, a name in brackets, may itself hold spaces and brackets."""
    try:
        return int(status.read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):  # it ended while we looked
        return None
