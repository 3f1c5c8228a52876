"""What became of a contested finding when it was run again, and how often a rule was found false."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.domain.report import Report
from app.domain.review import EvaluationState
from app.evaluations import panels
from app.evaluations.panels import Evidence, FindingRow
from app.models import Contest, Evaluation
from app.reviews import queries

VERDICT = "verdict"
ENOUGH = 5  # settled contests, before a share of them says anything


@dataclass(frozen=True)
class Record:
    """How contests of one rule were settled."""

    settled: int
    false: int

    @property
    def said(self) -> str:
        counts = f"contested and settled {self.settled} time{'s' if self.settled > 1 else ''}, found false {self.false}"
        return counts if self.settled >= ENOUGH else f"{counts}: not enough to say how precise the rule is"


@dataclass(frozen=True)
class Run:
    """One of the two evaluations: its evidence, and the contested findings in it."""

    title: str
    evaluation: Evaluation
    evidence: Evidence | None
    findings: list[FindingRow]


def records(session: Session) -> dict[str, Record]:
    return {code: Record(*counts) for code, counts in queries.settled_by_code(session).items()}


def again(contest: Contest) -> str:
    """What the second run said, in words."""
    rerun = contest.rerun
    if rerun is None:
        return "it was not run again"
    if rerun.state in (EvaluationState.QUEUED, EvaluationState.RUNNING):
        return "still running again"
    if rerun.report is None:
        return f"could not be run again: {rerun.failure or 'the evaluation failed'}"
    before, after = contest.evaluation, rerun
    if contest.finding_code == VERDICT:
        return "the same verdict again" if before.verdict == after.verdict else f"now {_words(after.verdict)}"
    found = any(f["code"] == contest.finding_code for f in rerun.report["findings"])
    said = "the same finding again" if found else "the finding is gone"
    return said if before.verdict == after.verdict else f"{said}, and the verdict is {_words(after.verdict)}"


def runs(contest: Contest) -> list[Run]:
    """Both, the contested one first."""
    titled = [("As contested", contest.evaluation), ("Run again", contest.rerun)]
    return [_run(title, evaluation, contest.finding_code) for title, evaluation in titled if evaluation is not None]


def _run(title: str, evaluation: Evaluation, code: str) -> Run:
    if evaluation.report is None:
        return Run(title, evaluation, None, [])
    evidence = panels.for_viewer(Report.from_json(evaluation.report), sees_hidden=True)
    rows = evidence.top if code == VERDICT else [row for row in evidence.findings if row.finding.code == code]
    return Run(title, evaluation, evidence, rows)


def _words(verdict: str | None) -> str:
    return (verdict or "unknown").replace("_", " ")
