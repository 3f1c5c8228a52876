"""The members of a comparison as pages and the interface show them: by letter, and nothing that says whose they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.accounts.policy import Viewer
from app.config import Settings
from app.domain.report import OutputResult, Report, Severity
from app.evaluations import panels
from app.evaluations.panels import Evidence, FindingRow
from app.kit.figures import TIMES, significant
from app.kit.source import SourceFile
from app.models import ReviewMember
from app.submissions import display
from app.submissions import policy as submission_policy

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Member:
    """What a reviewer may know of one: neither title nor author, model, explanation or id."""

    letter: str
    framework: str
    evidence: Evidence
    files: tuple[SourceFile, ...]

    @property
    def prefix(self) -> str:
        """What keeps its places on the page apart from those of the others."""
        return f"{self.letter}-"

    @cached_property
    def anchors(self) -> dict[str, str]:
        return {file.name: f"{self.prefix}{file.anchor}" for file in self.files}

    @cached_property
    def top(self) -> list[FindingRow]:
        return [self._own(row) for row in self.evidence.top]

    @cached_property
    def others(self) -> list[FindingRow]:
        """The findings that are not among the first."""
        first = {row.number for row in self.evidence.top}
        return [self._own(row) for row in self.evidence.findings if row.number not in first]

    def at_lines(self, file: str) -> dict[int, list[FindingRow]]:
        return {line: [self._own(row) for row in rows] for line, rows in self.evidence.at_lines(file).items()}

    def _own(self, row: FindingRow) -> FindingRow:
        return dataclasses.replace(row, cell=f"{self.prefix}{row.cell}")


def shown(settings: Settings, viewer: Viewer, member: ReviewMember) -> Member:
    submission = member.submission
    sees_hidden = submission_policy.sees_hidden(viewer, submission)
    report = Report.from_json(member.evaluation.report or {})
    evidence = panels.for_viewer(report, sees_hidden=sees_hidden)
    return Member(member.letter, submission.framework, evidence, tuple(display.files_shown(settings, submission)))


@dataclass(frozen=True)
class Figure:
    """A row of the table: one value for each member, in words where there is none."""

    title: str
    values: tuple[str, ...]


def figures(members: Sequence[Member]) -> list[Figure]:
    """Errors, then speed, each from the member's own evaluation."""
    rows: list[tuple[str, Callable[[Evidence], str]]] = [
        ("Workloads passed", _passed),
        ("Largest error, ULP", lambda e: _largest(e, lambda o: o.max_ulp)),
        ("The reference's own, ULP", lambda e: _largest(e, lambda o: o.reference_max_ulp)),
        ("Worst share of the error budget", lambda e: _largest(e, lambda o: o.budget_share)),
        ("Errors and warnings", _findings),
        ("Environments built", _builds),
    ]
    found = [Figure(title, tuple(of(m.evidence) for m in members)) for title, of in rows]
    names = dict.fromkeys(w["name"] for m in members for w in _timed(m.evidence))
    found += [Figure(f"Time of `{name}`", tuple(_time(m.evidence, name) for m in members)) for name in names]
    found += [Figure(f"Speed-up on `{name}`", tuple(_speedup(m.evidence, name) for m in members)) for name in names]
    return found if names else [*found, Figure("Time", (NOT_MEASURED,) * len(members))]


def _passed(evidence: Evidence) -> str:
    return f"{evidence.passed_workloads} of {len(evidence.deciding_runs)}"


def _outputs(evidence: Evidence) -> Iterable[OutputResult]:
    return (output for row in evidence.deciding_runs for output in row.workload.outputs)


def _largest(evidence: Evidence, of: Callable[[OutputResult], float | None]) -> str:
    values = [value for output in _outputs(evidence) if (value := of(output)) is not None]
    return significant(max(values)) if values else NOT_MEASURED


def _findings(evidence: Evidence) -> str:
    counts = [sum(row.finding.severity is kind for row in evidence.findings) for kind in Severity]
    return f"{counts[0]} and {counts[1]}"


def _builds(evidence: Evidence) -> str:
    builds = evidence.report.builds
    return f"{sum(build.ok for build in builds)} of {len(builds)}" if builds else NOT_MEASURED


def _timed(evidence: Evidence) -> Sequence[Mapping[str, Any]]:
    return evidence.benchmark.get("workloads", ()) if evidence.benchmark else ()


def _of(evidence: Evidence, name: str) -> Mapping[str, Any]:
    return next((w for w in _timed(evidence) if w["name"] == name), {})


def _time(evidence: Evidence, name: str) -> str:
    candidate = _of(evidence, name).get("candidate", {})
    return _between(candidate.get("median_us"), candidate.get("interval_us"), "\u00a0µs")


def _speedup(evidence: Evidence, name: str) -> str:
    found = _of(evidence, name)
    return _between(found.get("speedup"), found.get("speedup_interval"), TIMES)


def _between(value: float | None, interval: Sequence[float] | None, unit: str) -> str:
    if value is None:
        return NOT_MEASURED
    ends = f" ({significant(interval[0])}\N{EN DASH}{significant(interval[1])})" if interval else ""
    return f"{significant(value)}{unit}{ends}"
