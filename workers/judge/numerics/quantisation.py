"""Values rounded to a format: plain ones, and codes of few bits times scales by tensor, row or block.

Rounding is to nearest, ties to even, from float64 in one step.  A plain format overflows to infinity; a scaled
one, and one without infinities, clips to its largest number, as PTX's `cvt.satfinite` does.  Scales are those
of the published recipes: the largest magnitude over the format's largest number, as float32; OCP MX v1.0, 6.3:
32 elements and a power of two, 2**(floor(log2 amax) - e_max); NVFP4: 16 elements, scales in e4m3 times one of
float32 for the tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.formats import TF32, FloatFormat, Floats, float_format

TENSOR, ROW, COLUMN = "tensor", "row", "column"
Scales = Callable[[Floats, "Code"], Floats]  # amax of each block, and the format -> scales, none of them 0


@dataclass(frozen=True)
class Code:
    """What a single element is stored as: its finite numbers, and what becomes of larger ones."""

    largest: float
    e_max: int
    rounded: Callable[[Floats], Floats]


@dataclass(frozen=True)
class ValueFormat:
    """A format as `quantised` applies it.

    `bits` an element, its share of the scales included.  `per`: what has one scale, "tensor", "row" (a vector
    along the last axis), "column" (along the one before; the tensor where there is none), or so many
    elements along the last axis.
    """

    name: str
    bits: float
    code: Code
    scales: Scales | None = None
    per: str | int = TENSOR


def quantised(values: NDArray[Any], form: ValueFormat) -> Floats:
    """`values` (any floating dtype and shape) as the format holds them: float64, scales multiplied out.

    Infinities and NaN stay, and count for no scale.
    """
    wide = values.astype(np.float64)
    if not wide.size:
        return wide
    with np.errstate(all="ignore"):
        finite = np.isfinite(wide)
        if form.scales is None:
            return np.where(finite, form.code.rounded(wide), wide)
        scale = _spread_scales(np.where(finite, np.abs(wide), 0.0), form)
        codes = form.code.rounded(np.clip(wide / scale, -form.code.largest, form.code.largest))
        return np.where(finite, codes * scale, wide)


def _spread_scales(magnitude: Floats, form: ValueFormat) -> Floats:
    """The scale of every element, in the shape of `magnitude` or one that broadcasts to it."""
    assert form.scales is not None
    if form.per == TENSOR or magnitude.ndim == 0 or (form.per == COLUMN and magnitude.ndim == 1):
        return form.scales(magnitude.max(keepdims=True), form.code)
    if isinstance(form.per, str):
        return form.scales(magnitude.max(axis=-1 if form.per == ROW else -2, keepdims=True), form.code)
    length = magnitude.shape[-1]
    starts = np.arange(0, length, form.per)
    scales = form.scales(np.maximum.reduceat(magnitude, starts, axis=-1), form.code)
    return np.repeat(scales, np.diff([*starts, length]), axis=-1)


def by_largest(amax: Floats, code: Code) -> Floats:
    """The largest magnitude becomes the format's largest number; a float32 scale, 1 for zeros."""
    scale = (amax / code.largest).astype(np.float32).astype(np.float64)
    return np.where(scale == 0, 1.0, scale)


def by_power_of_two(amax: Floats, code: Code) -> Floats:
    """OCP MX: an e8m0 scale."""
    exponent = np.frexp(amax)[1] - 1 - code.e_max
    return np.where(amax == 0, 1.0, np.ldexp(1.0, np.clip(exponent, -127, 127)))


def by_two_levels(amax: Floats, code: Code) -> Floats:
    """NVFP4: block scales in e4m3, relative to one of float32 that makes the largest of them 448."""
    tensor = by_largest(amax.max(keepdims=True) / code.largest, E4M3FN)
    scale = E4M3FN.rounded(np.minimum(amax / code.largest / tensor, E4M3FN.largest)) * tensor
    return np.where(scale == 0, tensor * E4M3_SMALLEST, scale)


def rounded_to(values: Floats, form: FloatFormat) -> Floats:
    """The nearest number of `form`, subnormals too; ties to even.

    Beyond its largest: infinity, or the largest where it has none.
    """
    exponent = np.maximum(np.frexp(values)[1], form.e_min + 1)
    unit = np.ldexp(1.0, exponent - form.precision)
    nearest = np.where(np.isfinite(values), np.rint(values / unit) * unit, values)
    beyond = np.copysign(np.inf if form.has_inf else form.largest, values)
    return np.where(np.abs(nearest) > form.largest, beyond, nearest)


def _floating(dtype: Any) -> Code:
    form = TF32 if dtype is None else float_format(np.dtype(dtype))
    return Code(form.largest, form.e_max, lambda values: rounded_to(values, form))


def _integer(bits: int) -> Code:
    """Symmetric: -7 to 7 and -127 to 127."""
    largest = 2.0 ** (bits - 1) - 1
    return Code(largest, math.frexp(largest)[1] - 1, np.rint)


E4M3FN, E5M2 = _floating(ml_dtypes.float8_e4m3fn), _floating(ml_dtypes.float8_e5m2)
E2M1, INT8, INT4 = _floating(ml_dtypes.float4_e2m1fn), _integer(8), _integer(4)
E4M3_SMALLEST = 2.0**-9
BLOCK, MX, NV, GROUP = 128, 32, 16, 32  # elements
FLOAT32_BITS = 32


def _scaled(name: str, bits: int, code: Code) -> list[ValueFormat]:
    return [
        *(ValueFormat(f"{name}/{per}", bits, code, by_largest, per) for per in (TENSOR, ROW, COLUMN)),
        ValueFormat(f"{name}/{BLOCK}", bits + FLOAT32_BITS / BLOCK, code, by_largest, BLOCK),
    ]


FP32, TF32_FORMAT = ValueFormat("fp32", 32, _floating(np.float32)), ValueFormat("tf32", 19, _floating(None))
BF16 = ValueFormat("bf16", 16, _floating(ml_dtypes.bfloat16))
FP16 = ValueFormat("fp16", 16, _floating(np.float16))
FORMATS = (
    FP32,
    TF32_FORMAT,
    BF16,
    FP16,
    ValueFormat("fp8-e4m3fn", 8, E4M3FN),
    *_scaled("fp8-e4m3fn", 8, E4M3FN),
    ValueFormat("fp8-e5m2", 8, E5M2),
    *_scaled("fp8-e5m2", 8, E5M2),
    ValueFormat("mxfp8-e4m3", 8.25, E4M3FN, by_power_of_two, MX),
    ValueFormat("mxfp6-e2m3", 6.25, _floating(ml_dtypes.float6_e2m3fn), by_power_of_two, MX),
    ValueFormat("mxfp6-e3m2", 6.25, _floating(ml_dtypes.float6_e3m2fn), by_power_of_two, MX),
    ValueFormat("mxfp4", 4.25, E2M1, by_power_of_two, MX),
    ValueFormat("nvfp4", 4.5, E2M1, by_two_levels, NV),
    *_scaled("int8", 8, INT8),
    ValueFormat(f"int4/{GROUP}", 4 + FLOAT32_BITS / GROUP, INT4, by_largest, GROUP),
)
