"""Which pages of this process's memory were touched, and which copied on write, from /proc/self/pagemap.

Bit meanings: Linux Documentation/admin-guide/mm/pagemap.rst (63 present, 62 swapped, 61 file page
or shared anonymous).  Where the file cannot be read, a scan for non-zero blocks gives the same runs
for memory whose untouched pages are zero.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PAGE_BYTES = mmap.PAGESIZE
_PRESENT, _SWAPPED, _FILE = 63, 62, 61
_SCAN_BYTES = 1 << 20


def populated_runs(address: int, nbytes: int) -> Iterator[tuple[int, int]]:
    """Offsets (start, stop) from `address` of the memory that was ever touched."""
    entries = _entries(address, nbytes)
    if entries is None:
        yield from _nonzero_runs(address, nbytes)
        return
    touched = ((entries >> np.uint64(_PRESENT)) | (entries >> np.uint64(_SWAPPED))) & np.uint64(1)
    yield from _runs(touched.astype(bool), address, nbytes)


def copied_runs(address: int, nbytes: int) -> list[tuple[int, int]] | None:
    """Offsets of a private file mapping's pages that were written to; None where that cannot be told."""
    entries = _entries(address, nbytes)
    if entries is None:
        return None
    present = ((entries >> np.uint64(_PRESENT)) | (entries >> np.uint64(_SWAPPED))) & np.uint64(1)
    from_file = (entries >> np.uint64(_FILE)) & np.uint64(1)
    return list(_runs((present == 1) & (from_file == 0), address, nbytes))


def _entries(address: int, nbytes: int) -> np.ndarray | None:
    first, last = address // PAGE_BYTES, (address + nbytes - 1) // PAGE_BYTES
    try:
        with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
            pagemap.seek(first * 8)
            wanted = (last - first + 1) * 8
            data = bytearray()
            while len(data) < wanted:
                block = pagemap.read(wanted - len(data))
                if not block:
                    return None
                data += block
    except OSError:
        return None
    return np.frombuffer(bytes(data), np.uint64)


def _runs(flags: np.ndarray, address: int, nbytes: int) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    into_page = address % PAGE_BYTES
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield max(0, first * PAGE_BYTES - into_page), min(nbytes, last * PAGE_BYTES - into_page)


def _nonzero_runs(address: int, nbytes: int) -> Iterator[tuple[int, int]]:
    source = memoryview((ctypes.c_char * nbytes).from_address(address)).cast("B")
    whole = np.frombuffer(source, np.uint8)
    for start in range(0, nbytes, _SCAN_BYTES):
        stop = min(nbytes, start + _SCAN_BYTES)
        if whole[start:stop].any():
            yield start, stop
