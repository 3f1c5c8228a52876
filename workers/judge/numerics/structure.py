"""Do rounding errors cancel on these inputs?  √K growth of the error is for independent continuous values.

The probabilistic bound (Higham and Mary 2019) takes rounding errors as independent with mean zero.  A
running sum s is a multiple of its own ulp, so that the error of s + x depends on x modulo that ulp alone:
with few different x, or with x in arithmetic progression, the errors repeat with one sign, and the
deterministic bound with K in place of √K is the honest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.formats import Floats, float_format, is_exact

SAMPLE = 1 << 14  # neighbours looked at, in eight runs spread over the array
RUNS = 8
FEW = 16  # different values
MOSTLY = 0.5
STEPS_EQUAL = 2.0**-20  # relative to the largest step


def is_systematic(inputs: list[NDArray[Any]]) -> bool:
    """Whether every large floating input (at least half of the largest one's elements) is structured.

    Structured: at most 16 different values (fewer in formats of 8 bits and less, which have few
    themselves), more than half equal to their neighbour (constant, one-hot, runs), or more than half
    of the steps equal (ramps).  Inputs with infinities or NaN are masks and left out.  False without inputs.
    """
    floating = [a for a in inputs if a.size and not is_exact(a.dtype)]
    samples = [(a, _sample(a)) for a in floating]
    usable = [(a, s) for a, s in samples if np.isfinite(s).all()]
    largest = max((a.size for a, _ in usable), default=0)
    large = [_structured(s, a.dtype) for a, s in usable if 2 * a.size >= largest]
    return bool(large) and all(large)


def _sample(array: NDArray[Any]) -> Floats:
    """Up to 8 runs of neighbours, float64, shape (runs, length); complex: the real parts."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    length = min(array.size, SAMPLE // RUNS)
    starts = np.linspace(0, array.size - length, RUNS if array.size > length else 1).astype(np.int64)
    with np.errstate(all="ignore"):
        return np.stack([np.real(np.asarray(flat[s : s + length])).astype(np.float64) for s in starts])


def _structured(sample: Floats, dtype: np.dtype[Any]) -> bool:
    if sample.size < 2 * FEW:
        return False
    codes = 2 ** min(8 * dtype.itemsize, _bits(dtype))
    if np.unique(sample).size <= min(FEW, codes // FEW):
        return True
    steps = np.diff(sample, axis=1)
    if np.count_nonzero(steps == 0) > MOSTLY * steps.size:
        return True
    bends = np.abs(np.diff(steps, axis=1))
    return bool(np.count_nonzero(bends <= STEPS_EQUAL * np.abs(steps).max()) > MOSTLY * bends.size)


def _bits(dtype: np.dtype[Any]) -> int:
    """Bits of the format, which may be fewer than those it is stored in."""
    form = float_format(dtype)
    return form.precision + max(1, form.e_max - form.e_min + 1).bit_length()
