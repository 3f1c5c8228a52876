"""What a foreign process returned, made immutable before anybody looks at it."""

from __future__ import annotations

import itertools
import json
import math
import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workers.wire import storage
from workers.wire.values import TENSOR_KINDS, NotAValue, TensorSpec, as_array, rebuild

MAX_LEAVES = 4096
MAX_MANIFEST_CHARACTERS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Room:
    """How much an answer may hold.  `total_bytes` counts storages, and views as if each were copied out.

    A view of one byte can have any size, and a storage of holes becomes memory of ours when it is read.
    `values` bounds the elements of all tensors, each of which may become a float64 here.
    """

    total_bytes: int = 32 << 30
    values: int = 1 << 62
    storages: int = 250


ANY = Room()
# One answer of a task's reference: what can be compared in seconds, a piece at a time.
ANSWER = Room(total_bytes=4 << 30, values=1 << 28)


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

    `shares_inputs`: the sender says that some of it lies in the memory of the inputs; `seconds`: that it took so long.
    """

    manifest: Any
    storage_bytes: list[int]
    fds: list[int]
    shares_inputs: bool = False
    seconds: float = 0.0
    _maps: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Descriptors hold other processes' memory: whoever forgets to close them must not keep it for ever.
        weakref.finalize(self, storage.close_all, self.fds)

    @classmethod
    def of(cls, message: dict[str, Any], fds: list[int], room: Room = ANY) -> Received:
        """Take over `fds`, also when it raises `NotAValue` for what is malformed, too large or not immutable."""
        received = cls(None, [], fds)
        try:
            sizes = message["storages"]
            if not isinstance(sizes, list) or len(sizes) != len(fds) or len(fds) > room.storages:
                raise NotAValue("the storages announced are not those that came, or too many")
            for fd, size in zip(fds, sizes, strict=True):
                _freeze(fd, size)
            received.manifest, received.storage_bytes = message["manifest"], list(sizes)
            received.shares_inputs = message.get("shares_inputs") is True
            received.seconds = float(message.get("seconds", 0.0))
            received._check_all(room)
        except _MALFORMED as error:
            received.close()
            reason = str(error) if isinstance(error, NotAValue) else f"malformed answer: {error}"
            raise NotAValue(reason[:300]) from error
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

    def _check_all(self, room: Room) -> None:
        """Everything that a later look could trip over, once and here."""
        if len(json.dumps(self.manifest)) > MAX_MANIFEST_CHARACTERS:
            raise NotAValue(f"a description of more than {MAX_MANIFEST_CHARACTERS} characters")
        leaves = list(itertools.islice(_flatten(rebuild(self.manifest, self._leaf)), MAX_LEAVES + 1))
        if len(leaves) > MAX_LEAVES:
            raise NotAValue(f"more than {MAX_LEAVES} values")
        if max(self.total_bytes(), sum(leaf.array.nbytes for leaf in leaves)) > room.total_bytes:
            raise NotAValue(f"more than the {room.total_bytes} bytes that an answer may have here")
        if sum(leaf.array.size for leaf in leaves) > room.values:
            raise NotAValue(f"more than the {room.values} elements that an answer may have here")
        self._maps.clear()  # each holds a descriptor more, and many are never looked at

    def _leaf(self, spec: TensorSpec) -> Leaf:
        if spec.kind not in TENSOR_KINDS:
            raise NotAValue(f"a tensor of kind {spec.kind!r}")
        if spec.storage >= len(self.fds):
            raise NotAValue(f"storage {spec.storage} does not exist")
        array = as_array(spec, self._map(spec.storage))
        return Leaf(spec.kind, array, bool(array.flags.c_contiguous), spec.type)

    def _map(self, index: int) -> Any:
        if index not in self._maps:
            nbytes = self.storage_bytes[index]
            self._maps[index] = storage.map_readonly(self.fds[index], nbytes) if nbytes else b""
        return self._maps[index]


# What NumPy, `mmap` and Python raise for sizes, types and numbers that make no sense.
_MALFORMED = (
    NotAValue,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    OSError,
    MemoryError,
    RecursionError,
)


def _freeze(fd: int, size: Any) -> None:
    """Nobody can change the storage from here on; its size counts as it is then, not as it was before."""
    if not isinstance(size, int) or isinstance(size, bool) or not storage.is_memfd(fd):
        raise NotAValue("a storage is no memfd of the announced size")
    if not storage.seal(fd):
        raise NotAValue("a storage can still be changed by the process that sent it")
    if os.fstat(fd).st_size != size:
        raise NotAValue("a storage is no memfd of the announced size")


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
        yield Leaf("python", _number(value), contiguous=True)
    elif isinstance(value, str):
        yield Leaf("python", np.frombuffer(value.encode(errors="surrogatepass"), np.uint8), contiguous=True, type="str")
    elif value is None:
        yield Leaf("python", np.empty(0, np.float64), contiguous=True, type="NoneType")


def _number(value: float) -> np.ndarray:
    if isinstance(value, int) and abs(value) >= 2**63:
        return np.asarray(float(value) if abs(value) < 2**1023 else math.copysign(math.inf, 1 if value > 0 else -1))
    return np.asarray(value)


def _same_bytes(a: int, b: int) -> bool:
    runs = {*storage.data_runs(a), *storage.data_runs(b)}
    pieces = ((at, min(stop - at, 8 << 20)) for start, stop in runs for at in range(start, stop, 8 << 20))
    return all(os.pread(a, count, at) == os.pread(b, count, at) for at, count in pieces)
