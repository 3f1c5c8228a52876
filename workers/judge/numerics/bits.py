"""Comparisons of bytes: run-to-run equality, and what a kernel never wrote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.chunks import chunks
from workers.judge.numerics.formats import Mask

WORD_BYTES = 8


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether shape, dtype and every byte agree: NaN payloads count, and +0 is not -0."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return all(np.array_equal(_bytes(x), _bytes(y)) for _, (x, y) in chunks(a, b))


def same_values(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two arrays of one shape and dtype hold the same: one NaN is as good as another, and +0 as -0."""
    return all(bool(((x == y) | ((x != x) & (y != y))).all()) for _, (x, y) in chunks(a, b))  # noqa: PLR0124


def poison_left(first: NDArray[Any], second: NDArray[Any], poison_a: int, poison_b: int) -> NDArray[np.int64]:
    """Flat indices of elements that neither of two runs wrote.

    `first` and `second`, one shape and dtype, come from runs whose output was filled with the byte
    `poison_a` and `poison_b`; an element whose bytes are all still `poison_a` in one and `poison_b`
    in the other was left.  Two different bytes, so that a kernel that computes one of them by chance
    is not accused.  `ValueError` where shapes or dtypes differ or the bytes are equal.
    """
    if first.shape != second.shape or first.dtype != second.dtype:
        raise ValueError(f"{first.dtype}{first.shape} and {second.dtype}{second.shape} are not two runs of one output")
    if poison_a == poison_b:
        raise ValueError("one poison byte cannot tell a value from an unwritten element")
    found = [
        np.flatnonzero(_filled_with(x, poison_a) & _filled_with(y, poison_b)) + start
        for start, (x, y) in chunks(first, second)
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _bytes(piece: NDArray[Any]) -> NDArray[np.uint8]:
    """Shape (elements, itemsize)."""
    return np.ascontiguousarray(piece).view(np.uint8).reshape(piece.size, piece.dtype.itemsize)


def _filled_with(piece: NDArray[Any], byte: int) -> Mask:
    """Compares words, not bytes: several times as fast."""
    width = min(piece.dtype.itemsize, WORD_BYTES)
    words = _bytes(piece).view(f"u{width}")
    filled: Mask = words[:, 0] == int.from_bytes(bytes([byte]) * width)
    for column in range(1, words.shape[1]):
        filled &= words[:, column] == words[:, 0]
    return filled
