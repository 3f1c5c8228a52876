"""Distances in units in the last place, measured against a float64 truth.

The unit is the spacing of the dtype's numbers in the binade of the truth after rounding it to the
dtype's precision.  It is Harrison's and Kahan's ulp except at powers of two, where it is the gap
above (Goldberg's): the neighbour above 1.0 is 1 ulp away, the one below half an ulp.  (J.-M. Muller,
"On the definition of ulp(x)", INRIA RR-5504.)  Below the smallest normal number the spacing is that
of the subnormals, so distances cross zero naturally and +0 and -0 are 0 apart.  `docs/numerics.md`
has the definition for task authors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.chunks import chunks, planes
from workers.judge.numerics.formats import DOUBLE_PRECISION, TF32, FloatFormat, Floats, float_format, is_exact

BINS = 64
_BIAS, _MANTISSA_BITS, _EXPONENT_MASK = 1023, 52, 0x7FF


def spacing(magnitude: Floats, form: FloatFormat) -> Floats:
    """The ulp at |truth|, as above; shape and unit of `magnitude`, which is non-negative or NaN."""
    if form.precision == DOUBLE_PRECISION:
        return np.spacing(np.fmin(magnitude, 2.0**form.e_max))
    bits: NDArray[np.int64] = magnitude.view(np.int64) + (1 << (_MANTISSA_BITS - form.precision))
    bits >>= _MANTISSA_BITS
    np.maximum(bits, form.e_min + _BIAS, out=bits)
    np.minimum(bits, form.e_max + _BIAS, out=bits)
    bits -= form.precision - 1
    bits <<= _MANTISSA_BITS
    return bits.view(np.float64)


def ulp_distance(got: NDArray[Any], want_float64: NDArray[Any], dtype: Any, *, flush_to_zero: bool = False) -> Floats:
    """|got - want| / spacing(want), float64, the shape of `got`; complex: the larger of its components.

    NaN and NaN are 0 apart, NaN and a number infinitely far.  Infinity counts as the number after the
    largest finite one: 1 ulp beyond it, and 0 from any truth that rounds to it.  Integers and
    booleans: the difference in units of 1.  `dtype` "tf32": float32 values in ulp of tf32.
    `flush_to_zero`: what is subnormal in the format, or rounds to a number that is, counts as a zero of its sign
    on both sides; the unit stays.
    """
    form = _form(dtype)
    got, want = np.broadcast_arrays(got, want_float64)
    distance = np.empty(got.size)
    with np.errstate(all="ignore"):
        for start, (g, w) in chunks(got, want):
            distance[start : start + g.size] = _distances(g, w, form, flush_to_zero)
    return distance.reshape(got.shape)


def flushed(values: Floats, form: FloatFormat) -> Floats:
    """With a signed zero for every value that rounds, ties to even, below the smallest normal number."""
    rounds_up = form.smallest_normal - form.smallest / 2
    return np.where(np.abs(values) < rounds_up, np.copysign(0.0, values), values)


def _form(dtype: Any) -> FloatFormat | None:
    """`None` for integers and booleans."""
    if isinstance(dtype, str) and dtype == "tf32":
        return TF32
    target = np.dtype(dtype)
    return None if is_exact(target) else float_format(target)


def _distances(got: NDArray[Any], want: NDArray[Any], form: FloatFormat | None, flush_to_zero: bool) -> Floats:
    if form is None:
        return integer_distance(widened(got), widened(want)).astype(np.float64)
    sides = [planes(got), planes(want)]
    if flush_to_zero:
        sides = [[flushed(plane, form) for plane in side] for side in sides]
    parts = [component_distance(g, w, form) for g, w in zip(*sides, strict=True)]
    return parts[0] if len(parts) == 1 else np.maximum(parts[0], parts[1])


def component_distance(got: Floats, want: Floats, form: FloatFormat) -> Floats:
    """The definition above for two real float64 arrays of one shape; allocates, changes neither."""
    magnitude = np.abs(want)
    unit = spacing(magnitude, form)
    plain = np.abs(got - want) / unit
    odd = ~np.isfinite(plain) | (magnitude >= form.overflow)
    if odd.any():
        plain[odd] = _odd_distance(got[odd], want[odd], unit[odd], form)
    return plain


def _odd_distance(got: Floats, want: Floats, unit: Floats, form: FloatFormat) -> Floats:
    """The distance where an infinity, an overflow or a NaN takes part, by halves."""
    want = np.where(np.abs(want) >= form.overflow, np.copysign(np.inf, want), want)
    ends = [np.clip(x, -form.largest, form.largest) for x in (got, want)]
    beyond = np.isinf(got).astype(np.float64) + np.isinf(want)
    distance = np.abs(ends[0] / 2 - ends[1] / 2) / unit * 2 + beyond
    distance[got == want] = 0.0
    one_nan = np.isnan(got) != np.isnan(want)
    distance[np.isnan(got) & np.isnan(want)] = 0.0
    distance[one_nan] = np.inf
    return distance


def widened(piece: NDArray[Any]) -> NDArray[Any]:
    """Integers and booleans as int64, uint64 as it is."""
    return piece if piece.dtype == np.uint64 else piece.astype(np.int64)


def integer_distance(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.uint64]:
    """|a - b| of two int64 or two uint64 arrays, exact for every pair."""
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    distance: NDArray[np.uint64] = larger.astype(np.uint64) - smaller.astype(np.uint64)
    return distance


def histogram(ulp: Floats) -> NDArray[np.int64]:
    """64 counts: bin 0 below 1 ulp, bin k from 2**(k-1) to below 2**k, the last everything above."""
    exponents = (ulp.view(np.int64) >> _MANTISSA_BITS) & _EXPONENT_MASK
    exponents -= _BIAS - 1
    return np.bincount(np.clip(exponents, 0, BINS - 1), minlength=BINS)
