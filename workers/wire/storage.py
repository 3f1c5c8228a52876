"""Storages: raw bytes in sealed memfds, copied at most once on each side and never touched where they are holes.

A storage is made by whoever owns the values (`write`), sealed by whoever receives it (`seal`),
and mapped privately by whoever computes with it (`map_private`).
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import mmap
import os
from collections.abc import Iterator

from workers.wire import pages

# From linux/fcntl.h; Python names only some of them before 3.12.
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE = 1, 2, 4, 8
_IMMUTABLE = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE
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
    """Make bytes and size immutable for everybody; False where that cannot be had.

    It cannot while somebody maps the bytes for shared writing, or after somebody forbade further seals.
    A storage without all three is of no use: one that can still shrink kills whoever has it mapped.
    """
    with contextlib.suppress(OSError):
        fcntl.fcntl(fd, F_ADD_SEALS, _IMMUTABLE)
    return is_memfd(fd) and fcntl.fcntl(fd, F_GET_SEALS) & _IMMUTABLE == _IMMUTABLE


def is_memfd(fd: int) -> bool:
    """Whether `fd` is a plain memfd: no file, pipe or socket, nor one of huge pages, which may be missing when touched.

    All plain memfds lie on one file system of the kernel's own, which nothing else can be opened on.
    """
    try:
        fcntl.fcntl(fd, F_GET_SEALS)
        return os.fstat(fd).st_dev == _memfd_device()
    except OSError:
        return False


@functools.cache
def _memfd_device() -> int:
    fd = os.memfd_create("device", os.MFD_CLOEXEC)
    try:
        return os.fstat(fd).st_dev
    finally:
        os.close(fd)


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
