"""Matrix products with the operand rounding that tensor cores apply."""

# mypy: disable-error-code="misc, no-any-return"
# ruff: noqa: ARG002, PLR0913, PLR0917 - signatures are the framework's

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import triton.language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter as stock

from .formats import Array, as_handle, decode
from .records import Unsupported

_SCALED_FORMATS = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
}
# Products of 8-bit integers stay exact in float64 up to far longer reductions than a tile holds.
_EXACT_INTEGER_DTYPE = np.float64


def round_to_tf32(values: Array) -> Array:
    """Keeps 10 mantissa bits, rounding to nearest even; infinities and NaN pass unchanged."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000).astype(np.uint32)
    return np.where(np.isfinite(values), rounded.view(np.float32), values)


class TensorCoreDot(stock.InterpreterBuilder):
    """`tl.dot` with fp32 accumulation, and TF32 operands for fp32 unless told otherwise."""

    def create_dot(self, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
        left, right = decode(a), decode(b)
        if left.dtype.kind in "iu":
            product = np.matmul(left.astype(_EXACT_INTEGER_DTYPE), right.astype(_EXACT_INTEGER_DTYPE))
            return stock.TensorHandle(product.astype(d.data.dtype) + d.data, d.dtype.scalar)
        if a.dtype.scalar.name == "fp32" and str(input_precision).endswith("TF32"):
            left, right = round_to_tf32(left), round_to_tf32(right)
        if left.dtype != np.float64:
            left, right = left.astype(np.float32), right.astype(np.float32)
        return as_handle(np.matmul(left, right) + decode(d), d.dtype)


def _unpack_fp4(packed: Array, axis: int) -> Array:
    """Two 4-bit floats a byte, the low nibble first along `axis`."""
    nibbles = np.stack([packed & 0xF, packed >> 4], axis=-1 if axis == -1 else packed.ndim - 1)
    shape = list(packed.shape)
    shape[axis] *= 2
    return nibbles.reshape(shape).astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float32)


def _scale_values(scale: Any) -> Array:
    """Block scales: an 8-bit exponent each, or an fp8 value each."""
    if scale.dtype.is_fp8():
        return decode(scale.handle)
    return np.exp2(scale.handle.data.astype(np.float32) - 127)


class ScaledDotSemantic(TritonSemantic):
    """Adds `tl.dot_scaled`, which the stock interpreter lacks."""

    def dot_scaled(
        self,
        lhs: Any,
        lhs_scale: Any,
        lhs_format: Any,
        rhs: Any,
        rhs_scale: Any,
        rhs_format: Any,
        acc: Any,
        fast_math: bool,
        lhs_k_pack: bool,
        rhs_k_pack: bool,
        out_dtype: Any,
    ) -> Any:
        if not (lhs_k_pack and rhs_k_pack):
            raise Unsupported("dot_scaled packed along a dimension other than K has no model here")
        left = _scaled_operand(lhs, lhs_scale, lhs_format, axis=-1)
        right = _scaled_operand(rhs, rhs_scale, rhs_format, axis=-2)
        product = np.matmul(left, right)
        if acc is not None:
            product = product + decode(acc.handle)
        return tl.tensor(as_handle(product, out_dtype), tl.block_type(out_dtype, list(product.shape)))


def _scaled_operand(operand: Any, scale: Any, number_format: Any, axis: int) -> Array:
    name = getattr(number_format, "value", number_format)
    bits = np.ascontiguousarray(operand.handle.data)
    values = _unpack_fp4(bits, axis) if name == "e2m1" else bits.view(_SCALED_FORMATS[name]).astype(np.float32)
    if scale is None or getattr(scale, "value", scale) is None:
        return values
    block = values.shape[axis] // scale.handle.data.shape[-1]
    factors = np.repeat(_scale_values(scale), block, axis=-1)
    return values * (factors if axis == -1 else np.swapaxes(factors, -1, -2))
