"""Fills memory that the allocator hands out with a known byte, so that what nobody wrote can be told.

glibc's M_PERTURB does it below every library at once: torch, NumPy and C extensions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

_M_PERTURB = -6


@contextmanager
def poisoned(byte: int | None) -> Iterator[bool]:
    """Within the block fresh memory holds `byte` everywhere; yields whether that is in force."""
    if byte is None:
        yield False
        return
    in_force = _perturb(byte ^ 0xFF)  # malloc writes the complement of the value set
    try:
        yield in_force
    finally:
        _perturb(0)


def _perturb(value: int) -> bool:
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_PERTURB, value))
    except (OSError, AttributeError):
        return False
