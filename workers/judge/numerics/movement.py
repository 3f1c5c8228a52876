"""Does an output depend on the values of its inputs, or only jitter?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.bits import same_bits
from workers.judge.numerics.chunks import MeanSquare, chunks, modulus, planes
from workers.judge.numerics.formats import FloatFormat, Floats, float_format, is_exact
from workers.judge.numerics.ulp import spacing

JITTER_ULP = 8.0
JITTER_OF_RMS_AT_FLOAT32 = 1e-6
OF_NOISE = 2.0**-20
MOST_OF_RMS = 0.25  # for formats so coarse that the scaled bound would exceed the output itself
FLOAT32_EPSILON = 2.0**-23


def moved(
    a: list[NDArray[Any]],
    b: list[NDArray[Any]],
    truths: tuple[list[NDArray[Any]], list[NDArray[Any]]] | None = None,
) -> bool:
    """Whether two sets of outputs, computed from different inputs, differ by more than rounding.

    True as soon as one element differs by more than 8 ulp (of the larger of the two) and by more than
    1e-6 of the output's root mean square (float32; other dtypes in proportion to their epsilon, at
    most a quarter; 8 ulp become 2**(p-1) where precision p is below 4), or by being NaN or infinite
    where the other is not.  Integers and booleans: by any difference; so does a shape or a dtype.
    Symmetric.

    `truths`: the same two in float64.  An output that moved must then also have moved there, by more
    than 2**-20 of what it holds in its own dtype.  Where the true value is 0, such as sum(x - mean(x)),
    that is noise of some 2**-24 of the terms, while float64 holds some 2**-53 of them.
    """
    if len(a) != len(b):
        return True
    exact = truths if truths is not None and len(truths[0]) == len(truths[1]) == len(a) else (a, b)
    outputs = zip(a, b, *exact, strict=True)
    return any(_output_moved(x, y) and (t is x or _truth_moved(x, y, t, u)) for x, y, t, u in outputs)


def _truth_moved(a: NDArray[Any], b: NDArray[Any], truth_a: NDArray[Any], truth_b: NDArray[Any]) -> bool:
    """Anything that cannot be compared in float64 counts as moved."""
    known = a.shape == b.shape == truth_a.shape == truth_b.shape and a.dtype == b.dtype
    if not known or is_exact(a.dtype) or is_exact(truth_a.dtype) or truth_a.dtype != truth_b.dtype:
        return True
    form = float_format(truth_a.dtype)
    with np.errstate(all="ignore"):
        bound = max(_of_rms(form) * _common_rms(truth_a, truth_b), OF_NOISE * _common_rms(a, b))
        return _beyond(truth_a, truth_b, bound, form)


def _output_moved(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return True
    if is_exact(a.dtype):
        return not same_bits(a, b)
    form = float_format(a.dtype)
    with np.errstate(all="ignore"):
        return _beyond(a, b, _of_rms(form) * _common_rms(a, b), form)


def _beyond(a: NDArray[Any], b: NDArray[Any], bound: float, form: FloatFormat) -> bool:
    return any(
        _plane_moved(p, q, bound, form) for _, (x, y) in chunks(a, b) for p, q in zip(planes(x), planes(y), strict=True)
    )


def _plane_moved(a: Floats, b: Floats, bound: float, form: FloatFormat) -> bool:
    difference = np.abs(a - b)
    jitter = min(JITTER_ULP, 2.0 ** (form.precision - 1))
    beyond = (difference > bound) & (difference > jitter * spacing(np.maximum(np.abs(a), np.abs(b)), form))
    if np.isfinite(difference).all():
        return bool(beyond.any())
    odd = ~np.isfinite(a) | ~np.isfinite(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return bool((beyond & ~odd).any() or (odd & ~same).any())


def _of_rms(form: FloatFormat) -> float:
    return min(JITTER_OF_RMS_AT_FLOAT32 * form.epsilon / FLOAT32_EPSILON, MOST_OF_RMS)


def _common_rms(a: NDArray[Any], b: NDArray[Any]) -> float:
    mean = MeanSquare()
    for _, (piece,) in itertools.chain(chunks(a), chunks(b)):
        mean.add(modulus(planes(piece)))
    return mean.root
