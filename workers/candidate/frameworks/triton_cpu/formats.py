"""Translates between Triton's floating types and the NumPy arrays that hold their bits."""

# mypy: disable-error-code="no-any-return, no-untyped-call"
# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from .records import Unsupported

Array = np.ndarray[Any, Any]

_stock_numpy_dtype = stock._get_np_dtype
_numpy_dtypes: dict[str, np.dtype[Any]] = {}


def numpy_dtype(dtype: tl.dtype) -> np.dtype[Any]:
    """The array type behind a Triton type; the stock function builds its table anew on every call."""
    element = dtype.scalar
    known = _numpy_dtypes.get(element.name)
    if known is None:
        known = _numpy_dtypes[element.name] = _stock_numpy_dtype(element)
    return known


# The interpreter keeps these as raw unsigned integers, so NumPy alone would do arithmetic on bit patterns.
NARROW_FORMATS: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e5": ml_dtypes.float8_e5m2,
    "fp8e4b8": ml_dtypes.float8_e4m3fnuz,
    "fp8e5b16": ml_dtypes.float8_e5m2fnuz,
}
_BITS_OF = {"bf16": np.uint16}

# GPU conversions to fp8 saturate instead of producing NaN or infinity.
LARGEST_FP8 = {name: float(ml_dtypes.finfo(kind).max) for name, kind in NARROW_FORMATS.items() if name != "bf16"}


def is_narrow(dtype: tl.dtype) -> bool:
    """Whether the interpreter stores this type as raw bits."""
    return dtype.scalar.name in NARROW_FORMATS


def decode(handle: stock.TensorHandle) -> Array:
    """The values of a handle in a type NumPy can compute with (float32 for bf16 and fp8)."""
    name = handle.dtype.scalar.name
    if name == "fp8e4b15":
        raise Unsupported("fp8e4b15 has no model here")
    kind = NARROW_FORMATS.get(name)
    if kind is None:
        return handle.data
    return np.ascontiguousarray(handle.data).view(kind).astype(np.float32)


def encode(values: Array, dtype: tl.dtype) -> Array:
    """Rounds values to nearest even in `dtype` and returns the array the interpreter stores."""
    name = dtype.scalar.name
    if name == "fp8e4b15":
        raise Unsupported("fp8e4b15 has no model here")
    kind = NARROW_FORMATS.get(name)
    if kind is None:
        return values.astype(numpy_dtype(dtype))
    if name in LARGEST_FP8:
        limit = LARGEST_FP8[name]
        values = np.clip(values.astype(np.float32), -limit, limit)
    return values.astype(np.float32).astype(kind).view(_BITS_OF.get(name, np.uint8))


def encode_toward_zero(values: Array, dtype: tl.dtype) -> Array:
    """Like `encode`, truncating; only the formats whose truncation is defined by bits are known."""
    name = dtype.scalar.name
    if name == "bf16":
        return (np.ascontiguousarray(values, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if name == "fp16":
        rounded = values.astype(np.float16)
        over = np.abs(rounded.astype(np.float64)) > np.abs(values.astype(np.float64))
        return np.where(over, np.nextafter(rounded, np.float16(0)), rounded)
    raise Unsupported(f"rounding toward zero to {name} has no model here")


def as_handle(values: Array, dtype: tl.dtype) -> stock.TensorHandle:
    """A handle of `dtype` holding the rounded values."""
    return stock.TensorHandle(encode(np.asarray(values), dtype), dtype.scalar)
