"""A task's health: the faults that every evaluation looks for in the task itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from app.domain.report import Severity, StageName, Verdict
from app.domain.task import TaskBundle
from workers.judge import numerics
from workers.judge.answers import (
    Answers,
    Draw,
    TaskFault,
    float64,
    is_floating,
    output_names,
    tolerance_of,
    unit_roundoff,
)
from workers.judge.notebook import Notebook
from workers.judge.numerics.chunks import MeanSquare, chunks

LONGEST_SUM = 4096  # of the rounding errors that a disagreement is excused with


class SensitivityReader(Protocol):
    """Whoever can ask how much the answer moves when its inputs are disturbed by `relative`."""

    def sensitivity(self, relative: float) -> list[float]: ...


def check_health(
    answers: Answers,
    bundle: TaskBundle,
    moved: list[bool | None],
    readers: Mapping[str, SensitivityReader],
    notebook: Notebook,
) -> None:
    """The task faults that every evaluation looks for."""
    for name, draws in answers.draws.items():
        for draw in draws:
            _check_finite(draw, name, notebook)
    if moved and any(m is False for m in moved) and not any(m is not False for m in moved):
        notebook.note(
            "task.constant_output", Severity.ERROR, StageName.CORRECTNESS,
            "the reference returns the same values whatever the inputs are, so a constant passes",
            verdict=Verdict.INVALID_TASK,
        )  # fmt: skip
        raise TaskFault
    _check_oracles(answers, bundle, readers, notebook)
    if not answers.has_check:
        _check_tolerance(answers, bundle, notebook)


def _check_finite(draw: Draw, workload: str, notebook: Notebook) -> None:
    for output, leaf in zip(output_names(len(draw.native.leaves())), draw.native.leaves(), strict=True):
        if (
            leaf.array.size
            and is_floating(leaf.array)
            and all(np.isnan(piece).all() for _, (piece,) in chunks(leaf.array))
        ):
            notebook.note(
                "task.reference_nonfinite", Severity.ERROR, StageName.CORRECTNESS,
                f"every element of the expected `{output}` is NaN on `{workload}`",
                verdict=Verdict.INVALID_TASK, workload=workload,
            )  # fmt: skip
            raise TaskFault


def _check_oracles(
    answers: Answers, bundle: TaskBundle, readers: Mapping[str, SensitivityReader], notebook: Notebook
) -> None:
    """Drop the oracle where float64 and native differ by more than rounding can explain."""
    public = [w.name for w in bundle.spec.workloads if not w.hidden] or [w.name for w in bundle.spec.workloads]
    for name in public:
        for draw in answers.draws.get(name, [])[:1]:
            coarsest = max(
                (unit_roundoff(leaf.array.dtype) for leaf in draw.operands() if is_floating(leaf.array)),
                default=0.0,
            )
            worst = max((_disagreement(e, coarsest) for e in draw.expected()), default=0.0)
            if worst > 1 and not _ill_conditioned(draw, readers[name].sensitivity(coarsest)):
                notebook.note(
                    "task.oracle_disagrees", Severity.WARNING, StageName.CORRECTNESS,
                    f"the reference in float64 differs from itself in its own dtype by {worst:.3g} times what rounding"
                    f" explains on `{name}`; its native result is the truth here",
                    workload=name, evidence={"ratio": worst},
                )  # fmt: skip
                for dropped in itertools.chain.from_iterable(answers.draws.values()):
                    dropped.drop_oracle()
                return


def _ill_conditioned(draw: Draw, sensitivity: list[float]) -> bool:
    """Whether disturbing the inputs by their own rounding moves the answer as much: terms cancel, nothing is wrong."""
    expected = draw.expected()
    if len(sensitivity) != len(expected):
        return False
    for e, moved in zip(expected, sensitivity, strict=True):
        error = largest_difference(e.native, e.truth)
        if error > 4 * np.sqrt(min(e.reduction_length, LONGEST_SUM)) * moved:
            return False
    return True


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Over elements that are finite on both sides; infinite for other shapes."""
    if a.shape != b.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        return max((float(np.max(np.abs(x - y), initial=0.0)) for x, y in _finite_pieces(a, b)), default=0.0)


def _disagreement(expected: numerics.Expected, coarsest: float) -> float:
    """How far native and oracle are apart, in error budgets of the coarsest unit roundoff that took part."""
    if expected.oracle is None or not expected.native.size:
        return 0.0
    mean = MeanSquare()
    for truth, _ in _finite_pieces(expected.oracle, expected.native):
        mean.add(np.abs(truth))
    unit, worst = max(coarsest, unit_roundoff(expected.native.dtype)), 0.0
    for truth, native in _finite_pieces(expected.oracle, expected.native):
        with np.errstate(all="ignore"):
            budget = 4 * unit * (np.abs(truth) + np.sqrt(expected.reduction_length) * mean.root)
            error = np.abs(native - truth)
            ratio = np.where(error > 0, error / np.where(budget > 0, budget, np.inf), 0.0)
        worst = max(worst, float(np.max(ratio, initial=0.0)))
    return worst


def _finite_pieces(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Both in double precision, a piece at a time, where both are finite: they may be as large as memory."""
    for _, (x, y) in chunks(a, b):
        left, right = float64(x), float64(y)
        both = np.isfinite(left) & np.isfinite(right)
        yield left[both], right[both]


def _check_tolerance(answers: Answers, bundle: TaskBundle, notebook: Notebook) -> None:
    """A tolerance under which zeros pass on every workload decides nothing: the budget decides in its place."""
    seen: dict[str, list[bool]] = {}
    for draws in answers.draws.values():
        expected = draws[0].expected()
        for output, e in zip(output_names(len(expected)), expected, strict=True):
            if e.native.size and is_floating(e.native):
                seen.setdefault(output, []).append(numerics.is_vacuous(e, tolerance_of(bundle, output, e.native.dtype)))
    for output, flags in seen.items():
        answers.vacuous[output] = all(flags)
        if all(flags):
            notebook.note(
                "task.tolerance_vacuous", Severity.WARNING, StageName.CORRECTNESS,
                f"zeros would pass for `{output}` on every workload;"
                " the error budget decides in place of the tolerance",
            )  # fmt: skip
