"""Families of inputs outside a task's contract: what the kernel makes of them, as information about it.

They are called last, when nothing that decides is left to be asked, and with a notebook of their own: whatever
happens here is written down once: as a warning where it happens on ordinary numbers, else as information.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from app.domain.report import OutputResult, Severity, StageName, StageStatus, WorkloadResult
from app.domain.task import Workload
from workers.judge.answers import Draw, Outside
from workers.judge.calls import Caller, NotRun, Returned
from workers.judge.correctness import Correctness, WorkloadRun
from workers.judge.foreign import Raised
from workers.judge.notebook import Notebook

SLOW_CALL_SECONDS = 0.25  # a kernel that takes longer is not called a dozen times more for information
ALL_SECONDS = 1.0
CALL_SECONDS = 2.0
# The ends of a format: where a kernel overflows, loses digits or lets a NaN fall is its author's choice.
ENDS = frozenset({"wide", "huge", "tiny", "subnormal", "inf", "nan"})


def look_outside(caller: Caller | None, judge: Correctness, runs: list[WorkloadRun]) -> None:
    """Call the kernel on `answers.outside` as far as there is time, and note what differs; decides nothing."""
    outside, notebook = judge.answers.outside, judge.notebook
    if not outside:
        return
    base = outside[0].workload
    run = next((r for r in runs if r.workload.name == base.name), None)
    usual_s = min((call.seconds for call in run.calls() if call.seconds), default=0.0) if run else 0.0
    if run is None or not run.ok or caller is None:
        return  # what is wrong on the task's own values says nothing new on others
    if usual_s > SLOW_CALL_SECONDS:
        notebook.not_checked.append(f"input families beyond the contract: a call takes {usual_s:.2f} s")
        return
    _Look(caller, Correctness(judge.bundle, judge.answers, Notebook(), granted=False), notebook, base).at(outside)


@dataclass
class _Look:
    caller: Caller
    judge: Correctness  # with a notebook of its own
    notebook: Notebook
    base: Workload
    differs: dict[str, str] = field(default_factory=dict)

    def at(self, outside: list[Outside]) -> None:
        deadline = time.monotonic() + ALL_SECONDS
        for n, one in enumerate(outside):
            if time.monotonic() > deadline:
                left = ", ".join(other.family for other in outside[n:])
                self.notebook.not_checked.append(f"inputs on `{self.base.name}` that are {left}: no time left")
                break
            if one.draw is None:
                self._row(one.family, StageStatus.NOT_MEASURED, reason=one.reason)
            elif not self._call(one.family, one.draw):
                break
        self._note()

    def _call(self, family: str, draw: Draw) -> bool:
        """One call and what came of it; False where there is no process left for another."""
        workload = replace(self.base, drawn=True)
        try:
            returned = self.caller.call(workload, draw, slot="outside", note=False, limit_s=self._limit_s())
        except NotRun as error:
            if error.measured:
                self.differs[family] = str(error)
            self._row(family, StageStatus.FLAGGED if error.measured else StageStatus.NOT_MEASURED, reason=str(error))
            return not error.fatal
        except Raised:
            return False
        self._compare(family, draw, returned, workload)
        returned.outputs.close()
        return True

    def _compare(self, family: str, draw: Draw, returned: Returned, workload: Workload) -> None:
        ok = self.judge.compare(WorkloadRun(workload), returned, draw, family)
        judged = self.judge.notebook.workloads.pop()
        if not ok:
            self.differs[family] = "; ".join(_told(o) for o in judged.outputs if not o.ok) or "other outputs"
        status = StageStatus.PASSED if ok else StageStatus.FLAGGED
        self._row(family, status, judged.outputs, seconds=judged.seconds)

    def _row(
        self,
        family: str,
        status: StageStatus,
        outputs: tuple[OutputResult, ...] = (),
        *,
        seconds: float | None = None,
        reason: str | None = None,
    ) -> None:
        self.notebook.workloads.append(
            WorkloadResult(
                self.base.name, family, status, outputs, seconds, reason and reason[:300], self.base.hidden,
                1 if outputs else 0, decides=False,
            )
        )  # fmt: skip

    def _limit_s(self) -> float:
        return min(CALL_SECONDS, self.judge.bundle.spec.limits.seconds)

    def _note(self) -> None:
        """One finding for all of them, and what the integers showed."""
        for found in self.judge.notebook.findings:
            if found.code == "numerics.inexact_on_integers":
                self.notebook.note(
                    found.code, found.severity, found.stage, found.message, workload=found.workload,
                    evidence=found.evidence,
                )  # fmt: skip
        if self.differs:
            told = ". ".join(f"{family}: {what}" for family, what in self.differs.items())
            severity = Severity.INFO if self.differs.keys() <= ENDS else Severity.WARNING
            self.notebook.note(
                "numerics.outside_contract", severity, StageName.CORRECTNESS,
                "on inputs that the task's contract does not name it differs from the reference, which decides nothing;"
                f" in place of the values of `{self.base.name}` - {told}",
                workload=self.base.name, evidence={"families": self.differs},
            )  # fmt: skip


def _told(output: OutputResult) -> str:
    """How an output differs, in a few words."""
    if output.decided_by in ("shape", "dtype"):
        return f"`{output.name}` has another {output.decided_by}"
    worst = output.worst[0] if output.worst else None
    at = f", [{', '.join(map(str, worst.index))}] is {worst.got} instead of {worst.want}" if worst else ""
    return f"{output.mismatched} of {output.elements} elements of `{output.name}`{at}"
