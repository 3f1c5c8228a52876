"""Starts launchers from one thread that lives as long as the worker.

The kernel ends a sandbox when the *thread* that started it ends, so a short-lived thread of the
caller must not be that thread.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

_threads: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def spawn(command: Sequence[str], *, output_fd: int, pass_fds: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a launcher with an empty environment in a process group of its own; raises OSError."""

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output_fd,
            stderr=output_fd,
            pass_fds=pass_fds,
            start_new_session=True,
            env={},
            cwd="/",
        )

    return _thread().submit(start).result()


def _thread() -> ThreadPoolExecutor:
    with _lock:
        # A worker that was forked has our dictionary but not our thread.
        if os.getpid() not in _threads:
            _threads.clear()
            _threads[os.getpid()] = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox-spawn")
        return _threads[os.getpid()]
