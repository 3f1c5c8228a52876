"""Checks every address of a launch against the tensors it was given, and never touches a bad one."""

# mypy: disable-error-code="misc, no-any-return"

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter as stock

from .formats import Array


@dataclass(frozen=True)
class Extent:
    """Addresses in bytes: what the tensor's shape and strides reach, within the storage that holds it."""

    name: str
    low: int
    high: int
    storage_low: int
    storage_high: int


def extent_of(name: str, tensor: torch.Tensor) -> Extent:
    """The extent of a tensor from its metadata alone: its pages are not touched."""
    storage = tensor.untyped_storage()
    low = tensor.data_ptr()
    reach = 0
    if tensor.numel():
        strides = zip(tensor.shape, tensor.stride(), strict=True)
        reach = tensor.element_size() * (1 + sum((size - 1) * stride for size, stride in strides))
    return Extent(name, low, low + reach, storage.data_ptr(), storage.data_ptr() + storage.nbytes())


class KnownMemory:
    """The tensors of a launch by position, and all storages a pointer of unknown origin may reach."""

    def __init__(self, arguments: list[Extent], watched: Iterable[Extent]) -> None:
        self.arguments = arguments
        self._set_storages([*arguments, *watched])

    def _set_storages(self, extents: Iterable[Extent]) -> None:
        """Merges touching intervals, so that the last one starting below an address decides."""
        merged: list[list[int]] = []
        for low, high in sorted({(e.storage_low, e.storage_high) for e in extents}):
            if merged and low <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        self._lows = np.array([low for low, _ in merged], dtype=np.uint64)
        self._highs = np.array([high for _, high in merged], dtype=np.uint64)

    def learn_live_tensors(self) -> None:
        """Adds every tensor alive in this process: a kernel may be handed raw addresses of any of them."""
        self._set_storages([*self.arguments, *(extent_of("", t) for t in _live_tensors())])

    def inside_any(self, addresses: Array, size: int) -> Array:
        """Which addresses lie in a known storage, `size` bytes and all."""
        if not len(self._lows):
            return np.zeros(addresses.shape, dtype=bool)
        slot = np.searchsorted(self._lows, addresses, side="right")
        found = np.maximum(slot, 1) - 1
        return (slot > 0) & (addresses + np.uint64(size) <= self._highs[found])

    def nearest_argument(self, address: int) -> Extent | None:
        """The argument whose start lies closest, for naming an address of unknown origin."""
        return min(self.arguments, key=lambda e: abs(e.low - address), default=None)


def _live_tensors() -> Iterator[torch.Tensor]:
    import gc

    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and thing.layout is torch.strided and thing.device.type == "cpu":
            yield thing


@dataclass(frozen=True)
class Access:
    """One load, store or atomic of one program: the active lanes' addresses, in bytes."""

    kind: str
    pointers: Any
    active: Array
    addresses: Array
    size: int


def element_bytes(pointers: Any) -> int:
    """Bytes behind each lane's pointer."""
    return max(1, int(pointers.get_element_ty().primitive_bitwidth) // 8)


def _as_mask(mask: Any, shape: tuple[int, ...]) -> Array:
    """A mask arrives as a handle, or as a bare array from block pointers."""
    data = mask.data if isinstance(mask, stock.TensorHandle) else mask
    return np.broadcast_to(np.asarray(data, dtype=bool), shape)


class CheckedMemory(stock.InterpreterBuilder):
    """Sends each access to `self.guard` first, and performs it on the lanes that come back."""

    guard: Any = None

    def _admit(self, kind: str, pointers: Any, mask: Any) -> stock.TensorHandle:
        active = _as_mask(mask, pointers.data.shape)
        if self.guard is None:
            return stock.TensorHandle(active, tl.int1)
        addresses = pointers.data[active]
        if addresses.size:
            active = self.guard.admit(Access(kind, pointers, active, addresses, element_bytes(pointers)))
        return stock.TensorHandle(active, tl.int1)

    def create_masked_load(
        self, ptrs: Any, mask: Any, other: Any, cache_modifier: Any, eviction_policy: Any, is_volatile: Any
    ) -> Any:
        admitted = self._admit("load", ptrs, mask)
        loaded = super().create_masked_load(ptrs, admitted, other, cache_modifier, eviction_policy, is_volatile)
        if self.guard is not None:
            self.guard.after_load(loaded)
        return loaded

    def create_masked_store(self, ptrs: Any, value: Any, mask: Any, cache_modifier: Any, eviction_policy: Any) -> Any:
        admitted = self._admit("store", ptrs, mask)
        if self.guard is not None:
            self.guard.before_store(ptrs, value, admitted)
        return super().create_masked_store(ptrs, value, admitted, cache_modifier, eviction_policy)

    def create_atomic_rmw(self, rmw_op: Any, ptr: Any, val: Any, mask: Any, sem: Any, scope: Any) -> Any:
        admitted = self._admit("atomic", ptr, mask)
        return super().create_atomic_rmw(rmw_op, ptr, val, admitted, sem, scope)

    def create_atomic_cas(self, ptr: Any, cmp: Any, val: Any, sem: Any, scope: Any) -> Any:
        admitted = self._admit("atomic", ptr, np.ones(ptr.data.shape, dtype=bool))
        if not admitted.data.all():
            return stock.TensorHandle(np.zeros_like(cmp.data), cmp.dtype.scalar)
        return super().create_atomic_cas(ptr, cmp, val, sem, scope)
