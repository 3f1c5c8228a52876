"""Arithmetic on bf16 (and fp8) values instead of on their bit patterns."""

# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from .formats import as_handle, decode, is_narrow

_ON_BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift)


def _widen(handle: stock.TensorHandle) -> stock.TensorHandle:
    return stock.TensorHandle(decode(handle), tl.float32) if is_narrow(handle.dtype) else handle


class NarrowArithmetic(stock.InterpreterBuilder):
    """Computes narrow floats in fp32 and rounds every result, as a GPU without native units does."""

    def binary_op(self, lhs: Any, rhs: Any, op: Any) -> Any:
        narrow = lhs.dtype.scalar
        if op in _ON_BITS or not is_narrow(narrow):
            return super().binary_op(lhs, rhs, op)
        result = op(decode(lhs), decode(rhs))
        return stock.TensorHandle(result, tl.int1) if result.dtype == bool else as_handle(result, narrow)

    def ternary_op(self, lhs: Any, rhs: Any, other: Any, op: Any) -> Any:
        narrow = other.dtype.scalar
        if op is np.where or not is_narrow(narrow):
            return super().ternary_op(lhs, rhs, other, op)
        return as_handle(op(decode(lhs), decode(rhs), decode(other)), narrow)

    def unary_op(self, arg: Any, op: Any) -> Any:
        if not is_narrow(arg.dtype):
            return super().unary_op(arg, op)
        return as_handle(op(decode(arg)), arg.dtype)

    def create_fma(self, x: Any, y: Any, z: Any) -> Any:
        if not is_narrow(z.dtype):
            return super().create_fma(x, y, z)
        return as_handle(decode(x) * decode(y) + decode(z), z.dtype)

    def create_rsqrt(self, arg: Any) -> Any:
        if not is_narrow(arg.dtype):
            return super().create_rsqrt(arg)
        return as_handle(1 / np.sqrt(decode(arg)), arg.dtype)

    def create_fneg(self, arg: Any) -> Any:
        return self.unary_op(arg, np.negative)

    def get_bf16(self, value: float) -> stock.TensorHandle:
        return as_handle(np.array([value], dtype=np.float32), tl.bfloat16)


class QuietMinMax(stock.InterpreterBuilder):
    """Minimum and maximum that ignore NaN, as the instructions behind Triton's default do."""

    def create_minnumf(self, lhs: Any, rhs: Any) -> Any:
        return self.binary_op(lhs, rhs, np.fmin)

    def create_maxnumf(self, lhs: Any, rhs: Any) -> Any:
        return self.binary_op(lhs, rhs, np.fmax)
