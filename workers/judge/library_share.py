"""How much of a workload's work library operators do, counted by workload and by amount, never by name alone.

**Amount.** Every dispatched operator is counted with the elements of its largest floating tensor, added up over its
calls (`workers.candidate.trace`), so that work in chunks counts as a whole.  Making, filling, viewing, copying, casting
and padding tensors and reading one number out are never counted: no policy forbids them.

**Share on a workload.** Amount over the elements of the workload's largest input or output, both of that workload.
From `WHOLE_FRACTION` on an operator works on the whole problem and not on partial results.

**Glue.** On tiny workloads partial results are as large as everything else, so a large share there proves nothing where
the operator is explained by a workload on which its share is small.  It is explained by one on which the submitted
kernels are needed, its result is needed too, and its amount obeys one of three laws: *constant* (no more elements
here than there), *per element* (no larger share than there), *per tile* (no more elements for each program that the
kernels launch than there).  An operator that is called there on a scrap, whose result nobody needs, explains nothing.

What is proven with these figures, and by which calls, is said in `workers.judge.own_kernel`.
"""

from __future__ import annotations

from collections.abc import Iterable

from workers.judge.answers import Answers
from workers.judge.correctness import WorkloadRun

WHOLE_FRACTION = 0.25
# Amounts up to this are numbers, not tensors: a scale, a limit, a count.
FEW_ELEMENTS = 16
# Padding and rounding up of shapes change a share by less than this.
SLACK = 2.0
_WHOLE_KERNELS = frozenset(
    """mm bmm addmm baddbmm addbmm addmv mv dot vdot _int_mm _scaled_mm linear _softmax _log_softmax softmax log_softmax
    sort topk kthvalue argsort cumsum cumprod cummax cummin logcumsumexp bincount histc cdist _cdist_forward
    """.split()  # noqa: SIM905 - words, without quotes
)
_WHOLE_KERNEL_WORDS = ("conv", "_norm", "attention", "_fft", "linalg", "pool", "lstm", "gru", "embedding_bag")


class Shares:
    """Amounts, sizes and shares of every workload that launched a submitted kernel."""

    def __init__(self, runs: list[WorkloadRun], answers: Answers) -> None:
        self.runs = sorted(runs, key=lambda run: problem_size(run, answers), reverse=True)
        self._sizes = {run.workload.name: problem_size(run, answers) for run in runs}
        self._computing = {_kernel(launch) for run in runs for launch in _watched(run) if launch.get("computes")}

    def amounts(self, run: WorkloadRun) -> dict[str, int]:
        """Elements by operator; empty where the call was too slow to be traced."""
        return run.second.operator_elements() if run.second else {}

    def share(self, run: WorkloadRun, amount: int) -> float:
        return amount / max(1, self._sizes[run.workload.name])

    def whole(self, run: WorkloadRun) -> dict[str, int]:
        """Operators that do on the whole problem what kernels are asked for, with their elements.

        Elementwise operators and reductions may be glue (a scale, an epilogue) beside a kernel that computes;
        beside kernels that only move data they are the work.
        """
        large = {name: n for name, n in self.amounts(run).items() if self.share(run, n) >= WHOLE_FRACTION}
        return large if self._only_moves(run) else {name: n for name, n in large.items() if is_whole_kernel(name)}

    def may_explain(self, run: WorkloadRun, operator: str, amount: int) -> Iterable[WorkloadRun]:
        """Other workloads, the largest first, where the operator is on partial results and obeys one of the laws."""
        for other in self.runs:
            there = self.amounts(other).get(operator)
            if other is run or there is None or self.share(other, there) >= WHOLE_FRACTION:
                continue
            constant = amount <= there
            per_element = self.share(run, amount) <= self.share(other, there)
            per_tile = amount * _programs(other) <= there * _programs(run)
            if constant or per_element or per_tile:
                yield other

    def may_do_as_much(self, run: WorkloadRun, operator: str, amount: int) -> Iterable[WorkloadRun]:
        """Other workloads where the operator has as large a share, give or take `SLACK`."""
        for other in self.runs:
            there = self.amounts(other).get(operator)
            if (
                other is not run
                and there is not None
                and self.share(run, amount) <= SLACK * self.share(other, there)
                and not (is_whole_kernel(operator) and self.share(other, there) >= WHOLE_FRACTION)
            ):
                yield other

    def _only_moves(self, run: WorkloadRun) -> bool:
        """Whether all that its kernels stored had been loaded.

        One that computes on other values or shapes is no mover, and one that had nothing to store shows nothing.
        """
        launches = _watched(run)
        return bool(launches) and all(
            launch.get("computes") is False and launch.get("bytes_written") and _kernel(launch) not in self._computing
            for launch in launches
        )


def problem_size(run: WorkloadRun, answers: Answers) -> int:
    """Elements of the largest input or output."""
    draw = answers.draws[run.workload.name][0]
    return max((leaf.array.size for leaf in (*draw.inputs.leaves(), *draw.native.leaves())), default=0)


def is_whole_kernel(operator: str) -> bool:
    """Whether a library operator is itself a kernel that tasks ask for: products, normalisations, scans, sorts."""
    return operator in _WHOLE_KERNELS or any(word in operator for word in _WHOLE_KERNEL_WORDS)


def _watched(run: WorkloadRun) -> list[dict[str, object]]:
    return run.watched.launches() if run.watched else []


def _kernel(launch: dict[str, object]) -> tuple[str, str, str]:
    return str(launch.get("kernel")), str(launch.get("file")), str(launch.get("line"))


def _programs(run: WorkloadRun) -> int:
    """Programs that the submitted kernels ran as, in the call whose operators were counted."""
    counts = [launch.get("programs") for launch in run.second.launches()] if run.second else []
    return max((n for n in counts if isinstance(n, int)), default=0)
