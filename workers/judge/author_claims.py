"""An author's claims, settled by what this evaluation measured and by nothing else.

A claim is contradicted only where a measurement cannot be squared with it: not by rounding of the figure, not by
the reference's own error, not by a choice of what the error is counted from.  What lies between is not measured,
and so is whatever needs a device or belongs to a stage that did not run.  Only workloads that the author may see
count, so that claims cannot be used to sound out the hidden ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import ml_dtypes

from app.domain.cells import cell_id, run_keys
from app.domain.claims import ERRORS, FILE, FREE, NEED_DEVICE, ClaimsError, Stated, parse
from app.domain.report import Claim, OutputResult, Report, StageStatus, Verdict, WorkloadResult
from app.domain.task import Axis, Workload
from workers.judge import claims as told
from workers.judge.correctness import WorkloadRun
from workers.judge.faults import SubmissionError
from workers.judge.submission import Submission

CONFIRMED, CONTRADICTED, NOT_MEASURED = "confirmed", "contradicted", "not_measured"
NO_DEVICE = "not measured here: no device"
FOR_A_PERSON = "the workbench cannot check this: for a person to judge"
SAME_VALUES = ("task", "repeat", "new values, same memory")
FIRST_CALLS = ("task", "drawn from the contract")
# Multiplications in a host's library may round by where their operands lie in memory; a device's do not.
_HOST_LIBRARY = re.compile(r"mm|mv|dot|matmul|linear|conv|einsum|cdist|attention|fft|linalg")


@dataclass(frozen=True)
class Settled:
    """What came of a claim; `cells` show it."""

    status: str
    reason: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """One compared output of a run that the author may see."""

    cell: str
    run: WorkloadResult
    output: OutputResult

    @property
    def was_compared(self) -> bool:
        """Whether its errors mean anything: shapes agreed, and no check of the task's own stood in their place."""
        return self.output.decided_by not in ("shape", "dtype") and not self.output.decided_by.startswith("check")

    @property
    def specials_wrong(self) -> int:
        """Elements where a NaN or an infinity is missing, or stands in a number's place: their error is no number."""
        return self.output.nan_mismatch + self.output.inf_mismatch


@dataclass(frozen=True)
class Measurements:
    """What the evaluation knows, without the hidden workloads."""

    report: Report
    workloads: Mapping[str, Workload]
    runs: Mapping[str, WorkloadRun]

    def results(self, families: Sequence[str], names: Iterable[str] = ()) -> list[tuple[str, WorkloadResult]]:
        """Key and result of each run; `names` empty: of every workload."""
        wanted = set(names)
        keyed = zip(run_keys(self.report.workloads), self.report.workloads, strict=True)
        return [
            (key, w)
            for key, w in keyed
            if not w.hidden and w.decides and w.family in families and (not wanted or w.name in wanted)
        ]

    def outputs(self, families: Sequence[str], names: Iterable[str] = ()) -> list[Seen]:
        return [
            Seen(cell_id("numerics", key, o.name), w, o) for key, w in self.results(families, names) for o in w.outputs
        ]

    def unmeasured(self, names: Iterable[str]) -> str | None:
        """Why not everything that a claim is about was measured; None where it was."""
        own = [n for n, w in self.workloads.items() if not w.drawn]
        wanted = tuple(names) or tuple(own)
        if unknown := [name for name in wanted if name not in own]:
            return f"the task shows no workload `{unknown[0]}`"
        measured = {w.name for _, w in self.results(("task",)) if w.outputs}
        missing = [name for name in wanted if name not in measured]
        return f"`{missing[0]}` gave no output here" if missing else None

    def cell_of(self, name: str) -> tuple[str, ...]:
        """Where a workload's plain run is shown."""
        return tuple(seen.cell for seen in self.outputs(FIRST_CALLS, [name])[:1])


