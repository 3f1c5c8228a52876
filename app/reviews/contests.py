"""What became of a contested finding when it was run again."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.report import Report
from app.domain.review import EvaluationState
from app.evaluations import panels
from app.evaluations.panels import Evidence, FindingRow
from app.models import Contest, Evaluation

VERDICT = "verdict"


@dataclass(frozen=True)
class Run:
    """One of the two evaluations: its evidence, and the contested findings in it."""

    title: str
    evaluation: Evaluation
    evidence: Evidence | None
    findings: list[FindingRow]


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
