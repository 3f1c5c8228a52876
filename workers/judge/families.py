"""What the judge draws beyond a task's own inputs: shapes, families of values and layouts.

What `[contract]` names decides, like a workload.  Other families of values are run on the smallest workload, as
information about a kernel, where that costs little.  Inputs that the reference itself cannot take are never held
against anybody: a family may break what a task's code relies on (probabilities, a positive variance, an order).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from app.domain.report import Severity, StageName, StageStatus, WorkloadResult
from app.domain.task import Contract, TaskBundle, Workload
from workers.judge.answers import Answers, Draw, Outside, is_floating
from workers.judge.foreign import Raised
from workers.judge.notebook import Notebook
from workers.judge.numerics.chunks import chunks
from workers.judge.reader import Reader
from workers.judge.received import Leaf
from workers.judge.shapes import drawn_workloads, one_axis_at_a_time
from workers.wire.values import NotAValue

ASK_SECONDS = 10.0  # for one answer of the reference, which has imported all it needs by now
LARGEST_BASE_BYTES = 64 << 20
OUTSIDE_SECONDS, OUTSIDE_UP_TO_BYTES = 1.0, 1 << 20  # families that decide nothing are to cost little
# The telling ones first, should there be no time for all.
OUTSIDE = (
    "integers", "wide", "huge", "tiny", "zeros", "one-hot", "positive", "normal", "permuted", "subnormal", "inf", "nan",
)  # fmt: skip
NEED_BUDGET = ("integers",)  # whether a sum is exact only the measured budget says; it takes longest to ask for
ENOUGH = 32  # floating numbers; fewer have no rows, tails or sums to go wrong in


class _Gone(Exception):
    """The reference's process ended; nothing more can be asked."""


def go_beyond(answers: Answers, bundle: TaskBundle, readers: Mapping[str, Reader], notebook: Notebook) -> None:
    """Add drawn workloads and families to `answers`; whatever the task's code does, nothing is raised."""
    base = _base(answers, [reader.workload for reader in readers.values()])
    if base is None:
        return
    beyond = _Beyond(answers, readers[base.name], notebook)
    try:
        if bundle.spec.contract is not None:
            beyond.granted(bundle.spec.contract)
        if not answers.has_check:
            beyond.outside(bundle.spec.contract or Contract())
    except _Gone as gone:
        notebook.not_checked.append(f"further input families: the reference's process ended ({gone})")


def _base(answers: Answers, workloads: list[Workload]) -> Workload | None:
    """The smallest workload, a public one where there is one; None where all are too large to be drawn from."""
    fitting = [w for w in workloads if answers.draws[w.name][0].inputs.total_bytes() <= LARGEST_BASE_BYTES]

    def rank(workload: Workload) -> tuple[bool, bool, int]:
        inputs = answers.draws[workload.name][0].inputs
        return workload.hidden, _floating_numbers(inputs.leaves()) < ENOUGH, inputs.total_bytes()

    return min(fitting, key=rank, default=None)


def _floating_numbers(leaves: list[Leaf]) -> int:
    return sum(leaf.array.size for leaf in leaves if is_floating(leaf.array))


