"""Calls of the candidate: what was asked, what came back, and what a failed call amounts to."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.domain.report import Location, Severity, StageName, Tier, Verdict
from app.domain.task import TaskBundle, Workload
from workers.judge.answers import Draw, Gradients
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised
from workers.judge.notebook import Notebook
from workers.judge.received import Received, Room
from workers.judge.submission import Submission
from workers.wire import storage
from workers.wire.values import NotAValue

# Two fills of fresh memory; no honest result holds the first byte everywhere and then the second.
POISON_A, POISON_B = 0xFE, 0x41
GRACE_SECONDS = 3.0
PASSES = 6  # two forward and two backward passes; a backward one takes about twice as long
# An answer may be larger than the right one (a wider dtype, a strided view of something), but not at will.
ROOM_FACTOR, ROOM_BYTES, ROOM_STORAGES = 4, 16 << 20, 16


@dataclass
class Returned:
    """One call that came back.  `outputs` are immutable; `seconds` is the judge's own clock, a bound from outside."""

    outputs: Received
    facts: dict[str, Any]
    seconds: float

    @property
    def events(self) -> dict[str, Any]:
        events = self.facts.get("events")
        return events if isinstance(events, dict) else {}

    def launches(self) -> list[dict[str, Any]]:
        """Launches that ran; one that a compiler or the device refused is none."""
        return [launch for launch in self._launches() if not launch.get("failed")]

    def failed_launches(self) -> list[dict[str, Any]]:
        return [launch for launch in self._launches() if launch.get("failed")]

    def operators(self) -> dict[str, int]:
        """Library operators that compute, with their counts; known of traced calls only."""
        return _numbers(self.facts.get("operators"))

    def operator_elements(self) -> dict[str, int]:
        """The same with the elements of the largest floating tensor of each call, added up."""
        return _numbers(self.facts.get("operator_elements"))

    def _launches(self) -> list[dict[str, Any]]:
        return [launch for launch in _items(self.events.get("launches")) if isinstance(launch, dict)]


class NotRun(Exception):
    """The call gave no result, and it has been noted.

    `measured` is False where nothing can be said against the kernel, `fatal` True where the process is
    gone, `compiler` True where a just-in-time compiler refused a kernel.
    """

    def __init__(self, reason: str, *, measured: bool, fatal: bool, compiler: bool = False) -> None:
        super().__init__(reason)
        self.measured, self.fatal, self.compiler = measured, fatal, compiler


