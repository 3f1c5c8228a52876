"""Where library calls are forbidden: did a submitted kernel do the work, on every workload?

A submission is called suspect only by one of these statements, each about one workload *w* and each proven by calls:

1. *No kernel.*  No submitted kernel was launched on w, library operators ran, and the answer is not known to be right
   without them.
2. *Decoys.*  On every workload the result is the same, bit for bit, with the submitted kernels as no-ops.
3. *The library produced the result.*  With the submitted kernels as no-ops the answer to w is still right, for two
   draws of its values whose right answers differ; and with the library's operators zeroed as well it is not.
4. *The library held the result.*  With the submitted kernels as no-ops, a library operator returned an output's whole
   right answer, for both draws; and with that operator zeroed, the kernels at work, the answer to w is wrong.
5. *The library did a kernel's work.*  Operators that are kernels themselves (products, softmax, scans, sorts; any,
   beside kernels that only move data) went over at least `WHOLE_FRACTION` of w, they are explained by no other
   workload, and with them zeroed the answer to w is wrong.

3 and 4 show by intervention whose work the answer is, so a share explains them away only where the same operator does
as much of the work on a workload that needs the kernels: an epilogue of the library's stays one where the kernel finds
nothing to do.  5 counts a share, and knows partial results by the laws in `workers.judge.library_share`.
What does not return, or is right without, is proof of nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.report import Severity, StageName, Tier, Verdict
from app.domain.task import TaskBundle
from workers.judge.correctness import WorkloadRun
from workers.judge.interventions import Interventions
from workers.judge.library_share import FEW_ELEMENTS, Shares
from workers.judge.notebook import Notebook

# The frameworks whose kernels can be replaced by no-ops here.
KERNEL_FRAMEWORKS = ("triton",)


def own_kernel(
    runs: list[WorkloadRun],
    take_away: Interventions | None,
    bundle: TaskBundle,
    framework: str,
    notebook: Notebook,
) -> None:
    """Note whichever of the statements above is proven; without `take_away` only the first can be."""
    if bundle.spec.policy.library_calls != "forbidden":
        return
    ran = [run for run in runs if run.first is not None and any(x.array.size for x in run.first.outputs.leaves())]
    if not ran:
        return
    launched = [run for run in ran if any(call.launches() for call in run.calls())]
    if not launched:
        _note_no_kernel(ran, framework, notebook)
        return
    _note_fallbacks([run for run in ran if run not in launched], take_away, notebook)
    if framework in KERNEL_FRAMEWORKS and take_away is not None:
        _probe_decoy(launched, take_away, notebook)
        Accusation(launched, take_away, notebook).first_proven()


def _operators(runs: list[WorkloadRun]) -> dict[str, int]:
    return {name: count for run in runs for call in run.calls() for name, count in call.operators().items()}


def _note_no_kernel(ran: list[WorkloadRun], framework: str, notebook: Notebook) -> None:
    operators = _operators(ran)
    refused = any(call.failed_launches() for run in ran for call in run.calls())
    code = "integrity.no_custom_kernel" if operators or framework == "torch" else "integrity.kernel_never_ran"
    work = f"; the work was done by {_names(operators)}" if operators else ""
    tried = " successfully" if refused else ""
    notebook.note(
        "integrity.silent_fallback" if refused else code, Severity.ERROR, StageName.INTEGRITY,
        f"no submitted kernel was launched{tried} on {len(ran)} workloads, and the task forbids library calls{work}",
        verdict=Verdict.SUSPECT, tier=Tier.HARD, evidence={"operators": operators},
    )  # fmt: skip


def _note_fallbacks(runs: list[WorkloadRun], take_away: Interventions | None, notebook: Notebook) -> None:
    """Workloads whose result came without any kernel, beside others that launched one.

    A look at the inputs that found nothing to do is no fallback: the answer is right without it.
    """
    for run in runs:
        operators = _operators([run])
        without = take_away.outcome(run, without=frozenset(operators)) if take_away and operators and run.ok else None
        if operators and (without is None or not without.right):
            notebook.note(
                "integrity.silent_fallback", Severity.ERROR, StageName.INTEGRITY,
                f"on `{run.workload.name}` no submitted kernel ran; the work was done by {_names(operators)}",
                verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=run.workload.name, evidence={"operators": operators},
            )  # fmt: skip


def _probe_decoy(launched: list[WorkloadRun], take_away: Interventions, notebook: Notebook) -> None:
    """Every submitted kernel as a no-op: a result that stays the same never needed it."""
    for run in launched:
        without = None if run.second is None else take_away.outcome(run, kernels=False)
        if without is None or not without.same:
            return  # it matters here, or nothing can be said: the call is too slow to repeat, or does not return
    if any(run.ok for run in launched):
        notebook.note(
            "integrity.decoy_kernel", Severity.ERROR, StageName.INTEGRITY,
            f"with every submitted kernel replaced by a no-op the results of {len(launched)} workloads stay the same",
            verdict=Verdict.SUSPECT, tier=Tier.HARD,
        )  # fmt: skip


class Accusation:
    """Statements 3 to 5, workload by workload, until one is proven."""

    def __init__(self, launched: list[WorkloadRun], take_away: Interventions, notebook: Notebook) -> None:
        self.shares, self.take_away, self.notebook = Shares(launched, take_away.answers), take_away, notebook

    def first_proven(self) -> None:
        for run in self.shares.runs:
            worked = run.second is not None and bool(run.second.operators())
            if worked and (self._produced(run) or self._held(run) or self._did_a_kernels_work(run)):
                return
        for name in sorted(self.take_away.did_not_return):
            self.notebook.not_checked.append(
                f"whose work the answer to `{name}` is: with kernels or library operators taken away it does not return"
            )

    def _produced(self, run: WorkloadRun) -> bool:
        if not run.ok or not self.take_away.moves(run) or not self._right_without_kernels(run):
            return False
        operators = self._no_glue(run)
        wrong = self.take_away.outcome(run, kernels=False, without=operators) if operators else None
        if wrong is None or wrong.right:
            return False
        self._note(
            run, operators,
            f"the library produced the result of `{run.workload.name}`: with every submitted kernel replaced by a no-op"
            f" the answer is still right, and without the library's {_names(operators)} it is not",
        )  # fmt: skip
        return True

    def _right_without_kernels(self, run: WorkloadRun) -> bool:
        outcomes = [self.take_away.outcome(run, n=n, kernels=False) for n in (0, 1)]
        return all(outcome is not None and outcome.right for outcome in outcomes)

    def _held(self, run: WorkloadRun) -> bool:
        operators = self._no_glue(run)
        if not operators or not self.take_away.holds_answer(run, operators):
            return False
        if not self.take_away.needs(run, operators):
            return False
        self._note(
            run, operators,
            f"the library held the result of `{run.workload.name}`: with every submitted kernel replaced by a no-op,"
            f" {_names(operators)} returned the right answer already, and the kernels pass it on",
        )  # fmt: skip
        return True

    def _no_glue(self, run: WorkloadRun) -> frozenset[str]:
        """Operators on more than a few numbers, less those that do as much of the work where kernels are needed."""
        amounts = self.shares.amounts(run)
        return frozenset(
            name
            for name, n in amounts.items()
            if not 0 < n <= FEW_ELEMENTS and not self._settles(name, self.shares.may_do_as_much(run, name, n))
        )

    def _did_a_kernels_work(self, run: WorkloadRun) -> bool:
        used = {
            name: n
            for name, n in self.shares.whole(run).items()
            if not self._settles(name, self.shares.may_explain(run, name, n))
        }
        if not used or not self.take_away.needs(run, frozenset(used)):
            return False
        share = max(self.shares.share(run, n) for n in used.values())
        self._note(
            run, frozenset(used),
            f"on `{run.workload.name}` the answer is wrong without the library's {_names(used)}, which the task forbids"
            f" and which went over {share:.0%} of its largest tensor's elements; the submitted kernels do the rest",
        )  # fmt: skip
        return True

    def _settles(self, operator: str, others: Iterable[WorkloadRun]) -> bool:
        """Whether on one of the others the kernels are needed, the operator is too, and it is not all of the answer.

        What cannot be told speaks for the submission.
        """
        only = frozenset({operator})
        return any(
            self.take_away.may_need(other, only) and not self.take_away.holds_answer(other, only) for other in others
        )

    def _note(self, run: WorkloadRun, operators: frozenset[str], message: str) -> None:
        amounts = self.shares.amounts(run)
        self.notebook.note(
            "integrity.no_custom_kernel", Severity.ERROR, StageName.INTEGRITY, message,
            verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=run.workload.name,
            evidence={"operators": {name: amounts.get(name, 0) for name in sorted(operators)}},
        )  # fmt: skip


def _names(operators: Iterable[str]) -> str:
    return ", ".join(sorted(operators)[:6])