def stated_in(submission: Submission) -> tuple[Stated, ...]:
    """The claims that came with the source; raises `SubmissionError` for a file that cannot be read."""
    if FILE not in submission.files:
        return ()
    try:
        return parse((submission.root / FILE).read_bytes())
    except ClaimsError as error:
        raise SubmissionError(f"{error}. {error.what_to_do}") from None


def settle(
    stated: Iterable[Stated], report: Report, workloads: Iterable[Workload], runs: Iterable[WorkloadRun]
) -> tuple[Claim, ...]:
    """Each claim with its status.  `workloads` are the task's and those drawn; hidden ones are left aside."""
    measured = Measurements(
        report,
        {w.name: w for w in workloads if not w.hidden and "correctness" in w.uses},
        {run.workload.name: run for run in runs if not run.workload.hidden} if report.workloads else {},
    )
    return tuple(_claim(one, _settled(one, measured)) for one in stated)


def _claim(stated: Stated, settled: Settled) -> Claim:
    text, reason = (told.text(words) for words in (stated.sentence, settled.reason))
    return Claim(text, settled.status, settled.cells, reason, stated.kind not in FREE)


def _settled(stated: Stated, measured: Measurements) -> Settled:
    if stated.kind in FREE:
        return Settled(NOT_MEASURED, FOR_A_PERSON)
    if stated.kind in NEED_DEVICE or "device" in stated.conditions:
        return Settled(NOT_MEASURED, NO_DEVICE)
    if measured.report.verdict is Verdict.INVALID_TASK:
        return Settled(NOT_MEASURED, "the task itself cannot be judged")
    return _JUDGES[stated.kind](stated, measured)


def _error(stated: Stated, measured: Measurements) -> Settled:
    """A bound on the error, over every call on the task's own workloads."""
    seen = measured.outputs(SAME_VALUES, stated.workloads)
    if "output" in stated.conditions:
        seen = [one for one in seen if one.output.name == stated.conditions["output"]]
    compared = [one for one in seen if one.was_compared]
    if not compared:
        return Settled(NOT_MEASURED, "no such output was compared with the expected values")
    worst = max(compared, key=lambda one: (one.output.nan_mismatch + one.output.inf_mismatch, _measured(stated, one)))
    shown = f"{_measured(stated, worst):.3g} on `{worst.run.name}`"
    against = [one for one in compared if _exceeds(stated, one)]
    if against:
        worst = max(
            against, key=lambda one: (one.output.nan_mismatch + one.output.inf_mismatch, _measured(stated, one))
        )
        wrong = worst.output.nan_mismatch + worst.output.inf_mismatch
        what = f"{wrong} NaN or infinite elements are wrong" if wrong else f"measured {_measured(stated, worst):.3g}"
        return Settled(CONTRADICTED, f"{what} on `{worst.run.name}`", (worst.cell,))
    if missing := measured.unmeasured(stated.workloads):
        return Settled(NOT_MEASURED, f"{missing}; measured elsewhere: {shown}", (worst.cell,))
    if len(compared) == len(seen) and all(_holds(stated, one) for one in compared):
        return Settled(CONFIRMED, f"measured {shown}", (worst.cell,))
    return Settled(
        NOT_MEASURED,
        f"measured {shown}: too near to tell, with the reference's own error and the figure's rounding",
        (worst.cell,),
    )


def _exceeds(stated: Stated, seen: Seen) -> bool:
    """Whether the error is above the bound whichever of its meanings the author had in mind."""
    output, against = seen.output, stated.conditions.get("against")
    if seen.specials_wrong:
        return not output.ok
    has_oracle = output.reference_max_ulp is not None
    if not has_oracle and against != "reference" and output.ok:
        return False  # the author may know the exact result; this task does not
    room = _reference_error(stated.kind, output) if has_oracle and against != "exact" else 0.0
    measured = _relative_of_worst(output) if stated.kind == "max_rel_error" else _measured(stated, seen)
    return bool(measured > _rounded_up(stated.value) + room)


