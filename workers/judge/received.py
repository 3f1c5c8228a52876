"""What a foreign process returned, made immutable before anybody looks at it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workers.wire import storage
from workers.wire.values import NotAValue, TensorSpec, as_array, rebuild

MAX_TOTAL_BYTES = 32 << 30


@dataclass(frozen=True)
class Leaf:
    """One output: `kind` is torch, numpy, jax or python; `array` has the dtype that was returned."""

    kind: str
    array: np.ndarray
    contiguous: bool
    type: str = ""


@dataclass
class Received:
    """A manifest with its storages.  The descriptors are ours; call `close`.

    `shares_inputs`: the sender says that some of it lies in the memory of the inputs.
    """

    manifest: Any
    storage_bytes: list[int]
    fds: list[int]
    shares_inputs: bool = False
    _maps: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, message: dict[str, Any], fds: list[int]) -> Received:
        """Take over `fds`; each is sealed, or copied when it cannot be.  Raises `NotAValue` for anything malformed."""
        try:
            sizes = message["storages"]
            if len(sizes) != len(fds) or sum(sizes) > MAX_TOTAL_BYTES:
                raise NotAValue("the storages announced are not those that came")
            owned = [_immutable(fd, size) for fd, size in zip(fds, sizes, strict=True)]
            received = cls(message["manifest"], list(sizes), owned, message.get("shares_inputs") is True)
            rebuild(received.manifest, received._check)
        except (KeyError, TypeError, OSError) as error:
            raise NotAValue(f"malformed answer: {error}") from error
        return received

    def to_message(self) -> dict[str, Any]:
        return {"manifest": self.manifest, "storages": self.storage_bytes}

    def leaves(self, like: Received | None = None) -> list[Leaf]:
        """The values in order, lists and dicts flattened; numbers become 0-d arrays.

        Dicts with the keys of those in `like` come in its order.
        """
        manifest = self.manifest if like is None else _ordered(self.manifest, like.manifest)
        return list(_flatten(rebuild(manifest, self._leaf)))

    def total_bytes(self) -> int:
        return sum(self.storage_bytes)

    def same_values(self, other: Received) -> bool:
        """Bytewise equality without touching holes."""
        if self.manifest != other.manifest or self.storage_bytes != other.storage_bytes:
            return False
        return all(_same_bytes(a, b) for a, b in zip(self.fds, other.fds, strict=True))

    def close(self) -> None:
        self._maps.clear()
        storage.close_all(self.fds)

    def _check(self, spec: TensorSpec) -> None:
        if spec.storage >= len(self.fds):
            raise NotAValue(f"storage {spec.storage} does not exist")
        low, high = spec.extent_bytes()
        if low < 0 or high > self.storage_bytes[spec.storage]:
            raise NotAValue("a tensor reaches outside its storage")

    def _leaf(self, spec: TensorSpec) -> Leaf:
        array = as_array(spec, self._map(spec.storage))
        return Leaf(spec.kind, array, bool(array.flags.c_contiguous), spec.type)

    def _map(self, index: int) -> Any:
        if index not in self._maps:
            nbytes = self.storage_bytes[index]
            self._maps[index] = storage.map_readonly(self.fds[index], nbytes) if nbytes else b""
        return self._maps[index]


def _immutable(fd: int, size: Any) -> int:
    if not isinstance(size, int) or size < 0 or not storage.is_memfd(fd) or os.fstat(fd).st_size != size:
        raise NotAValue("a storage is no memfd of the announced size")
    if storage.seal(fd):
        return fd
    duplicate = storage.copy(fd)  # the sender still maps it for writing: what counts is what it holds now
    os.close(fd)
    storage.seal(duplicate)
    return duplicate


def _ordered(manifest: Any, model: Any) -> Any:
    """`manifest` with its dicts in the order of the same dicts in `model`; both have been checked."""
    (kind, body), (other, pattern) = next(iter(manifest.items())), next(iter(model.items()))
    sequences = ("list", "tuple")
    if kind in sequences and other in sequences and len(body) == len(pattern):
        return {kind: [_ordered(a, b) for a, b in zip(body, pattern, strict=True)]}
    if kind == other == "dict" and (given := {str(k): v for k, v in body}).keys() == {str(k) for k, _ in pattern}:
        return {kind: [[k, _ordered(given[str(k)], v)] for k, v in pattern]}
    return manifest


def _flatten(value: Any) -> Iterator[Leaf]:
    if isinstance(value, Leaf):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flatten(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _flatten(item)
    elif isinstance(value, bool | int | float):
        yield Leaf("python", np.asarray(value) if abs(value) < 2**63 else np.asarray(float(value)), contiguous=True)
    elif value is None or isinstance(value, str):
        yield Leaf("python", np.empty(0, np.float64), contiguous=True, type=type(value).__name__)


def _same_bytes(a: int, b: int) -> bool:
    runs = {*storage.data_runs(a), *storage.data_runs(b)}
    for start, stop in runs:
        while start < stop:
            count = min(stop - start, 8 << 20)
            if os.pread(a, count, start) != os.pread(b, count, start):
                return False
            start += count
    return True
