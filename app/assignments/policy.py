"""Which items come first, and why; pure functions over a report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.report import Finding, Report, Severity, Verdict


@dataclass(frozen=True)
class Priority:
    """`weight` orders the queue; `why` is the sentence that the queue shows beside the item."""

    weight: int
    why: str


_BY_VERDICT = {
    Verdict.SUSPECT: Priority(40, "the judge suspects a trick: a person has to confirm or clear it"),
    Verdict.INVALID_TASK: Priority(30, "the judge could not use the task: a person has to say what is wrong with it"),
    Verdict.INCONCLUSIVE: Priority(10, "a deciding stage was not measured here"),
}
_BY_FINDING = {
    "fairness.below_physical_floor": Priority(35, "it claims a time that the hardware does not allow"),
    "numerics.precision_downgrade": Priority(25, "its numbers pass at the edge of the tolerance"),
    "task.tolerance_vacuous": Priority(20, "the task's tolerance decides little here"),
}
# Integrity findings beside another verdict than `suspect`.
_BY_SEVERITY = {
    Severity.ERROR: Priority(28, "an integrity error stands beside the verdict: a person has to confirm or clear it"),
    Severity.WARNING: Priority(22, "an integrity finding is there that proves nothing by itself"),
}
_ORDINARY = Priority(0, "it waits for its first review")
# Whoever reviews next reads the reason, and is to know nothing of what the others said.
DISAGREEMENT = Priority(38, "one more review of it is wanted")
DUE_SOON = dt.timedelta(hours=24)
_DUE_WEIGHT = 50
# What people decided in favour of a submission, and against it; anything else takes no side.
_SIDES = {"accept": 1, "accept_with_notes": 1, "revise": -1, "reject": -1, "reject_integrity": -1}
# A started item goes before an untouched one of the same weight, and never before a weightier one.
_RANKS_PER_WEIGHT = 100


def priority_of(report: Report) -> Priority:
    """The weightiest reason that the evidence gives for looking at this item soon."""
    reasons = [_BY_VERDICT[report.verdict]] if report.verdict in _BY_VERDICT else []
    reasons += [_BY_FINDING[f.code] for f in report.findings if f.code in _BY_FINDING]
    if report.verdict is not Verdict.SUSPECT:
        reasons += [_BY_SEVERITY[f.severity] for f in report.findings if _is_integrity(f)]
    return max(reasons, key=lambda reason: reason.weight, default=_ORDINARY)


def when_due(due_at: dt.datetime) -> Priority:
    """What is due within `DUE_SOON` goes before everything else."""
    return Priority(_DUE_WEIGHT, f"it is due on {due_at:%d %B at %H:%M} UTC")


def rank(priority: Any, reviews_done: Any) -> Any:
    """The queue's order before anybody's shuffle, the highest first; of numbers or of columns."""
    return priority * _RANKS_PER_WEIGHT + reviews_done


def disagree(decisions: Sequence[str]) -> bool:
    """Whether some are for the submission and some against it."""
    return len({_SIDES[d] for d in decisions if d in _SIDES}) > 1


def _is_integrity(finding: Finding) -> bool:
    return finding.severity in _BY_SEVERITY and finding.code.startswith("integrity.")
