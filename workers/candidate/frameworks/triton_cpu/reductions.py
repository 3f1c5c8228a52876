"""Reductions and scans over values, one whole slice at a time instead of one element at a time."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from .formats import Array, as_handle, decode, is_narrow


def _widened(tensor: tl.tensor) -> tl.tensor:
    if not is_narrow(tensor.dtype):
        return tensor
    kind = tensor.type.with_element_ty(tl.float32) if tensor.type.is_block() else tl.float32
    return tl.tensor(stock.TensorHandle(decode(tensor.handle), tl.float32), kind)


def _narrowed(tensor: tl.tensor, dtype: tl.dtype) -> tl.tensor:
    if not is_narrow(dtype) or tensor.dtype != tl.float32:
        return tensor
    kind = tensor.type.with_element_ty(dtype) if tensor.type.is_block() else dtype
    return tl.tensor(as_handle(tensor.handle.data, dtype), kind)


def through_float32(apply: Callable[[Any], Any], given: Any) -> Any:
    """Applies a reduction to narrow floats in fp32 and rounds its result back."""
    tensors = given if isinstance(given, tuple) else (given,)
    if not any(is_narrow(t.dtype) for t in tensors):
        return apply(given)
    results = apply(tuple(_widened(t) for t in tensors))
    rounded = tuple(_narrowed(r, t.dtype) for r, t in zip(results, tensors, strict=False))
    return rounded if isinstance(given, tuple) else rounded[0]


@lru_cache(maxsize=512)
def _branches(source: str) -> bool:
    """Whether a combine function has a branch, which only single elements can take."""
    return any(isinstance(node, (ast.If, ast.IfExp, ast.While)) for node in ast.walk(ast.parse(source)))


def _slice(data: Array, axis: int, index: int, dtype: tl.dtype) -> tl.tensor:
    part = np.ascontiguousarray(np.take(data, [index], axis=axis))
    return tl.tensor(stock.TensorHandle(part, dtype.scalar), tl.block_type(dtype.scalar, list(part.shape)))


def _combine(function: Any, left: tuple[tl.tensor, ...], right: tuple[tl.tensor, ...]) -> tuple[tl.tensor, ...]:
    result = function(*left, *right)
    return result if isinstance(result, tuple) else (result,)


def _fold(tensors: Any, axis: int, function: Any) -> list[list[Array]]:
    """Running combinations along `axis`: one list per operand, one slice per position."""
    datas = [t.handle.data for t in tensors]
    kinds = [t.dtype for t in tensors]
    state = tuple(_slice(d, axis, 0, k) for d, k in zip(datas, kinds, strict=True))
    steps = [[s.handle.data] for s in state]
    for position in range(1, datas[0].shape[axis]):
        following = tuple(_slice(d, axis, position, k) for d, k in zip(datas, kinds, strict=True))
        state = _combine(function, state, following)
        for step, part in zip(steps, state, strict=True):
            step.append(np.broadcast_to(part.handle.data, step[0].shape))
    return steps


class Reduction(stock.ReduceOps):
    """`tl.reduce`, with NaN-ignoring minimum and maximum and whole-slice combination."""

    def apply(self, input: Any) -> Any:
        return through_float32(super().apply, input)

    def min_max(self, input: Any, val_reduce_op: Any, idx_reduce_op: Any = None) -> Any:
        quiet = {np.nanmax: np.fmax.reduce, np.nanmin: np.fmin.reduce}
        if self.axis is None and val_reduce_op in quiet:
            tensor = input[0] if isinstance(input, tuple) else input
            flat = quiet[val_reduce_op](tensor.handle.data, axis=None, keepdims=self.keep_dims)
            return self.to_tensor(flat, tensor.dtype)
        return super().min_max(input, quiet.get(val_reduce_op, val_reduce_op), idx_reduce_op)

    def generic_reduce(self, input: Any) -> Any:
        if self.axis is None or _branches(self.combine_fn.src):
            return super().generic_reduce(input)
        steps = _fold(input, self.axis, self.combine_fn)
        finals = [step[-1] if self.keep_dims else np.squeeze(step[-1], self.axis) for step in steps]
        return [self.to_tensor(data, t.dtype) for data, t in zip(finals, input, strict=True)]


class Scan(stock.ScanOps):
    """`tl.associative_scan`, combined a whole slice at a time."""

    def apply(self, input: Any) -> Any:
        return through_float32(super().apply, input)

    def generic_scan(self, input: Any) -> Any:
        if _branches(self.combine_fn.src):
            return super().generic_scan(input)
        steps = _fold(input, self.axis, self.combine_fn)
        return [
            self.to_tensor(np.concatenate(step, axis=self.axis), t.dtype) for step, t in zip(steps, input, strict=True)
        ]