class Caller:
    """Calls one loaded candidate process and notes what goes wrong."""

    def __init__(self, process: ForeignProcess, bundle: TaskBundle, in_place: list[int], notebook: Notebook) -> None:
        self.process, self.bundle, self.in_place, self.notebook = process, bundle, in_place, notebook
        self.rooms: dict[str, Room] = {}

    def load(self, submission: Submission) -> dict[str, Any]:
        """Import the submission; raises `NotRun` when it does not load."""
        try:
            facts = self.process.ask(
                "load",
                timeout_s=IMPORT_SECONDS,
                framework=submission.framework,
                main=submission.main,
                entry=self.bundle.spec.entry,
            )
        except Raised as raised:
            raise self._not_loaded(raised) from raised
        return facts

    def call(  # noqa: PLR0913 - each names one way in which calls differ
        self, workload: Workload, draw: Draw, *, slot: str, poison: int = POISON_A, refill: str | None = None,
        trace: bool = False, skip_launches: bool = False, watch: bool = False, hollow: tuple[str, ...] = (),
        hollow_factor: float = 0.0, capture: dict[str, Any] | None = None, note: bool = True,
        limit_s: float | None = None,
    ) -> Returned:  # fmt: skip
        """One call on `draw`'s inputs; raises `NotRun` when nothing comes back that can be judged.

        `refill` names an earlier call whose storages get the new values, so addresses stay the same;
        `skip_launches` turns submitted kernels into no-ops, `hollow` multiplies the results of library operators by
        `hollow_factor`, `capture` asks for those results in place of the outputs (of `operators`, as large as one of
        `sizes`, the last few), `watch` looks for races; `limit_s` is a shorter limit than the task's.
        """
        limit = limit_s or self.bundle.spec.limits.seconds
        self.rooms[slot] = _room(draw.native)
        with self._noted(workload, note):
            if draw.state is not None:
                self._build(workload, draw, slot, refill)
            start = time.monotonic()
            message, fds = self.process.fetch(
                "call", draw.inputs.fds, timeout_s=limit + GRACE_SECONDS, inputs=draw.inputs.to_message(), slot=slot,
                refill=refill, in_place=self.in_place, poison=poison, seed=draw.call_seed, trace=trace,
                skip_launches=skip_launches, watch=watch, hollow=hollow, hollow_factor=hollow_factor,
                capture=capture, budget_seconds=limit,
            )  # fmt: skip
            return self._returned(slot, message, fds, time.monotonic() - start)

    def differentiate(self, workload: Workload, draw: Draw, asked: Gradients) -> tuple[Returned, Received]:
        """Outputs and gradients of a forward and a backward pass on `draw`'s inputs; raises as `call` does."""
        limit, slot, cotangents = self.bundle.spec.limits.seconds, "gradients", asked.draw.inputs
        self.rooms[slot] = _room(draw.native)
        with self._noted(workload, note=True):
            if draw.state is not None:
                self._build(workload, draw, slot, None)
            start = time.monotonic()
            message, fds = self.process.fetch(
                "gradients", [*draw.inputs.fds, *cotangents.fds], timeout_s=PASSES * limit + GRACE_SECONDS, slot=slot,
                inputs=draw.inputs.to_message(), cotangents=cotangents.to_message(), wrt=asked.positions,
                in_place=self.in_place, seed=draw.call_seed, budget_seconds=PASSES * limit,
            )  # fmt: skip
            seconds, count = time.monotonic() - start, _storages(message.get("outputs"))
            first, second = fds[:count], fds[count:]
            try:
                returned = self._returned(slot, message, first, seconds)
            except BaseException:
                storage.close_all(second)
                raise
            return returned, Received.of(_table(message.get("gradients")), second, _room(asked.draw.native))

    @contextlib.contextmanager
    def _noted(self, workload: Workload, note: bool) -> Iterator[None]:
        """Whatever a call fails with, written down and raised as `NotRun`."""
        try:
            yield
        except Raised as raised:
            raise self._failed(raised, workload, note) from raised
        except NotAValue as error:
            raise self._unusable(str(error), workload, note) from error
        except _Cannot as cannot:
            raise self._cannot(cannot.facts, workload, note) from cannot
        except _Mismatch as mismatch:
            raise self._mismatched(str(mismatch), workload, note) from mismatch

    def _build(self, workload: Workload, draw: Draw, slot: str, refill: str | None) -> None:
        """Have the submission build its class with the draw's weights; raises `_Mismatch` where they do not fit.

        Every call gets a module of its own, so that none sees what an earlier one left in it.  Only with new values
        in the same memory the weights are renewed in place too, unless the task lets submissions keep what they
        make of weights.
        """
        assert draw.state is not None
        keeps_weights, seconds = self.bundle.spec.policy.caching == "weights", self.bundle.spec.limits.seconds
        told = self.process.ask(
            "build", draw.state.fds, timeout_s=seconds + IMPORT_SECONDS, state=draw.state.to_message(), slot=slot,
            idle=draw.idle_weights,
            reload=None if keeps_weights else refill, seed=draw.call_seed, budget_seconds=seconds,
        )  # fmt: skip
        if {"too_slow", "unsupported"} & told.keys():
            raise _Cannot(told)
        if told.get("mismatch"):
            raise _Mismatch(told["mismatch"])
        if told.get("matched") == "order":
            self.notebook.not_checked.append(
                f"that the weights of `{workload.name}` went where they belong: their names differ, so they were"
                " loaded by order"
            )
        if slot == "first":
            self._note_left_out(sorted({*told.get("left_out", [])} & {*draw.idle_weights}), workload)

    def _note_left_out(self, names: list[str], workload: Workload) -> None:
        if names:
            self.notebook.note(
                "task.idle_state_left_out", Severity.INFO, StageName.CORRECTNESS,
                f"what was built for `{workload.name}` has no place for {', '.join(names[:6])}; no answer of the"
                " reference depends on it, so everything that counts was loaded",
                workload=workload.name, evidence={"left_out": names},
            )  # fmt: skip

    def _mismatched(self, reason: str, workload: Workload, note: bool) -> NotRun:
        if note:
            self.notebook.note(
                "task.state_mismatch", Severity.WARNING, StageName.CORRECTNESS,
                f"the task's weights do not fit what was built for `{workload.name}`: {reason}",
                verdict=Verdict.INCONCLUSIVE, workload=workload.name,
            )  # fmt: skip
        return NotRun(f"the weights do not fit: {reason}", measured=False, fatal=False)

    def again(self, slot: str, wait_seconds: float) -> Returned | None:
        """An earlier call's outputs, and what became of its inputs, as they are now; None when they cannot be read."""
        try:
            message, fds = self.process.fetch(
                "again", slot=slot, wait_seconds=wait_seconds, timeout_s=wait_seconds + 30
            )
            return Returned(Received.of(message.get("outputs", {}), fds, self.rooms[slot]), message, 0.0)
        except (Raised, NotAValue):
            return None

    def _returned(self, slot: str, message: dict[str, Any], fds: list[int], seconds: float) -> Returned:
        if {"too_slow", "unsupported", "not_a_value"} & message.keys():
            storage.close_all(fds)
            if "not_a_value" in message:
                raise NotAValue(str(message["not_a_value"])[:300])
            raise _Cannot(message)
        returned = Returned(Received.of(message.get("outputs", {}), fds, self.rooms[slot]), message, seconds)
        if stopped := _table(returned.events.get("stopped")):
            # The interpreter gave up and the submission caught it: what came back is not what a device would give.
            returned.outputs.close()
            raise _Cannot({str(stopped.get("kind")): stopped})
        return returned

    def _cannot(self, facts: dict[str, Any], workload: Workload, note: bool) -> NotRun:
        if isinstance(slow := facts.get("too_slow"), dict):
            reason = f"needs a device: interpreting it would take about {_number(slow.get('estimate_seconds')):.0f} s"
            code, evidence, location = "runtime.needs_device", slow, None
        else:
            told = _table(facts.get("unsupported"))
            reason = f"cannot be interpreted here: {str(told.get('reason', ''))[:300]}"
            code, evidence, location = "compile.unsupported_here", told, _location(told.get("location"))
        if note:
            self.notebook.note(
                code, Severity.INFO, StageName.CORRECTNESS, f"`{workload.name}` {reason}",
                verdict=None if workload.drawn else Verdict.INCONCLUSIVE, workload=workload.name, evidence=evidence,
                location=location,
            )  # fmt: skip
        return NotRun(reason, measured=False, fatal=False)

    def _not_loaded(self, raised: Raised) -> NotRun:
        bases = set(raised.facts.get("bases", ()))
        does_not_compile = bases & {"SyntaxError", "ImportError", "CompilationError", "NoEntry"}
        code = "compile.no_entry" if "NoEntry" in bases else "compile.error"
        if does_not_compile:
            self._note(code, self.notebook.loading_stage(), raised, Verdict.COMPILE_ERROR, None)
        else:
            self._failed(raised, None, note=True, stage=self.notebook.loading_stage())
        return NotRun(raised.sentence, measured=True, fatal=True)

    def _failed(
        self, raised: Raised, workload: Workload | None, note: bool, stage: StageName = StageName.CORRECTNESS
    ) -> NotRun:
        code, verdict = _FAILURES.get(raised.kind, ("runtime.crash", Verdict.RUNTIME_ERROR))
        if note:
            self._note(code, stage, raised, verdict, workload)
            if raised.facts.get("forged"):
                self._note("integrity.forged_result", StageName.INTEGRITY, raised, Verdict.SUSPECT, workload, Tier.HARD)
            if raised.kind == "exit" or "SystemExit" in raised.facts.get("bases", ()):
                self._note("integrity.process_exit", StageName.INTEGRITY, raised, None, workload, Tier.SUPPORT)
        just_in_time = raised.kind == "exception" and "CompilationError" in raised.facts.get("bases", ())
        return NotRun(raised.sentence, measured=True, fatal=raised.ended is not None, compiler=just_in_time)

    def _note(
        self,
        code: str,
        stage: StageName,
        raised: Raised,
        verdict: Verdict | None,
        workload: Workload | None,
        tier: Tier | None = None,
    ) -> None:
        where = f" on `{workload.name}`" if workload else " while loading"
        facts = raised.facts
        self.notebook.note(
            code, Severity.ERROR, stage, f"{raised.sentence}{where}", verdict=verdict, tier=tier,
            workload=workload.name if workload else None, location=_location(facts),
            evidence={"traceback": facts.get("traceback", ""), "ended": raised.kind},
        )  # fmt: skip

    def _unusable(self, reason: str, workload: Workload, note: bool) -> NotRun:
        if note:
            self.notebook.note(
                "numerics.wrong_shape", Severity.ERROR, StageName.CORRECTNESS,
                f"what came back on `{workload.name}` is no output: {reason}",
                verdict=Verdict.WRONG_SHAPE, workload=workload.name,
            )  # fmt: skip
        return NotRun(reason, measured=True, fatal=False)


