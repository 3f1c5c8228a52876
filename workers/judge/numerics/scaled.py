"""Distances of values held as codes times scales: int8 or fp8 by tensor or channel, MX, NVFP4, int4 by group.

One unit is the spacing of the codes at the truth, times the truth's scale: for integers the scale itself.
A value that is one code away is 1 apart, whatever the scales are; a wrong scale shows in every
element of its block.  Block formats: OCP MX v1.0 (32 elements, scale e8m0), NVFP4 (16 elements, scale
e4m3, and one of float32 for the tensor: multiply the two).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.formats import Floats, float_format, is_exact
from workers.judge.numerics.ulp import component_distance


def spread(scale: NDArray[Any], shape: tuple[int, ...], axis: int = -1) -> Floats:
    """`scale` for every element of `shape`, float64.

    One scale: the whole tensor's.  As many dimensions as `shape`: every length is the element's, or 1, or
    along `axis` the number of blocks, which are of one size but for a shorter last one.  One dimension
    of `shape[axis]`: by channel.  `ValueError` for any other.
    """
    values = np.asarray(scale).astype(np.float64)
    if values.size == 1:
        return np.broadcast_to(values.reshape(()), shape)
    axis %= len(shape)
    if values.ndim == 1 and len(shape) != 1 and values.size == shape[axis]:
        values = values.reshape([-1 if n == axis else 1 for n in range(len(shape))])
    if values.ndim != len(shape):
        raise ValueError(f"scales of shape {values.shape} do not fit elements of shape {shape}")
    if 1 < values.shape[axis] < shape[axis]:
        block = -(-shape[axis] // values.shape[axis])
        if -(-shape[axis] // block) != values.shape[axis]:
            raise ValueError(f"{shape[axis]} elements are not {values.shape[axis]} blocks of one size")
        values = np.repeat(values, block, axis=axis).take(np.arange(shape[axis]), axis=axis)
    return np.broadcast_to(values, shape)


def dequantised(codes: NDArray[Any], scale: NDArray[Any], axis: int = -1) -> Floats:
    """Codes times scales, float64, in the shape of `codes`; scales as in `spread`."""
    product: Floats = codes.astype(np.float64) * spread(scale, codes.shape, axis)
    return product


def scaled_distance(
    got: tuple[NDArray[Any], NDArray[Any]], want: Floats, want_scale: NDArray[Any], axis: int = -1
) -> Floats:
    """How far `got`, (codes, scales), is from `want`, float64, in the units above; in the shape of `want`.

    `want_scale` are the scales that the truth would have.  Where one is 0 the unit is that of scale 1.
    NaN and infinity as in `ulp_distance`.
    """
    codes, scale = got
    unit = spread(want_scale, want.shape, axis)
    unit = np.where(unit == 0, 1.0, np.abs(unit))
    with np.errstate(all="ignore"):
        given, truth = dequantised(codes, scale, axis) / unit, want / unit
        if is_exact(codes.dtype):
            return np.abs(given - truth)
        return component_distance(given, truth, float_format(codes.dtype))
