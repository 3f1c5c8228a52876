"""A line to wait in: one at a time among the threads of every process that names the same file.

SQLite has one writer.  Left to itself, a second one sleeps and looks again, longer each time, and finds that somebody
who came after it was quicker; here it is woken when the first one leaves.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path


class Line:
    """Stood in by `with`.  It keeps nothing safe: that remains the database's own lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._here = threading.Lock()
        self._file = -1

    def __enter__(self) -> None:
        # Of each process only the first stands in the line of processes.
        self._here.acquire()
        try:
            # Opened anew each time, so that a forked process stands for itself.
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except BaseException:
            self._leave()
            raise

    def __exit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        """Closing the file lets go of it, as does the end of the process, however it comes."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
        self._here.release()
