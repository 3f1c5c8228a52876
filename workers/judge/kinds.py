"""Which kinds of values stand for which: tensors, arrays and Python's own numbers."""

from __future__ import annotations

import dataclasses

import numpy as np

from workers.judge import numerics
from workers.judge.received import Leaf


def as_numbers(got: Leaf, expected: numerics.Expected, kind: str) -> tuple[Leaf, numerics.Expected]:
    """A Python number and a 0-d tensor are the same answer: compare in the tensor's dtype, else in float32."""
    want, given = expected.native, got.array
    if kind != "python" or want.shape != () or given.shape != () or want.dtype.kind not in "bif":
        return got, expected
    if (want.dtype.kind == "f") != (given.dtype.kind not in "biu"):
        return got, expected  # a whole number is no float, nor the reverse
    dtype = given.dtype if got.kind != "python" else np.dtype(np.float32) if want.dtype.kind == "f" else want.dtype
    return got, dataclasses.replace(expected, native=want.astype(dtype))


def is_other_dtype(got: Leaf, want: np.ndarray) -> bool:
    """A Python number stands for every dtype that holds it unchanged; text and tensors only for their own."""
    if got.kind != "python" or got.type or want.dtype.kind not in "biu":
        return got.array.dtype != want.dtype and (got.kind != "python" or bool(got.type))
    with np.errstate(all="ignore"):
        return got.array.dtype.kind not in "biu" or int(got.array) != int(got.array.astype(want.dtype))
