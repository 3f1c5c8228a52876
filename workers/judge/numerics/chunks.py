"""Arrays a piece at a time, so that comparing them needs megabytes beside them, not their size again."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.formats import BFLOAT16, Floats, is_exact

SINGLE_BYTES, BFLOAT16_IS_UPPER = 4, 16
CHUNK = 1 << 16  # elements: float64 temporaries of 512 KiB stay in a core's cache


def chunks(*arrays: NDArray[Any], starts: range | None = None) -> Iterator[tuple[int, tuple[NDArray[Any], ...]]]:
    """The flat index where a piece starts, and that piece of every array, one-dimensional, in C order.

    All pieces, or those that begin at `starts`, with its step for their size.  The arrays have one size.
    Contiguous arrays are not copied; treat the pieces as read-only.
    """
    flat = [a.reshape(-1) if a.flags.c_contiguous else a.flat for a in arrays]
    starts = range(0, arrays[0].size, CHUNK) if starts is None else starts
    for start in starts:
        yield start, tuple(f[start : start + starts.step] for f in flat)


def planes(piece: NDArray[Any]) -> list[Floats]:
    """A floating piece as one float64 array, a complex one as two: real and imaginary parts."""
    if piece.dtype.kind == "c":
        return [piece.real.astype(np.float64), piece.imag.astype(np.float64)]
    narrow = piece.dtype.itemsize < SINGLE_BYTES and not is_exact(piece.dtype)
    with np.errstate(all="ignore"):
        return [(as_float32(piece) if narrow else piece).astype(np.float64, copy=False)]


def as_float32(piece: NDArray[Any]) -> NDArray[np.float32]:
    """A piece of a floating format of at most 32 bits, exactly; ml_dtypes' own casts take several times as long."""
    if piece.dtype == BFLOAT16:
        bits = piece.view(np.uint16).astype(np.uint32)
        bits <<= BFLOAT16_IS_UPPER
        return bits.view(np.float32)
    if piece.dtype.itemsize == 1:
        return _values(piece.dtype).take(piece.view(np.uint8))
    with np.errstate(all="ignore"):
        return piece.astype(np.float32, copy=False)


@functools.cache
def _values(dtype: np.dtype[Any]) -> NDArray[np.float32]:
    """Of every code of a format of 8 bits or less."""
    with np.errstate(all="ignore"):
        return np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)


def modulus(parts: list[Floats]) -> Floats:
    """|x|, from its planes, without overflow on the way."""
    return functools.reduce(np.hypot, parts) if len(parts) > 1 else np.abs(parts[0])


class MeanSquare:
    """A root mean square that does not overflow; another cut into pieces changes its last bits at most.

    Values are scaled by the largest so far, as LAPACK's `dlassq` does; non-finite ones are left out.
    """

    def __init__(self) -> None:
        self._scale, self._sum, self._count = 0.0, 0.0, 0

    def add(self, magnitude: Floats) -> None:
        """Take in a piece of magnitudes, one-dimensional."""
        if not np.isfinite(magnitude).all():
            magnitude = magnitude[np.isfinite(magnitude)]
        self._count += magnitude.size
        largest = float(magnitude.max(initial=0.0))
        if largest == 0.0:
            return
        if largest > self._scale:
            self._sum *= (self._scale / largest) ** 2
            self._scale = largest
        scaled = magnitude / self._scale
        scaled *= scaled  # not `@`: BLAS threads would wait for cores that others use
        self._sum += float(scaled.sum())

    @property
    def root(self) -> float:
        """The root mean square; 0 where nothing finite came."""
        return self._scale * math.sqrt(self._sum / self._count) if self._count else 0.0
