"""What the evaluations of a task's version say of the task: counted in the database, read from the newest reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.domain.report import Severity, StageName
from app.domain.review import EvaluationState
from app.domain.task_health import Fault, TaskHealth, WorkloadRecord
from app.models import Evaluation, Submission

# Reports are long; a fault that only older ones saw has mostly been looked at already.
READ_MAX = 100
# Codes of findings that speak of the task, whoever submitted to it.
_OF_THE_TASK = ("task.",)
_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_Json = Mapping[str, Any]
_RAN = ("passed", "failed", "error", "flagged")


def health_of(session: Session, task_version_id: int) -> TaskHealth:
    """The record of one version; of a version that nobody has submitted to, an empty one."""
    counted = _of(task_version_id, Evaluation.verdict, func.count()).group_by(Evaluation.verdict)
    verdicts: dict[str, int] = dict(session.execute(counted).all())
    newest = _of(task_version_id, Evaluation.public_id, Evaluation.report["findings"], Evaluation.report["workloads"])
    reports = session.execute(newest.order_by(Evaluation.id.desc()).limit(READ_MAX)).all()
    repeated, changed = _repeated(session, task_version_id)
    tally = _Tally()
    for public_id, findings, workloads in reports:
        tally.read(public_id, findings or (), workloads or ())
    return TaskHealth(
        evaluations=sum(verdicts.values()), read=len(reports),
        verdicts={str(verdict): count for verdict, count in sorted(verdicts.items(), key=lambda one: -one[1])},
        repeated=repeated, changed=changed, faults=tally.faults(), workloads=tally.workload_records(),
        reference_max_ulp=max(tally.reference_ulp, default=None),
    )  # fmt: skip


@dataclass
class _Seen:
    """A code as its newest report has it, and what the others add."""

    finding: Mapping[str, Any]
    example: str
    evaluations: int = 1
    workloads: dict[str, None] = field(default_factory=dict)


@dataclass
class _Tally:
    seen: dict[str, _Seen] = field(default_factory=dict)
    runs: dict[str, list[int]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    reference_ulp: list[float] = field(default_factory=list)

    def read(self, public_id: str, findings: Sequence[_Json], workloads: Sequence[_Json]) -> None:
        """One report, the newest first."""
        here: set[str] = set()
        for finding in findings:
            if finding["code"].startswith(_OF_THE_TASK):
                self._read_fault(public_id, finding, is_first=finding["code"] not in here)
                here.add(finding["code"])
        for run in workloads:
            if run.get("decides", True) and run["status"] in _RAN:
                self._read_run(run)

    def _read_fault(self, public_id: str, finding: Mapping[str, Any], *, is_first: bool) -> None:
        seen = self.seen.get(finding["code"])
        if seen is None:
            seen = self.seen[finding["code"]] = _Seen(finding, public_id)
        elif is_first:
            seen.evaluations += 1
        if finding.get("workload"):
            seen.workloads[finding["workload"]] = None

    def _read_run(self, run: Mapping[str, Any]) -> None:
        counts = self.runs.setdefault(run["name"], [0, 0])
        counts[0] += 1
        counts[1] += run["status"] != "passed"
        if run.get("hidden"):
            self.hidden.add(run["name"])
        errors = (output.get("reference_max_ulp") for output in run.get("outputs", ()))
        self.reference_ulp += [float(error) for error in errors if error is not None]

    def faults(self) -> tuple[Fault, ...]:
        found = [
            Fault(
                code, Severity(seen.finding["severity"]), StageName(seen.finding["stage"]), seen.evaluations,
                seen.finding["message"], tuple(seen.workloads), seen.example,
            )
            for code, seen in self.seen.items()
        ]  # fmt: skip
        return tuple(sorted(found, key=lambda f: (_SEVERITIES.index(f.severity), -f.evaluations, f.code)))

    def workload_records(self) -> tuple[WorkloadRecord, ...]:
        return tuple(WorkloadRecord(n, run, failed, n in self.hidden) for n, (run, failed) in self.runs.items())


def _of(task_version_id: int, *columns: Any) -> Select[Any]:
    query = select(*columns).select_from(Evaluation).join(Submission, Submission.id == Evaluation.submission_id)
    return query.where(Submission.task_version_id == task_version_id, Evaluation.state == EvaluationState.DONE)


def _repeated(session: Session, task_version_id: int) -> tuple[int, int]:
    """How many submissions were evaluated more than once, and how many of those got different verdicts."""
    each = _of(task_version_id, func.count(func.distinct(Evaluation.verdict)).label("verdicts"))
    each = each.group_by(Evaluation.submission_id).having(func.count() > 1)
    verdicts = session.scalars(each).all()
    return len(verdicts), sum(count > 1 for count in verdicts)
