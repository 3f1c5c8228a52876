"""Storages: raw bytes in sealed memfds, copied at most once on each side and never touched where they are holes.

A storage is made by whoever owns the values (`write`), sealed by whoever receives it (`seal`),
and mapped privately by whoever computes with it (`map_private`).
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Iterator

from workers.wire import pages

# From linux/fcntl.h; Python names only some of them before 3.12.
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE = 1, 2, 4, 8
SPARSE_FROM_BYTES = 16 << 20
_CHUNK_BYTES = 8 << 20


def create(nbytes: int, name: str = "storage") -> int:
    """A memfd of `nbytes` zero bytes, all of them holes; the caller owns the descriptor."""
    fd = os.memfd_create(name, os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        os.ftruncate(fd, nbytes)
    except BaseException:
        os.close(fd)
        raise
    return fd


def write(fd: int, source: memoryview, address: int) -> None:
    """Copy `source` (bytes that live at `address` in this process) into `fd` from its start.

    From `SPARSE_FROM_BYTES` on only pages that were ever touched are copied, so a 3 GiB tensor with
    three written elements costs three pages.
    """
    if len(source) < SPARSE_FROM_BYTES:
        _write_run(fd, source, 0, len(source))
        return
    for start, stop in pages.populated_runs(address, len(source)):
        _write_run(fd, source, start, stop)


def _write_run(fd: int, source: memoryview, start: int, stop: int) -> None:
    while start < stop:
        start += os.pwrite(fd, source[start : min(stop, start + _CHUNK_BYTES)], start)


def seal(fd: int) -> bool:
    """Make the bytes immutable for everybody; False while somebody still maps them for shared writing."""
    try:
        fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
    except (OSError, PermissionError):
        return bool(fcntl.fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE) if is_memfd(fd) else False
    return True


def is_memfd(fd: int) -> bool:
    """Whether the kernel knows seals for `fd`: true for memfds only, not for files, pipes or sockets."""
    try:
        fcntl.fcntl(fd, F_GET_SEALS)
    except OSError:
        return False
    return True


def copy(fd: int) -> int:
    """A new memfd with the same bytes, holes kept; used where the original cannot be sealed."""
    nbytes = os.fstat(fd).st_size
    duplicate = create(nbytes)
    for start, stop in data_runs(fd):
        while start < stop:
            block = os.pread(fd, min(_CHUNK_BYTES, stop - start), start)
            if not block:
                break
            os.pwrite(duplicate, block, start)
            start += len(block)
    return duplicate


def data_runs(fd: int) -> Iterator[tuple[int, int]]:
    """Byte ranges of `fd` that hold data, in order; everything between them is holes (zeros)."""
    end = os.fstat(fd).st_size
    stop = 0
    while stop < end:
        try:
            start = os.lseek(fd, stop, os.SEEK_DATA)
        except OSError:
            return
        stop = min(end, os.lseek(fd, start, os.SEEK_HOLE))
        yield start, stop


def map_private(fd: int, nbytes: int) -> mmap.mmap:
    """Map for reading and writing; writes stay in this process (copy on write)."""
    return mmap.mmap(fd, nbytes, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)


def map_shared(fd: int, nbytes: int) -> mmap.mmap:
    """Map for reading and writing; writes reach everybody who holds the memfd (in-place inputs only)."""
    return mmap.mmap(fd, nbytes, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE)


def map_readonly(fd: int, nbytes: int) -> mmap.mmap:
    return mmap.mmap(fd, nbytes, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)


def close_all(fds: list[int]) -> None:
    for fd in fds:
        with contextlib.suppress(OSError):
            os.close(fd)
    fds.clear()