def _holds(stated: Stated, seen: Seen) -> bool:
    output, against = seen.output, stated.conditions.get("against")
    has_oracle = output.reference_max_ulp is not None
    if seen.specials_wrong or (against == "exact" and not has_oracle):
        return False
    room = _reference_error(stated.kind, output) if against == "reference" and has_oracle else 0.0
    return bool(_measured(stated, seen) + room <= stated.value)


def _measured(stated: Stated, seen: Seen) -> float:
    return float(getattr(seen.output, stated.kind))


def _rounded_up(value: float) -> float:
    """The largest number that is written as `value`, with as many digits; 0 means 0."""
    digits = Decimal(repr(value))
    return float(digits + Decimal((0, (5,), int(digits.as_tuple().exponent) - 1))) if value else 0.0


def _reference_error(kind: str, output: OutputResult) -> float:
    """No less than the reference's own largest error, in the unit of `kind`."""
    ulps = output.reference_max_ulp or 0.0
    if kind == "max_ulp":
        return ulps
    if kind == "max_rel_error":
        return ulps * _epsilon(output.dtype)
    if output.error_exponent is None or not output.reference_error_histogram:
        return float("inf") if ulps else 0.0
    filled = [place for place, count in enumerate(output.reference_error_histogram[:-1]) if count]
    return 2.0 ** (output.error_exponent + filled[-1]) if filled and ulps else 0.0


def _relative_of_worst(output: OutputResult) -> float:
    """The largest relative error among the worst elements whose value is neither zero nor subnormal."""
    smallest = _smallest_normal(output.dtype)
    errors = [
        abs(w.got - w.want) / abs(w.want)
        for w in output.worst
        if not isinstance(w.got, str) and not isinstance(w.want, str) and abs(w.want) >= smallest
    ]
    return max(errors, default=0.0)


def _epsilon(dtype: str) -> float:
    return float(_finfo(dtype).eps) if _is_real(dtype) else float("inf")


def _smallest_normal(dtype: str) -> float:
    return float(_finfo(dtype).smallest_normal) if _is_real(dtype) else float("inf")


