"""Judges the addresses of one launch and counts what it saw per kernel and line."""

from __future__ import annotations

from typing import Any

import numpy as np

from .formats import Array
from .location import current_location
from .memory import Access, Extent, KnownMemory
from .moves import Movement
from .races import RaceDetector
from .records import Launch, Observation, Unsupported

_MOST_POLLS = 5000
_PAST_VIEW = "runtime.reads_past_view"  # stores too: the evidence names the access


class ObservationLog:
    """Observations of a call, one per code, kernel, line and argument, with running counts."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self._by_key: dict[tuple[Any, ...], Observation] = {}

    def clear(self) -> None:
        """Forgets everything; a new list, so that a copy handed out stays as it was."""
        self.observations = []
        self._by_key = {}

    def add(self, key: tuple[Any, ...], observation: Observation, lanes: int) -> None:
        """Counts one more occurrence; the first one's details are kept."""
        seen = self._by_key.setdefault((observation.code, *key), observation)
        if seen is observation:
            self.observations.append(observation)
            observation.evidence |= {"occurrences": 0, "lanes": 0}
        seen.evidence["occurrences"] += 1
        seen.evidence["lanes"] += lanes


class LaunchGuard:
    """Admits or masks the lanes of one launch's accesses."""

    def __init__(
        self, launch: Launch, memory: KnownMemory, log: ObservationLog, races: RaceDetector | None,
        moves: Movement | None = None,
    ) -> None:  # fmt: skip
        self._launch = launch
        self._memory = memory
        self._log = log
        self._races = races
        self._moves = moves
        self.program: tuple[int, int, int] = (0, 0, 0)
        self.atomics = 0
        self._learned = False
        self._polled = 0
        self._polled_place: tuple[tuple[int, int, int], int] | None = None

    def admit(self, access: Access) -> Array:
        """The lanes that may touch memory; what is wrong with the others goes to the log."""
        self._note_waiting(access)
        count = access.addresses.size * access.size
        if access.kind == "load":
            self._launch.bytes_read += count
        else:
            self._launch.bytes_written += count
            self.atomics += access.kind == "atomic"
            if access.kind == "atomic" and self._moves is not None:
                self._moves.compute()
        extent = self._extent(access)
        if (
            extent is not None
            and extent.low <= int(access.addresses.min())
            and (int(access.addresses.max()) + access.size <= extent.high)
        ):
            active = access.active
        else:
            active = self._sort_lanes(access, extent)
        if self._races is not None:
            self._note_race(self._races, access, active)
        return active

    def _note_waiting(self, access: Access) -> None:
        """A program that reads one place over and over waits for another, which would come after it here."""
        polls = access.addresses.size == 1 and access.kind != "store"
        place = (self.program, int(access.addresses[0])) if polls else None
        self._polled = self._polled + 1 if place is not None and place == self._polled_place else 0
        self._polled_place = place
        last = tuple(size - 1 for size in self._launch.grid)
        if self._polled > _MOST_POLLS and self.program != last:
            raise Unsupported("a program waits for another program of its launch; here they run one after another")

    def before_store(self, pointers: Any, value: Any, mask: Any) -> None:
        """Lets the race detector compare a store with what is there, before it happens."""
        if self._moves is not None:
            self._moves.store(self.program, value, mask)
        if self._races is not None:
            self._races.store(self._launch, self._log, self.program, pointers, value, mask)

    def after_load(self, loaded: Any) -> None:
        """Remembers what a program was given, where somebody asks whether the kernel computes."""
        if self._moves is not None:
            self._moves.load(self.program, loaded)

    def _extent(self, access: Access) -> Extent | None:
        origin = access.pointers.origin
        return None if origin is None else self._memory.arguments[origin]

    def _sort_lanes(self, access: Access, extent: Extent | None) -> Array:
        ends = access.addresses + np.uint64(access.size)
        if extent is None:
            good = self._inside_any(access)
        else:
            good = (access.addresses >= extent.storage_low) & (ends <= extent.storage_high)
            past_view = good & ((access.addresses < extent.low) | (ends > extent.high))
            if past_view.any():
                self._report(_PAST_VIEW, access, extent, access.addresses[past_view])
        if good.all():
            return access.active
        self._report("runtime.out_of_bounds", access, extent, access.addresses[~good])
        admitted = access.active.copy()
        admitted[access.active] = good
        return admitted

    def _inside_any(self, access: Access) -> Array:
        good = self._memory.inside_any(access.addresses, access.size)
        if not good.all() and not self._learned:
            self._learned = True
            self._memory.learn_live_tensors()
            good = self._memory.inside_any(access.addresses, access.size)
        return good

    def _report(self, code: str, access: Access, extent: Extent | None, bad: Array) -> None:
        where = current_location() or {"file": None, "line": None}
        first = int(bad[0])
        near = extent or self._memory.nearest_argument(first)
        evidence = {
            "kernel": self._launch.kernel, "access": access.kind, "access_bytes": access.size,
            "argument": near.name if near else None, "argument_known": extent is not None,
            "tensor_bytes": near.high - near.low if near else None,
            "byte_offset": first - near.low if near else None, "program": list(self.program),
        }  # fmt: skip
        message = _describe(code, evidence)
        wrap = access.pointers.wrap
        if wrap is not None and code == "runtime.out_of_bounds":
            code = "runtime.index_overflow"
            evidence |= {"access_line": where["line"], "operation": wrap.operation, "exact_value": wrap.exact_value}
            message = f"32-bit {wrap.operation} wrapped (exact value {wrap.exact_value}); then {message}"
            where = {"file": wrap.file, "line": wrap.line}
        observation = Observation(code, message, where["file"], where["line"], evidence)
        self._log.add((self._launch.kernel, where["file"], where["line"], evidence["argument"]), observation, bad.size)

    def _note_race(self, races: RaceDetector, access: Access, active: Array) -> None:
        if access.kind != "store":
            races.touch(self._launch, self._log, self.program, access, active)


def _describe(code: str, evidence: dict[str, Any]) -> str:
    place = "past its view, within its storage" if code == _PAST_VIEW else "outside its storage"
    return (
        f"{evidence['kernel']}: {evidence['access']} of {evidence['access_bytes']} bytes at byte "
        f"{evidence['byte_offset']} of {evidence['argument']} ({evidence['tensor_bytes']} bytes), {place}"
    )
