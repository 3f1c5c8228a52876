"""One workload at a time: call, compare, call again on other memory and other values, compare again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.domain.report import (
    OutputResult,
    Severity,
    StageName,
    StageStatus,
    Tier,
    Verdict,
    WorkloadResult,
)
from app.domain.task import TaskBundle, Workload
from workers.judge import numerics, unusual
from workers.judge.answers import LARGE_BYTES, Answers, Draw, output_names, tolerance_of
from workers.judge.calls import POISON_A, POISON_B, Caller, NotRun, Returned
from workers.judge.downgrade import note_downgrade
from workers.judge.health import largest_difference
from workers.judge.kinds import as_numbers, is_other_dtype
from workers.judge.notebook import Notebook
from workers.judge.received import Leaf, Received

# A call this long is not repeated: the probes that need repeats are then listed as not checked.
REPEAT_UP_TO_FRACTION = 0.3
WATCH_UP_TO_FRACTION = 0.03
AS_GOOD = 4.0  # times the reference's own worst error, where nothing else can decide
LATE_WRITE_WAIT_SECONDS = 0.2


@dataclass
class WorkloadRun:
    """Everything that one workload's calls returned, for the probes and checks that come after.

    `differentiated`, the call with a backward pass, is none of `calls`: what is launched there is not outputs' work.
    `first_ok`: was the first call right, whatever came of the later ones?  `ok`: were all?
    `repeats_itself`: did two calls on the same values return the same?  None where there were not two.
    """

    workload: Workload
    first: Returned | None = None
    second: Returned | None = None
    third: Returned | None = None
    later: Returned | None = None
    watched: Returned | None = None
    differentiated: Returned | None = None
    first_ok: bool = False
    ok: bool = False
    repeats_itself: bool | None = None
    to_check: list[tuple[Draw, Received]] = field(default_factory=list)

    def calls(self) -> list[Returned]:
        return [c for c in (self.first, self.second, self.third, self.later, self.watched) if c is not None]

    def launches(self) -> dict[str, list[dict[str, Any]]]:
        """What was launched, the refused launches too, by call."""
        calls = {"first": self.first, "second": self.second, "third": self.third, "watched": self.watched}
        return {name: [*c.launches(), *c.failed_launches()] for name, c in calls.items() if c is not None}


class Correctness:
    """Runs and judges workloads; every conclusion goes into the notebook.

    `granted`: whether the contract names the families of values that are compared.
    """

    def __init__(self, bundle: TaskBundle, answers: Answers, notebook: Notebook, *, granted: bool = True) -> None:
        self.bundle, self.answers, self.notebook, self.granted = bundle, answers, notebook, granted

    def judge(self, caller: Caller, workload: Workload) -> WorkloadRun:
        """All calls of one workload; raises `NotRun` (already noted) when the first gives no result."""
        run = WorkloadRun(workload)
        draws = self.answers.draws[workload.name]
        run.first = caller.call(workload, draws[0], slot="first", poison=POISON_A)
        run.ok = run.first_ok = self.compare(run, run.first, draws[0], _label(workload, draws[0]))
        if run.first.facts.get("threads") or not run.ok:
            self._look_again(caller, run)
        if draws[0].inputs.total_bytes() > LARGE_BYTES:
            caller.process.ask("forget", timeout_s=30)
        steps = (self._repeat, self._refill)
        for step in steps if draws[0].seed % 2 else reversed(steps):  # nobody can count on a fourth call being traced
            step(caller, run, draws)
        if run.second is not None:
            self._watch(caller, run, draws[0])
        return run

    def _repeat(self, caller: Caller, run: WorkloadRun, draws: list[Draw]) -> None:
        """The same values in fresh memory, filled otherwise."""
        assert run.first is not None
        name, seconds = run.workload.name, run.first.seconds
        if seconds > REPEAT_UP_TO_FRACTION * self.bundle.spec.limits.seconds:
            self.notebook.not_checked.append(f"repeats of `{name}`: one call takes {seconds:.1f} s")
            return
        run.second = caller.call(run.workload, draws[0], slot="second", poison=POISON_B, trace=True)
        repeat_ok = self.compare(run, run.second, draws[0], "repeat")
        self._compare_repeats(run, repeat_ok)
        run.ok = run.ok and repeat_ok

    def _refill(self, caller: Caller, run: WorkloadRun, draws: list[Draw]) -> None:
        """New values in the same memory.  Slow calls are asked this too: a long first one must not buy out of it."""
        if len(draws) == 1:
            return
        run.third = caller.call(run.workload, draws[1], slot="third", refill="first", poison=POISON_A)
        refilled_ok = self.compare(run, run.third, draws[1], "new values, same memory")
        self._find_cached(run, refilled_ok)
        run.ok = run.ok and self._kept_result(caller, run, draws[0]) and refilled_ok

    def _watch(self, caller: Caller, run: WorkloadRun, draw: Draw) -> None:
        """Once more with an eye on races between programs, which is several times slower."""
        assert run.first is not None
        if not self.notebook.wants(StageName.INTEGRITY, StageName.SANITIZE):
            return
        if not run.first.launches() or run.first.seconds > WATCH_UP_TO_FRACTION * self.bundle.spec.limits.seconds:
            return
        try:
            run.watched = caller.call(run.workload, draw, slot="watched", poison=POISON_A, watch=True, note=False)
        except NotRun as error:
            if error.fatal:
                raise
            self.notebook.not_checked.append(f"races on `{run.workload.name}`: {error}")

    def compare(self, run: WorkloadRun, call: Returned, draw: Draw, family: str) -> bool:
        """Judge one call's outputs and write down the result; True when nothing is wrong."""
        workload = run.workload
        got, expected, wanted = call.outputs.leaves(like=draw.native), draw.expected(), draw.native.leaves()
        self._note_lazy(got, workload)
        names = output_names(len(expected))
        results, ok = [], True
        if len(got) != len(expected):
            self._wrong(
                "numerics.wrong_shape", Verdict.WRONG_SHAPE, workload,
                f"{len(got)} outputs came back where the reference returns {len(expected)}",
            )  # fmt: skip
            ok = False
        else:
            matched = zip(names, got, expected, (leaf.kind for leaf in wanted), strict=True)
            results = [self._compare_output(n, g, e, kind, workload, draw.family) for n, g, e, kind in matched]
            ok = all(result.ok for result in results)
        if not ok:
            self.notebook.keep_outputs(workload.name, family, got, expected, results)
        if self.answers.has_check and ok:
            run.to_check.append((draw, call.outputs))
        status = StageStatus.PASSED if ok else StageStatus.FAILED
        seconds = round(call.seconds, 4)
        self.notebook.workloads.append(
            WorkloadResult(workload.name, family, status, tuple(results), seconds, None, workload.hidden, 1)
        )
        return ok

    def _compare_output(
        self, name: str, got: Leaf, expected: numerics.Expected, kind: str, workload: Workload, family: str
    ) -> OutputResult:
        """`kind` is what the reference returned: torch, numpy, jax or python; `family` that of the inputs' values."""
        got, expected = as_numbers(got, expected, kind)
        want = expected.native
        result = OutputResult(
            name, got.array.shape, got.array.dtype.name, False, "shape", int(want.size),
            expected_shape=want.shape, expected_dtype=want.dtype.name,
        )  # fmt: skip
        if got.array.shape != want.shape:
            message = f"`{name}` has shape {_shape(got.array)}; the reference returns {_shape(want)}"
            self._wrong("numerics.wrong_shape", Verdict.WRONG_SHAPE, workload, message)
            return result
        if got.kind == "numpy" and kind == "torch":
            message = f"`{name}` is a NumPy array; the reference returns a torch tensor"
            self._wrong("numerics.wrong_dtype", Verdict.WRONG_DTYPE, workload, message)
            return dataclasses.replace(result, decided_by="dtype")
        if is_other_dtype(got, want):
            message = f"`{name}` is {got.array.dtype.name}; the reference returns {want.dtype.name}"
            self._wrong("numerics.wrong_dtype", Verdict.WRONG_DTYPE, workload, message)
            return dataclasses.replace(result, decided_by="dtype")
        if self.answers.has_check:
            return dataclasses.replace(result, ok=True, decided_by="check (task-defined)")
        self._note_layout(name, got, want, workload)
        array = got.array.astype(want.dtype) if got.kind == "python" else got.array
        compared = (
            self._compare_unusual(name, array, expected, workload, family)
            if workload.drawn
            else self.compare_values(name, array, expected)
        )
        if not compared.ok:
            self._note_values(compared, workload)
        elif not workload.drawn and not self._tf32_granted(want):
            note_downgrade(compared, workload, self.notebook)
        return dataclasses.replace(compared, expected_shape=want.shape, expected_dtype=want.dtype.name)

    def _compare_unusual(
        self, name: str, array: np.ndarray, expected: numerics.Expected, workload: Workload, family: str
    ) -> OutputResult:
        tolerance, model = tolerance_of(self.bundle, name, array.dtype), self.bundle.spec.tolerance.accumulate
        u_inputs = numerics.formats.TF32.unit_roundoff if self._tf32_granted(array) else 0.0
        vacuous, may_flush = self.answers.vacuous.get(name, False), family != "subnormal" or not self.granted
        rules = unusual.Rules(tolerance, vacuous, model, family, u_inputs, may_flush)
        compared = unusual.compare(name, array, expected, rules)
        wrong = unusual.inexact(array, expected, model) if compared.ok and family == "integers" else None
        if wrong:
            self.notebook.note(
                "numerics.inexact_on_integers", Severity.INFO, StageName.CORRECTNESS,
                f"on integers so small that every sum is exact, {wrong} of {array.size} elements of `{name}` on"
                f" `{workload.name}` are within the tolerance, but not exact",
                workload=workload.name, evidence={"output": name, "inexact": wrong},
            )  # fmt: skip
        return compared

    def compare_values(self, name: str, array: np.ndarray, expected: numerics.Expected) -> OutputResult:
        """By the task's tolerance; where that is vacuous by the budget, or by what the reference itself misses."""
        tolerance, model = tolerance_of(self.bundle, name, array.dtype), self.bundle.spec.tolerance.accumulate
        vacuous = self.answers.vacuous.get(name, False)
        compared = numerics.compare(name, array, expected, tolerance, vacuous=vacuous, accumulate=model)
        if not vacuous or expected.oracle is None:
            return compared
        if (
            compared.ok
            and not numerics.compare(name, np.zeros_like(array), expected, tolerance, vacuous=True, accumulate=model).ok
        ):
            return compared
        # Where terms cancel, the budget is too narrow, or so wide that zeros fit in:
        # the reference's own worst error decides.
        own = largest_difference(expected.native, expected.oracle)
        again = numerics.compare(name, array, expected, numerics.Tolerance(AS_GOOD * own, 0.0, None), accumulate=model)
        return dataclasses.replace(again, decided_by="reference_error") if again.ok or compared.ok else compared

    def _note_values(self, result: OutputResult, workload: Workload) -> None:
        worst = result.worst[0] if result.worst else None
        at = (
            f"; the worst is [{', '.join(map(str, worst.index))}]:"
            f" {_number(worst.got)} instead of {_number(worst.want)}"
            if worst
            else ""
        )
        if _are_flushed(result):
            at += "; the worst are subnormal numbers flushed to zero"
        counts = {
            "numerics.nan_mismatch": result.nan_mismatch,
            "numerics.inf_mismatch": result.inf_mismatch,
            "numerics.wrong_values": result.mismatched - result.nan_mismatch - result.inf_mismatch,
        }
        for code, count in counts.items():
            if count > 0:
                message = f"{count} of {result.elements} elements of `{result.name}` on `{workload.name}`{at}"
                evidence = {"output": result.name, "max_ulp": result.max_ulp, "max_abs_error": result.max_abs_error}
                self._wrong(code, Verdict.WRONG_RESULT, workload, message, evidence)

    def _tf32_granted(self, want: np.ndarray) -> bool:
        return want.dtype == np.float32 and self.bundle.spec.policy.tf32 == "allowed"

    def _note_layout(self, name: str, got: Leaf, want: np.ndarray, workload: Workload) -> None:
        if want.flags.c_contiguous and not got.contiguous:
            self.notebook.note(
                "numerics.wrong_layout", Severity.WARNING, StageName.CORRECTNESS,
                f"`{name}` on `{workload.name}` is not contiguous; the reference's is",
                workload=workload.name, evidence={"strides_bytes": list(got.array.strides)},
            )  # fmt: skip

    def _note_lazy(self, got: Iterable[Leaf], workload: Workload) -> None:
        for leaf in got:
            if leaf.type and leaf.kind == "torch":
                self.notebook.note(
                    "integrity.lazy_output", Severity.ERROR, StageName.INTEGRITY,
                    f"`{workload.name}` returned a {leaf.type} instead of a plain tensor",
                    verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=workload.name,
                )  # fmt: skip

    def _compare_repeats(self, run: WorkloadRun, repeat_ok: bool) -> None:
        """Two calls on the same values, over differently filled memory."""
        assert run.first is not None and run.second is not None
        firsts, seconds = run.first.outputs.leaves(), run.second.outputs.leaves()
        alike = [_form(x) for x in firsts] == [_form(x) for x in seconds]
        pairs = zip(firsts, seconds, strict=False)
        run.repeats_itself = alike and all(numerics.same_values(a.array, b.array) for a, b in pairs)
        if alike:  # whatever it says of the fills
            for name, a, b in zip(output_names(len(firsts)), firsts, seconds, strict=True):
                left = numerics.poison_left(a.array, b.array, POISON_A, POISON_B)
                if len(left):
                    self._note_poison(name, left, a.array, run.workload)
        if run.first_ok and not repeat_ok:
            self._note_state("integrity.later_call_differs", "right on the first call and wrong on the second", run)
        elif repeat_ok and not run.first_ok:
            self._note_state("integrity.first_call_differs", "wrong on the first call and right on the second", run)

    def _note_poison(self, name: str, left: np.ndarray, array: np.ndarray, workload: Workload) -> None:
        index = [int(i) for i in np.unravel_index(int(left[0]), array.shape)]
        self.notebook.note(
            "integrity.uninitialised_output", Severity.ERROR, StageName.INTEGRITY,
            f"{len(left)} of {array.size} elements of `{name}` on `{workload.name}` were never written;"
            f" the first is {index}",
            verdict=Verdict.WRONG_RESULT, tier=Tier.SUPPORT, workload=workload.name,
            evidence={"unwritten": len(left), "first_index": index},
        )  # fmt: skip

    def _note_state(self, code: str, what: str, run: WorkloadRun) -> None:
        self.notebook.note(
            code, Severity.ERROR, StageName.INTEGRITY,
            f"`{run.workload.name}` is {what}, with the same values in fresh memory",
            tier=Tier.SUPPORT, workload=run.workload.name,
        )  # fmt: skip

    def _find_cached(self, run: WorkloadRun, refilled_ok: bool) -> None:
        """New values in the storages of the first call: a result that did not move was looked up."""
        assert run.first is not None and run.third is not None
        if refilled_ok or not run.ok:
            return
        first, third = run.first.outputs.leaves(), run.third.outputs.leaves()
        stale = [numerics.same_bits(a.array, b.array) for a, b in zip(first, third, strict=False) if a.array.size]
        if stale and all(stale):
            self.notebook.note(
                "integrity.output_cache", Severity.ERROR, StageName.INTEGRITY,
                f"`{run.workload.name}` returned the earlier result although the same memory held new values",
                tier=Tier.SUPPORT, workload=run.workload.name,
            )  # fmt: skip

    def _look_again(self, caller: Caller, run: WorkloadRun) -> None:
        """Something still runs, or the outputs are wrong: are they being written after the return?"""
        assert run.first is not None
        if names := run.first.facts.get("threads"):
            self.notebook.note(
                "integrity.spawns_thread", Severity.WARNING, StageName.INTEGRITY,
                f"`{run.workload.name}` returned with {len(names)} of its own threads running",
                tier=Tier.SUPPORT, workload=run.workload.name, evidence={"threads": [str(n)[:80] for n in names][:20]},
            )  # fmt: skip
        run.later = caller.again("first", LATE_WRITE_WAIT_SECONDS)
        if run.later is not None and _changed(run.first, run.later):
            self.notebook.note(
                "integrity.late_write", Severity.ERROR, StageName.INTEGRITY,
                f"the outputs of `{run.workload.name}` changed after the call had returned",
                verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=run.workload.name,
            )  # fmt: skip

    def _kept_result(self, caller: Caller, run: WorkloadRun, draw: Draw) -> bool:
        """Does the first result still hold, now that its inputs were refilled and the kernel called again?"""
        assert run.first is not None and run.third is not None
        if self.bundle.spec.policy.in_place or draw.native.shares_inputs:
            return True
        kept = caller.again("first", 0.0)
        if kept is None or not _changed(run.later or run.first, kept):
            return True
        self.notebook.note(
            "integrity.output_aliased", Severity.ERROR, StageName.INTEGRITY,
            f"the first result on `{run.workload.name}` changed when the inputs were refilled and the kernel was called"
            " again: it lies in memory that is not its own",
            verdict=Verdict.WRONG_RESULT, tier=Tier.SUPPORT, workload=run.workload.name,
        )  # fmt: skip
        return False

    def _wrong(
        self, code: str, verdict: Verdict, workload: Workload, message: str, evidence: dict[str, object] | None = None
    ) -> None:
        self.notebook.note(
            code, Severity.ERROR, StageName.CORRECTNESS, message,
            verdict=verdict, workload=workload.name, evidence=evidence,
        )  # fmt: skip


