"""Lends each session of a root worker an unprivileged user of its own."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

FIRST_UID = 200_000
COUNT = 1024
LOCK_FOLDER = Path("/run/workbench-sandbox")


class Uid:
    """A user number held until `release`; other processes on this host skip it meanwhile."""

    def __init__(self, number: int, lock_fd: int) -> None:
        self.number = number
        self._lock_fd = lock_fd

    def release(self) -> None:
        """Give it back; the kernel does so too when this process dies."""
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lend(folder: Path = LOCK_FOLDER) -> Uid:
    """Lend the lowest free number; raises OSError when all are lent or the folder cannot be made."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(FIRST_UID, FIRST_UID + COUNT):
        fd = os.open(folder / str(number), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            continue
        return Uid(number, fd)
    raise OSError(f"all {COUNT} sandbox users are lent")