def _storages(packed: Any) -> int:
    """How many descriptors belong to a packed value; whether they do is checked later."""
    storages = packed.get("storages") if isinstance(packed, dict) else None
    return len(storages) if isinstance(storages, list) else 0


def _room(expected: Received) -> Room:
    """What the answer to a call may hold, given the reference's."""
    size = max(expected.total_bytes(), sum(leaf.array.nbytes for leaf in expected.leaves()))
    return Room(total_bytes=ROOM_BYTES + ROOM_FACTOR * size, storages=ROOM_STORAGES + len(expected.fds))


class _Mismatch(Exception):
    """The weights fit neither by name nor by order."""


class _Cannot(Exception):
    def __init__(self, facts: dict[str, Any]) -> None:
        super().__init__()
        self.facts = facts


_FAILURES = {
    "time": ("runtime.time_limit", Verdict.TIME_LIMIT),
    "memory": ("runtime.memory_limit", Verdict.MEMORY_LIMIT),
    "output": ("runtime.output_limit", Verdict.RUNTIME_ERROR),
}


def _location(told: Any) -> Location | None:
    if not isinstance(told, dict) or not isinstance(told.get("file"), str):
        return None
    line = told.get("line")
    return Location(told["file"].removeprefix("/submission/")[:300], line if isinstance(line, int) else None)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _numbers(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {str(name)[:80]: number for name, number in value.items() if isinstance(number, int)}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