@dataclasses.dataclass
class _Beyond:
    answers: Answers
    reader: Reader
    notebook: Notebook

    def __post_init__(self) -> None:
        self.base, self.first = self.reader.workload, self.reader.drawn[0]
        self.timeout_s = min(self.reader.timeout_s, ASK_SECONDS)
        self.reader.timeout_s = self.timeout_s

    def granted(self, contract: Contract) -> None:
        """Everything that the contract names, as workloads that decide."""
        self._restore()
        for family in contract.values:
            self._grant(f"{family} values", partial(self._varied, family=family))
        for layout in contract.layouts:
            if layout != "contiguous":
                self._grant(f"{layout} inputs", partial(self._varied, layout=layout))
        self._shapes(contract)

    def outside(self, contract: Contract) -> None:
        """The families that it does not name, as far as there is time for them."""
        names = [name for name in OUTSIDE if name not in contract.values]
        if self.first.inputs.total_bytes() > OUTSIDE_UP_TO_BYTES or not _has_values(self.first):
            return
        deadline = time.monotonic() + OUTSIDE_SECONDS
        self._restore()
        for n, family in enumerate(names):
            if time.monotonic() > deadline:
                self.notebook.not_checked.append(f"inputs that are {', '.join(names[n:])}: the reference is slow")
                return
            draws, reason = self._attempt(partial(self._varied, family=family, rounding=family in NEED_BUDGET))
            if draws or reason:
                self.answers.outside.append(Outside(self.base, family, draws[0] if draws else None, reason))

    def _shapes(self, contract: Contract) -> None:
        size = self.first.inputs.total_bytes() + self.first.native.total_bytes()
        seed = self.reader.seeds.of(self.base.name, "shapes", 0)
        workloads, left_out = drawn_workloads(self.base, contract.axes, size, seed)
        self.notebook.not_checked += left_out
        apart: dict[str, Workload] = {}
        for workload in workloads:
            if not self._grant(workload.name, self.reader.on(workload).draws, workload):
                apart |= {single.name: single for single in one_axis_at_a_time(self.base, workload)}
        for single in apart.values():
            if single.name not in self.answers.draws:
                self._grant(single.name, self.reader.on(single).draws, single)

    def _grant(self, what: str, draw: Callable[[], list[Draw]], workload: Workload | None = None) -> bool:
        """Add a workload that decides; False, with the reason noted, where the task's code cannot take it."""
        granted = workload or dataclasses.replace(self.base, name=f"{self.base.name}, {what}", drawn=True)
        draws, reason = self._attempt(draw)
        if draws:
            self.answers.drawn.append(granted)
            self.answers.draws[granted.name] = draws
            return True
        if reason:
            self.notebook.note(
                "task.contract_unmet", Severity.WARNING, StageName.CORRECTNESS,
                f"the contract grants `{granted.name}`, but {reason}; nothing is judged on it", workload=granted.name,
            )  # fmt: skip
        self.notebook.workloads.append(
            WorkloadResult(
                granted.name, what, StageStatus.NOT_MEASURED, reason=reason or "no input that this applies to",
                hidden=granted.hidden,
            )
        )  # fmt: skip
        return False

    def _attempt(self, draw: Callable[[], list[Draw]]) -> tuple[list[Draw], str]:
        """Draws that can be judged, or why not; neither where there is nothing to vary."""
        try:
            draws = draw()
        except NotAValue as error:
            return [], f"the reference's answer cannot be judged: {error}"
        except Raised as raised:
            if raised.ended is not None:
                raise _Gone(raised.sentence) from raised
            return [], f"the reference cannot take it: {raised.sentence}"
        for drawn in draws:
            if self.first.oracle is None:
                drawn.drop_oracle()
        if any(_says_nothing(drawn) for drawn in draws):
            for drawn in draws:
                drawn.close()
            return [], "the reference returns nothing but NaN"
        return draws, ""

    def _varied(self, *, family: str = "", layout: str = "", rounding: bool = True) -> list[Draw]:
        draw = self.reader.varied(family=family, layout=layout, rounding=rounding)
        return [draw] if draw is not None else []

    def _restore(self) -> None:
        try:
            self.reader.redraw()
        except (Raised, NotAValue) as error:
            raise _Gone(str(error)) from error


def _has_values(draw: Draw) -> bool:
    return any(is_floating(leaf.array) and leaf.array.ndim and leaf.array.size for leaf in draw.inputs.leaves())


def _says_nothing(draw: Draw) -> bool:
    """Whether the outputs, those with elements, are NaN everywhere: then every answer or none is right."""
    arrays = [leaf.array for leaf in draw.native.leaves() if leaf.array.size]
    return bool(arrays) and all(
        is_floating(array) and all(np.isnan(piece).all() for _, (piece,) in chunks(array)) for array in arrays
    )
