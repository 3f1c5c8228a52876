"""Calls with something taken away: what an answer is without the submitted kernels, or without library operators."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.domain.report import OutputResult
from workers.judge import numerics
from workers.judge.answers import Answers, Draw, output_names
from workers.judge.calls import POISON_A, Caller, NotRun, Returned
from workers.judge.correctness import WorkloadRun
from workers.judge.received import Leaf

# A submission may look for results that were zeroed, and give up; a factor is harder to see, and wrong all the same.
BENT = 1.375

CompareValues = Callable[[str, np.ndarray, numerics.Expected], OutputResult]


@dataclass(frozen=True)
class Outcome:
    """`same`: the bits of the workload's own call; `right`: what the task accepts, or those bits where its own check
    judges or the workload's own call is wrong.
    """

    same: bool
    right: bool


class Interventions:
    """Calls a workload again with something taken away, each combination once.

    `compare_values` judges an output as the task does, without writing anything down.
    """

    def __init__(self, caller: Caller, answers: Answers, compare_values: CompareValues) -> None:
        self.caller, self.answers, self.compare_values = caller, answers, compare_values
        self._outcomes: dict[tuple[object, ...], Outcome | None] = {}
        self.did_not_return: set[str] = set()  # workloads with a call that failed without what was taken away

    def outcome(
        self, run: WorkloadRun, *, n: int = 0, kernels: bool = True, without: frozenset[str] = frozenset()
    ) -> Outcome | None:
        """The answer to draw `n`, with submitted kernels as no-ops unless `kernels`, and the results of the operators
        `without` zeroed, or else bent; None where neither call returns or nothing can be said.
        """
        key = (run.workload.name, n, kernels, without)
        if key not in self._outcomes:
            self._outcomes[key] = self._ask(run, n, kernels, without)
        return self._outcomes[key]

    def needs(self, run: WorkloadRun, operators: frozenset[str]) -> bool:
        """Whether the answer is wrong without the operators' results, the kernels being at work."""
        without = self.outcome(run, without=operators)
        return without is not None and not without.right

    def may_need(self, run: WorkloadRun, operators: frozenset[str]) -> bool:
        """Whether neither the submitted kernels nor the operators are known to be dispensable."""
        outcomes = self.outcome(run, kernels=False), self.outcome(run, without=operators)
        return all(without is None or not without.right for without in outcomes)

    def moves(self, run: WorkloadRun) -> bool:
        """Whether the right answers to the workload's two draws differ: what is right on both is made of inputs."""
        draws = self.answers.draws[run.workload.name]
        if len(draws) < 2 or run.third is None:
            return False
        pairs = zip(draws[0].native.leaves(), draws[1].native.leaves(), strict=False)
        return any(not numerics.same_values(a.array, b.array) for a, b in pairs)

    def holds_answer(self, run: WorkloadRun, operators: frozenset[str]) -> bool:
        """Whether, on both draws and with kernels as no-ops, a result of `operators` is all of an output already."""
        if self.answers.has_check or not run.ok or not self.moves(run):
            return False
        return all(self._found(run, draw, operators) for draw in self.answers.draws[run.workload.name][:2])

    def _found(self, run: WorkloadRun, draw: Draw, operators: frozenset[str]) -> bool:
        expected = draw.expected()
        sizes = sorted({int(e.native.size) for e in expected if e.native.size})
        try:
            probe = self.caller.call(
                run.workload, draw, slot="probe", poison=POISON_A, note=False, skip_launches=True,
                capture={"operators": sorted(operators), "sizes": sizes},
            )  # fmt: skip
        except NotRun:
            return False
        names = output_names(len(expected))
        found = any(
            self._is_answer(name, leaf, e)
            for leaf in probe.outputs.leaves()
            for name, e in zip(names, expected, strict=True)
        )
        probe.outputs.close()
        return found

    def _is_answer(self, name: str, leaf: Leaf, expected: numerics.Expected) -> bool:
        want = expected.native
        if leaf.array.size != want.size or (leaf.array.dtype.kind == "c") != (want.dtype.kind == "c"):
            return False
        return self.compare_values(name, _cast(leaf.array.reshape(want.shape), want.dtype), expected).ok

    def _ask(self, run: WorkloadRun, n: int, kernels: bool, without: frozenset[str]) -> Outcome | None:
        before = run.first if n == 0 else run.third
        draws = self.answers.draws[run.workload.name]
        if before is None or n >= len(draws):
            return None
        probe = self._call(run, draws[n], kernels, without)
        if probe is None:
            self.did_not_return.add(run.workload.name)
            return None
        same = same_bits(before, probe)
        right = same if same or self.answers.has_check or not run.ok else self._right(probe, draws[n])
        probe.outputs.close()
        return Outcome(same, right)

    def _call(self, run: WorkloadRun, draw: Draw, kernels: bool, without: frozenset[str]) -> Returned | None:
        for factor in (0.0, BENT) if without else (0.0,):
            with contextlib.suppress(NotRun):
                return self.caller.call(
                    run.workload, draw, slot="probe", poison=POISON_A, note=False, skip_launches=not kernels,
                    hollow=tuple(sorted(without)), hollow_factor=factor,
                )  # fmt: skip
        return None

    def _right(self, probe: Returned, draw: Draw) -> bool:
        got, expected = probe.outputs.leaves(like=draw.native), draw.expected()
        names = output_names(len(expected))
        return len(got) == len(expected) and all(
            leaf.array.shape == e.native.shape and self.compare_values(name, _cast(leaf.array, e.native.dtype), e).ok
            for name, leaf, e in zip(names, got, expected, strict=True)
        )


def _cast(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(dtype, copy=False)


def same_bits(a: Returned, b: Returned) -> bool:
    """Whether two calls returned the same values, bit for bit."""
    before, after = a.outputs.leaves(), b.outputs.leaves()
    return len(before) == len(after) and all(
        numerics.same_bits(x.array, y.array) for x, y in zip(before, after, strict=True)
    )
