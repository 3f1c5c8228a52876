"""Turns the arguments of a launch into what a kernel's body sees, typed as the compiler would type them."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton._utils import _tuple_create
from triton.runtime import interpreter as stock
from triton.runtime.jit import TensorWrapper, mangle_type
from triton.tools.tensor_descriptor import TensorDescriptor

from .formats import numpy_dtype
from .memory import Extent, extent_of


class ArgumentBinder:
    """Converts arguments and collects the extent of each tensor among them, in order."""

    def __init__(self) -> None:
        self.extents: list[Extent] = []

    def bind(self, name: str, value: Any, declared: Any) -> Any:
        """One argument; `declared` is its type in the launch's signature (`i32`, `*fp32`, `constexpr`...)."""
        if isinstance(value, tl.constexpr):
            return value.value
        if isinstance(value, TensorDescriptor):
            return self._descriptor(name, value)
        if hasattr(value, "data_ptr"):
            return self._pointer(name, value)
        if isinstance(value, tuple):
            kinds = declared if isinstance(declared, tuple) else (None,) * len(value)
            parts = [self.bind(f"{name}[{i}]", v, k) for i, (v, k) in enumerate(zip(value, kinds, strict=False))]
            return _tuple_create(value, parts)
        if isinstance(value, (bool, int, float)):
            return _scalar(value, declared)
        return value

    def _pointer(self, name: str, value: Any) -> tl.tensor:
        kind = tl.str_to_ty(mangle_type(value), None)
        handle = stock.TensorHandle(np.array([value.data_ptr()], dtype=np.uint64), kind)
        handle.origin = len(self.extents)
        self.extents.append(extent_of(name, value.base if isinstance(value, TensorWrapper) else value))
        return tl.tensor(handle, kind)

    def _descriptor(self, name: str, value: TensorDescriptor) -> Any:
        strides = [_scalar(stride, "i64") for stride in value.strides[:-1]]
        return stock.interpreter_semantic.make_tensor_descriptor(
            base=self._pointer(name, value.base),
            shape=[_scalar(size, "i32") for size in value.shape],
            strides=[*strides, tl.constexpr(1)],
            block_shape=[tl.constexpr(size) for size in value.block_shape],
            padding_option=value.padding,
        )


def _scalar(value: float, declared: Any) -> tl.tensor:
    """A number as a tensor of the signature's type; specialised ones (`== 1`) have their default type."""
    name = declared if isinstance(declared, str) and declared != "constexpr" else mangle_type(value)
    kind = tl.int1 if isinstance(value, bool) else tl.str_to_ty(name, None)
    if kind.name == "bf16":
        return tl.tensor(stock.interpreter_builder.get_bf16(value), kind)
    return tl.tensor(stock.TensorHandle(np.array([value], dtype=numpy_dtype(kind)), kind), kind)
