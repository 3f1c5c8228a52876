"""What the judge writes down while it works: stages, findings, workloads, and what each means for the verdict."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.findings import known
from app.domain.report import (
    Finding,
    Location,
    Severity,
    Stage,
    StageName,
    StageStatus,
    Tier,
    Verdict,
    WorkloadResult,
)
from workers.judge import claims

Progress = Callable[[Stage], None]
MAX_FINDINGS = 600
MAX_FINDINGS_A_CODE = 40  # a flood of one kind must not push the others out
MAX_MESSAGE = 1000
# Of all findings together: a report is read by people and kept in a row of a database.
MAX_EVIDENCE_CHARACTERS = 1 << 20
MAX_LOG_CHARACTERS = 64_000


@dataclass
class Notebook:
    """The growing report.  Every fact stays; `verdicts` collects what the facts amount to."""

    progress: Progress | None = None
    stages: list[Stage] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    workloads: list[WorkloadResult] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    verdicts: set[Verdict] = field(default_factory=set)
    logs: list[str] = field(default_factory=list)
    evidence_room: int = MAX_EVIDENCE_CHARACTERS

    @contextmanager
    def stage(self, name: StageName) -> Iterator[OpenStage]:
        """Time a stage; its status is the worst thing noted in it, or what it says itself."""
        opened, start = OpenStage(name), time.perf_counter()
        before = len(self.findings)
        yield opened
        status = opened.status or _status(self.findings[before:], name)
        self.end(Stage(name, status, round(time.perf_counter() - start, 4), opened.reason))

    def end(self, stage: Stage) -> None:
        stage = replace(stage, reason=stage.reason and claims.text(stage.reason, MAX_MESSAGE))
        self.stages.append(stage)
        if self.progress is not None:
            self.progress(stage)

    def note(  # noqa: PLR0913 - the fields of a finding
        self,
        code: str,
        severity: Severity,
        stage: StageName,
        message: str,
        *,
        verdict: Verdict | None = None,
        tier: Tier | None = None,
        workload: str | None = None,
        location: Location | None = None,
        evidence: dict[str, Any] | None = None,
    ) -> None:
        """Write down a finding and, where it settles something, what it means for the verdict."""
        known(code)
        place = location and Location(claims.text(location.file, 300), location.line)
        found = Finding(
            code,
            severity,
            stage,
            claims.text(message, MAX_MESSAGE),
            tier,
            claims.plain(evidence or {}),
            place,
            workload,
        )
        if verdict is not None:
            self.verdicts.add(verdict)
        alike = sum(other.code == code for other in self.findings)
        if len(self.findings) >= MAX_FINDINGS or alike >= MAX_FINDINGS_A_CODE:
            return
        if not any(_same(found, other) for other in self.findings):
            self.findings.append(self._within_room(found))

    def _within_room(self, found: Finding) -> Finding:
        size = len(json.dumps(found.evidence))
        if size > self.evidence_room:
            return replace(found, evidence={"left_out": f"{size} characters of evidence: the report is full"})
        self.evidence_room -= size
        return found

    def log(self) -> str:
        """What was printed, its end, without what could act on a terminal or a page."""
        return claims.text("\n".join(log for log in self.logs if log)[-MAX_LOG_CHARACTERS:], MAX_LOG_CHARACTERS)


@dataclass
class OpenStage:
    """A stage under way; set `status` and `reason` where findings alone do not say it."""

    name: StageName
    status: StageStatus | None = None
    reason: str | None = None

    def not_measured(self, reason: str) -> None:
        self.status, self.reason = StageStatus.NOT_MEASURED, reason

    def failed(self, reason: str | None = None) -> None:
        self.status, self.reason = StageStatus.FAILED, reason


def _status(findings: list[Finding], stage: StageName) -> StageStatus:
    severities = {f.severity for f in findings if f.stage is stage}
    if Severity.ERROR in severities:
        return StageStatus.FAILED
    return StageStatus.FLAGGED if Severity.WARNING in severities else StageStatus.PASSED


def _same(a: Finding, b: Finding) -> bool:
    """One mistake seen on several calls of a workload is one finding; the first seen is kept."""
    place = (a.code, a.workload, a.location, a.evidence.get("output"))
    return place == (b.code, b.workload, b.location, b.evidence.get("output"))
