"""Conversions between number formats with the rounding and saturation of a GPU."""

# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import Any

import numpy as np
from triton.runtime import interpreter as stock

from .formats import Array, decode, encode, encode_toward_zero, numpy_dtype


def _saturate(values: Array, kind: np.dtype[Any]) -> Array:
    """Float to integer as GPUs convert: NaN becomes 0 and out-of-range values stop at the ends."""
    limits = np.iinfo(kind)
    wide = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    inside = np.where((wide > float(limits.min)) & (wide < float(limits.max)), wide, 0.0).astype(kind)
    inside[wide >= float(limits.max)] = limits.max
    inside[wide <= float(limits.min)] = limits.min
    return inside


class FloatConversions(stock.InterpreterBuilder):
    """Casts through values: nearest even by default, saturating to fp8 and to integers."""

    def cast_impl(self, src: Any, dst_type: Any) -> Any:
        target = numpy_dtype(dst_type)
        values = decode(src)
        if values.dtype.kind == "f" and target.kind in "iu" and not dst_type.scalar.is_floating():
            return stock.TensorHandle(_saturate(np.atleast_1d(values), target), dst_type.scalar)
        if dst_type.scalar.is_floating():
            return stock.TensorHandle(encode(values, dst_type), dst_type.scalar)
        return stock.TensorHandle(values.astype(target), dst_type.scalar)

    def create_fp_to_fp(self, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        round_to = encode_toward_zero if "RTZ" in str(rounding_mode) else encode
        return stock.TensorHandle(round_to(decode(src), dst_type), dst_type.scalar)