def _changed(before: Returned, after: Returned) -> bool:
    pairs = zip(before.outputs.leaves(), after.outputs.leaves(), strict=False)
    return any(not numerics.same_bits(a.array, b.array) for a, b in pairs)


def _label(workload: Workload, draw: Draw) -> str:
    """What a workload's first call is called in the report."""
    return (draw.family or "drawn from the contract") if workload.drawn else "task"


def _form(leaf: Leaf) -> tuple[tuple[int, ...], str]:
    return leaf.array.shape, leaf.array.dtype.name


def not_run(workload: Workload, error: NotRun, notebook: Notebook) -> None:
    """Write down a workload whose first call gave no result."""
    status = StageStatus.FAILED if error.measured else StageStatus.NOT_MEASURED
    notebook.workloads.append(
        WorkloadResult(workload.name, "task", status, reason=str(error)[:300], hidden=workload.hidden)
    )


def _shape(array: np.ndarray) -> str:
    return "(" + ", ".join(map(str, array.shape)) + ")"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _are_flushed(result: OutputResult) -> bool:
    """Whether the worst elements are zeros, and right where subnormal numbers count as zeros."""
    pairs = [(worst.got, worst.want) for worst in result.worst[: result.mismatched]]
    if not pairs or not all(got == 0.0 and isinstance(want, float) for got, want in pairs):
        return False
    got, want = np.array(pairs, np.float64).T
    return bool((numerics.ulp_distance(got, want, result.dtype, flush_to_zero=True) == 0).all())
