"""Finds conflicts between programs of one launch, which a GPU may run in any order."""

# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

from typing import Any

import numpy as np
from triton.runtime import interpreter as stock

from .formats import Array
from .location import current_location
from .memory import Access, Extent, element_bytes
from .records import Launch, Observation

_LARGEST_SHADOW_BYTES = 16 << 20
_MANY = -1  # read by more than one program
_FREE = 0


class _Shadow:
    """Who last wrote, read and atomically updated each element of one tensor (program number + 1)."""

    def __init__(self, extent: Extent, size: int) -> None:
        self.low = extent.low
        self.size = size
        elements = (extent.high - extent.low + size - 1) // size
        self.writer, self.reader, self.updater = (np.zeros(elements, dtype=np.int32) for _ in range(3))

    def elements(self, addresses: Array) -> tuple[Array, Array]:
        """Element numbers of the addresses that lie in the tensor, and which of the addresses those are."""
        offsets = (addresses.astype(np.int64) - self.low) // self.size
        inside = (offsets >= 0) & (offsets < self.writer.size)
        return offsets[inside], inside


class RaceDetector:
    """Shadow memory for one launch; programs that have done an atomic count as synchronised with others."""

    def __init__(self, arguments: list[Extent]) -> None:
        self._arguments = arguments
        self._shadows: dict[int, _Shadow] = {}
        self._synchronised: set[tuple[int, int, int]] = set()

    def touch(self, launch: Launch, log: Any, program: tuple[int, int, int], access: Access, active: Array) -> None:
        """Notes a load or an atomic update."""
        if access.kind == "atomic":
            self._synchronised.add(program)
        shadow = self._shadow(access.pointers)
        if shadow is None:
            return
        (places, _), me = shadow.elements(access.pointers.data[active]), _number(launch, program)
        writers = shadow.writer[places]
        conflict = (writers != _FREE) & (writers != me)
        if conflict.any() and program not in self._synchronised:
            kind = "reads what another program wrote" if access.kind == "load" else "updates what another stored"
            self._report(launch, log, program, access.pointers, kind, int(conflict.sum()))
        if access.kind == "load":
            readers = shadow.reader[places]
            shadow.reader[places] = np.where((readers == _FREE) | (readers == me), me, _MANY)
        else:
            shadow.updater[places] = me

    def store(
        self, launch: Launch, log: Any, program: tuple[int, int, int], pointers: Any, value: Any, mask: Any
    ) -> None:
        """Notes a plain store, before it happens; storing what is already there is harmless."""
        shadow = self._shadow(pointers)
        if shadow is None:
            return
        (places, inside), me = shadow.elements(pointers.data[mask.data]), _number(launch, program)
        others = np.zeros(places.shape, dtype=bool)
        for owners in (shadow.writer[places], shadow.updater[places], shadow.reader[places]):
            others |= (owners != _FREE) & (owners != me)
        if others.any() and program not in self._synchronised:
            lanes = int((others & _changed_lanes(pointers, value, mask)[inside]).sum())
            if lanes:
                self._report(launch, log, program, pointers, "stores where another program reads or writes", lanes)
        shadow.writer[places] = me

    def _shadow(self, pointers: Any) -> _Shadow | None:
        origin = pointers.origin
        if origin is None:
            return None
        extent = self._arguments[origin]
        if extent.high - extent.low > _LARGEST_SHADOW_BYTES:
            return None
        if extent.low not in self._shadows:
            self._shadows[extent.low] = _Shadow(extent, element_bytes(pointers))
        return self._shadows[extent.low]

    def _report(
        self, launch: Launch, log: Any, program: tuple[int, int, int], pointers: Any, how: str, lanes: int
    ) -> None:
        where = current_location() or {"file": None, "line": None}
        name = self._arguments[pointers.origin].name
        evidence = {"kernel": launch.kernel, "argument": name, "conflict": how, "program": list(program)}
        message = f"{launch.kernel}: a program {how} in {name}, with no ordering between them"
        observation = Observation("runtime.race", message, where["file"], where["line"], evidence)
        log.add((launch.kernel, where["file"], where["line"], name, how), observation, lanes)


def _number(launch: Launch, program: tuple[int, int, int]) -> int:
    x, y, z = program
    return 1 + x + launch.grid[0] * (y + launch.grid[1] * z)


def _changed_lanes(pointers: Any, value: Any, mask: Any) -> Array:
    """Which active lanes of a store would change what memory holds."""
    kind = value.data.dtype
    present = stock._interpreter.load(pointers.data, mask.data, np.zeros(pointers.data.shape, dtype=kind), kind)
    bits = np.dtype(f"u{kind.itemsize}")  # compared as bits, so that the same NaN counts as the same value
    wanted = np.ascontiguousarray(np.broadcast_to(value.data, present.shape))
    changed: Array = (present.view(bits) != wanted.view(bits))[mask.data]
    return changed
