"""Atomic read-modify-write on bf16, which the stock interpreter refuses."""

# mypy: disable-error-code="misc"

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock


class Bf16Atomics(stock.InterpreterBuilder):
    """Adds bf16 atomically, lane after lane: programs run one at a time, so this is exact."""

    def create_atomic_rmw(self, rmw_op: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        if val.dtype.scalar.name != "bf16" or "FADD" not in str(rmw_op):
            return super().create_atomic_rmw(rmw_op, ptr, val, mask, sem, scope)
        before = np.zeros(ptr.data.size, dtype=np.uint16)
        addends = np.ascontiguousarray(np.broadcast_to(val.data, ptr.data.shape)).reshape(-1)
        lanes = np.broadcast_to(np.asarray(mask.data, dtype=bool), ptr.data.shape).reshape(-1)
        addresses = ptr.data.reshape(-1)
        for lane in np.flatnonzero(lanes):
            before[lane] = _add_at(int(addresses[lane]), addends[lane : lane + 1])
        return stock.TensorHandle(before.reshape(ptr.data.shape), tl.bfloat16)


def _add_at(address: int, addend_bits: Any) -> int:
    """Adds to the bf16 at `address` and returns the bits that were there."""
    cell = ctypes.c_uint16.from_address(address)
    before = cell.value
    total = np.array([before], dtype=np.uint16).view(ml_dtypes.bfloat16) + addend_bits.view(ml_dtypes.bfloat16)
    cell.value = int(total.astype(ml_dtypes.bfloat16).view(np.uint16)[0])
    return before