def _finfo(dtype: str) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def _is_real(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def _dtypes(stated: Stated, measured: Measurements) -> Settled:
    """Right on every workload of the dtype, or wrong on all of them: a mixture may have other reasons."""
    cells, missing = [], []
    for dtype in stated.value:
        seen = [s for s in measured.outputs(FIRST_CALLS) if (s.output.expected_dtype or s.output.dtype) == dtype]
        if seen and all(not s.output.ok for s in seen):
            reason = f"every {dtype} output is wrong, first on `{seen[0].run.name}`"
            return Settled(CONTRADICTED, reason, (seen[0].cell,))
        if not seen or any(not s.output.ok or s.run.status is not StageStatus.PASSED for s in seen):
            missing.append(f"{dtype}: {'right on some workloads only' if seen else 'no output here has it'}")
        cells += [s.cell for s in seen[:1]]
    if missing:
        return Settled(NOT_MEASURED, "; ".join(missing), tuple(cells))
    return Settled(CONFIRMED, "right on every workload here whose outputs have them", tuple(cells))


def _shapes(stated: Stated, measured: Measurements) -> Settled:
    """Workloads whose parameters lie in the claimed range, the drawn ones too."""
    axes = {name: Axis(span["min"], span["max"], span.get("multiple_of", 1)) for name, span in stated.value.items()}
    inside = [
        w.name
        for w in measured.workloads.values()
        if all(isinstance(w.params.get(n), int) and axis.holds(w.params[n]) for n, axis in axes.items())
    ]
    seen = measured.outputs(FIRST_CALLS, inside) if inside else []
    wrong = [s for s in seen if not s.output.ok]
    if wrong:
        return Settled(CONTRADICTED, f"`{wrong[0].output.name}` is wrong on `{wrong[0].run.name}`", (wrong[0].cell,))
    results = measured.results(FIRST_CALLS, inside) if inside else []
    if not seen or any(w.status is not StageStatus.PASSED for _, w in results):
        return Settled(NOT_MEASURED, "not every workload in that range was run" if inside else "no workload lies there")
    return Settled(CONFIRMED, f"right on the {len(results)} workloads in that range", tuple(s.cell for s in seen[:2]))


def _deterministic(stated: Stated, measured: Measurements) -> Settled:
    runs = [run for name, run in measured.runs.items() if not stated.workloads or name in stated.workloads]
    for run in runs:
        if run.repeats_itself is False:
            operators = run.second.operators() if run.second else {}
            if any(_HOST_LIBRARY.search(name) for name in operators):
                reason = f"two calls differ on `{run.workload.name}`, which a library of this host may do"
                return Settled(NOT_MEASURED, reason)
            cells = tuple(s.cell for s in measured.outputs(("repeat",), [run.workload.name])[:1])
            return Settled(CONTRADICTED, f"two calls on the same values differ on `{run.workload.name}`", cells)
    own = [run for run in runs if not run.workload.drawn]
    missing = measured.unmeasured(stated.workloads)
    if missing or not own or any(run.repeats_itself is None for run in own):
        return Settled(NOT_MEASURED, missing or "not every workload was called twice")
    cells = measured.cell_of(own[0].workload.name)
    return Settled(CONFIRMED, f"the same values from two calls on {len(own)} workloads, on a CPU", cells)


def _environments(stated: Stated, measured: Measurements) -> Settled:
    builds = {build.environment: (cell_id("build", n), build) for n, build in enumerate(measured.report.builds, 1)}
    known = [(cell, build) for name in stated.value if name in builds for cell, build in [builds[name]]]
    if refused := [(cell, build) for cell, build in known if not build.ok]:
        return Settled(CONTRADICTED, f"does not build for {refused[0][1].environment}", (refused[0][0],))
    if missing := [name for name in stated.value if name not in builds]:
        return Settled(NOT_MEASURED, f"not built here: {', '.join(missing)}", tuple(cell for cell, _ in known))
    return Settled(CONFIRMED, "built here", tuple(cell for cell, _ in known))


def _launches(stated: Stated, measured: Measurements) -> Settled:
    """The submission's own launches in one call; the fewest of several calls, since a first one may try variants."""
    if measured.report.submission.framework != "triton":
        return Settled(NOT_MEASURED, NO_DEVICE)
    runs = [run for name, run in measured.runs.items() if not stated.workloads or name in stated.workloads]
    counted = {run.workload.name: _fewest(run) for run in runs if run.second is not None}
    if not counted:
        return Settled(NOT_MEASURED, "no workload was called twice")
    name = max(counted, key=lambda name: counted[name])
    cells = measured.cell_of(name)
    if counted[name] > stated.value:
        return Settled(CONTRADICTED, f"{counted[name]} launches on `{name}`", cells)
    library = [operator for run in runs if run.second for operator in run.second.operators()]
    open_question = measured.unmeasured(stated.workloads) or (library and f"`{library[0]}` may launch more")
    if open_question:
        return Settled(NOT_MEASURED, f"{open_question}; {counted[name]} of its own on `{name}`", cells)
    return Settled(CONFIRMED, f"{counted[name]} on `{name}`", cells)


def _fewest(run: WorkloadRun) -> int:
    return min(len(call.launches()) for call in (run.first, run.second, run.third) if call is not None)


_JUDGES: dict[str, Callable[[Stated, Measurements], Settled]] = {
    **dict.fromkeys(ERRORS, _error),
    "dtypes": _dtypes,
    "shapes": _shapes,
    "deterministic": _deterministic,
    "environments": _environments,
    "max_launches": _launches,
}
