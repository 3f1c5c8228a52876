"""The last sweep: whatever a child left behind is adopted by the supervisor, and ended.

A sandboxed process may have a session of its own, so a process group does not hold it.  As
the nearest "subreaper" the supervisor becomes the parent of every descendant whose own parent
died; what is still there when all four children have ended has no business left.
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
_SWEEP_SECONDS = 5.0


def adopt() -> None:
    """Become the parent of orphaned descendants (Linux only; elsewhere nothing happens)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> list[int]:
    """Kill every child that is left, and what that orphans in turn; returns the pids killed."""
    killed: set[int] = set()
    deadline = time.monotonic() + _SWEEP_SECONDS
    while (left := _children()) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        reap(known=set())
        time.sleep(0.01)
    return sorted(killed)


def reap(known: set[int]) -> None:
    """Collect adopted processes that have ended; `known` pids belong to `subprocess`."""
    for pid in _children():
        if pid not in known:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _children() -> list[int]:
    return [int(status.parent.name) for status in Path("/proc").glob("[0-9]*/stat") if _parent(status) == os.getpid()]


def _parent(status: Path) -> int | None:
    """The fourth field; the second, a name in brackets, may itself hold spaces and brackets."""
    try:
        return int(status.read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):  # it ended while we looked
        return None
