"""Packing and unpacking of torch and NumPy values inside a foreign process (never in the judge's).

torch is used only when the process has already imported it.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workers.wire import pages, storage
from workers.wire.values import NotAValue, TensorSpec, describe, numpy_dtype, rebuild, strided


@dataclass
class _Source:
    """One storage of this process that is to be packed; `keep` holds its owner alive."""

    address: int
    nbytes: int
    keep: Any
    specs: list[dict[str, Any]] = field(default_factory=list)
    low: int = 0
    high: int = 0


def pack(value: Any, *, trim: bool) -> tuple[dict[str, Any], list[int]]:
    """The message and the descriptors of `value`; the caller closes the descriptors after sending.

    With `trim` only the bytes that the tensors can reach are copied (right for outputs); without it
    whole storages are (right for inputs, whose neighbours a kernel may read by mistake).
    Raises `NotAValue` for what cannot cross.
    """
    sources: dict[int, _Source] = {}

    def tensor(item: Any) -> TensorSpec | None:
        found = _torch_source(item) or _numpy_source(item)
        if found is None:
            return None
        source, spec = found
        sources.setdefault(source.address, source)
        index = list(sources).index(source.address)
        return TensorSpec(spec.kind, spec.dtype, spec.shape, spec.strides, spec.offset, index, spec.type)

    manifest = describe(value, tensor)
    _collect(manifest, list(sources.values()))
    fds: list[int] = []
    try:
        sizes = [_write(source, trim, fds) for source in sources.values()]
    except BaseException:
        storage.close_all(fds)
        raise
    return {"manifest": manifest, "storages": sizes}, fds


def _collect(manifest: Any, sources: list[_Source]) -> None:
    """Note for each storage which tensors of the manifest lie in it, to trim it."""
    ((kind, body),) = manifest.items()
    if kind == "tensor":
        source = sources[body["storage"]]
        low, high = TensorSpec(**{"type": "", **body}).extent_bytes()
        source.low = low if not source.specs else min(source.low, low)
        source.high = max(source.high, high)
        source.specs.append(body)
    elif kind in ("list", "tuple"):
        for item in body:
            _collect(item, sources)
    elif kind == "dict":
        for _, item in body:
            _collect(item, sources)


def _write(source: _Source, trim: bool, fds: list[int]) -> int:
    low, high = (source.low, source.high) if trim else (0, source.nbytes)
    if trim:
        for body in source.specs:
            body["offset"] -= low // numpy_dtype(body["dtype"]).itemsize
    fd = storage.create(high - low)
    fds.append(fd)
    if high > low:
        address = source.address + low
        storage.write(fd, _bytes_at(address, high - low), address)
    return high - low


def _bytes_at(address: int, nbytes: int) -> memoryview:
    import ctypes

    return memoryview((ctypes.c_char * nbytes).from_address(address)).cast("B")


def _torch_source(item: Any) -> tuple[_Source, TensorSpec] | None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(item, torch.Tensor):
        return None
    plain = type(item) in (torch.Tensor, torch.nn.Parameter)
    item = item.detach()
    if item.layout != torch.strided or item.is_quantized:
        raise NotAValue(f"a torch tensor with layout {item.layout} cannot cross; use a dense one")
    item = item.cpu().resolve_conj().resolve_neg()
    owner = item.untyped_storage()
    spec = TensorSpec(
        kind="torch",
        dtype=str(item.dtype).removeprefix("torch."),
        shape=tuple(item.shape),
        strides=tuple(item.stride()),
        offset=item.storage_offset(),
        storage=0,
        type="" if plain else f"{type(item).__module__}.{type(item).__qualname__}",
    )
    numpy_dtype(spec.dtype)
    return _Source(owner.data_ptr(), owner.nbytes(), owner), spec


def _numpy_source(item: Any) -> tuple[_Source, TensorSpec] | None:
    if isinstance(item, np.generic):
        item = np.asarray(item)
    if not isinstance(item, np.ndarray):
        return None
    if item.dtype.hasobject or item.dtype.fields:
        raise NotAValue(f"a NumPy array of dtype {item.dtype} cannot cross")
    if any(s % item.itemsize for s in item.strides):
        item = np.ascontiguousarray(item)
    root = item
    while isinstance(root.base, np.ndarray):
        root = root.base
    root_low, root_high = np.lib.array_utils.byte_bounds(root)
    address = item.__array_interface__["data"][0]
    if (address - root_low) % item.itemsize:
        item = root = item.copy()
        root_low, root_high = np.lib.array_utils.byte_bounds(root)
        address = root_low
    spec = TensorSpec(
        kind="numpy",
        dtype=item.dtype.name,
        shape=item.shape,
        strides=tuple(s // item.itemsize for s in item.strides),
        offset=(address - root_low) // item.itemsize,
        storage=0,
    )
    numpy_dtype(spec.dtype)
    return _Source(root_low, root_high - root_low, item), spec


class Mapped:
    """One received storage mapped into this process; `refill` puts other bytes at the same address."""

    def __init__(self, fd: int, nbytes: int, *, shared: bool, owned: bool = False) -> None:
        self.fd, self.nbytes, self.shared, self.owned = fd, nbytes, shared, owned
        if nbytes:
            self.buffer: mmap.mmap | bytearray = (storage.map_shared if shared else storage.map_private)(fd, nbytes)
            self.address = np.frombuffer(self.buffer, np.uint8).__array_interface__["data"][0]
        else:
            self.buffer, self.address = bytearray(), 0

    def refill(self, fd: int, nbytes: int) -> None:
        """Replace the contents by those of another memfd of the same size, without moving."""
        if nbytes != self.nbytes:
            raise NotAValue(f"refill of {nbytes} bytes into a storage of {self.nbytes}")
        for start, stop in [*storage.data_runs(self.fd), *storage.data_runs(fd)]:
            memoryview(self.buffer)[start:stop] = _read(fd, start, stop)
        self.close()
        self.fd = fd

    def close(self) -> None:
        """Give the descriptor back; the mapping stays."""
        if self.owned and self.fd >= 0:
            storage.close_all([self.fd])
            self.fd = -1

    def __del__(self) -> None:
        self.close()

    def changed(self) -> bool | None:
        """Whether this process wrote other bytes than it was given; None where that cannot be told."""
        if self.shared or not self.nbytes:
            return False
        runs = pages.copied_runs(self.address, self.nbytes)
        if runs is None:
            if self.nbytes > 1 << 28:
                return None
            runs = [(0, self.nbytes)]
        return any(bytes(memoryview(self.buffer)[a:b]) != _read(self.fd, a, b) for a, b in runs)


def _read(fd: int, start: int, stop: int) -> bytes:
    import os

    parts = []
    while start < stop:
        part = os.pread(fd, min(stop - start, 64 << 20), start)
        if not part:
            break
        parts.append(part)
        start += len(part)
    return b"".join(parts)


class Unpacked:
    """A received value with its mapped storages; keep it as long as the value is used."""

    def __init__(
        self, message: dict[str, Any], fds: list[int], shared: Collection[int] = (), *,
        arrays_as_torch: bool = False, owned: bool = False,
    ) -> None:  # fmt: skip
        sizes = message["storages"]
        self.arrays_as_torch = arrays_as_torch
        self.copied = False  # some tensor is a copy, which a refill of the storages would not reach
        self.storages = [
            Mapped(fd, n, shared=i in shared, owned=owned) for i, (fd, n) in enumerate(zip(fds, sizes, strict=True))
        ]
        self.manifest = message["manifest"]
        self.value = rebuild(self.manifest, self._tensor, dtype=_torch_dtype)

    def refill(self, message: dict[str, Any], fds: list[int]) -> bool:
        """Put another value of the same structure into the same storages; False when it has another."""
        if (
            self.copied
            or message["manifest"] != self.manifest
            or message["storages"] != [m.nbytes for m in self.storages]
        ):
            return False
        for mapped, fd in zip(self.storages, fds, strict=True):
            mapped.refill(fd, mapped.nbytes)
        return True

    def _tensor(self, spec: TensorSpec) -> Any:
        mapped = self.storages[spec.storage]
        if spec.kind == "numpy" and self.arrays_as_torch and min(spec.strides, default=0) < 0:
            import torch

            self.copied = True  # torch has no negative strides
            return torch.from_numpy(np.ascontiguousarray(_to_numpy(spec, mapped)))
        as_numpy = spec.kind == "numpy" and not self.arrays_as_torch
        return _to_numpy(spec, mapped) if as_numpy else _to_torch(spec, mapped)


def _torch_dtype(name: str) -> Any:
    import torch

    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise NotAValue(f"torch has no dtype {name!r}")
    return found


def _to_numpy(spec: TensorSpec, mapped: Mapped) -> np.ndarray:
    dtype = numpy_dtype(spec.dtype)
    if not mapped.nbytes:
        return np.empty(spec.shape, dtype)
    items = np.frombuffer(mapped.buffer, f"V{dtype.itemsize}", count=mapped.nbytes // dtype.itemsize)
    return strided(items[spec.offset :], spec)


def _to_torch(spec: TensorSpec, mapped: Mapped) -> Any:
    import torch

    dtype = getattr(torch, spec.dtype)
    if not mapped.nbytes:
        return torch.empty_strided(spec.shape, spec.strides, dtype=dtype)
    flat = torch.frombuffer(mapped.buffer, dtype=torch.uint8)
    return torch.empty(0, dtype=dtype).set_(flat.untyped_storage(), spec.offset, spec.shape, spec.strides)
