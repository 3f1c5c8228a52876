"""What the judge writes down while it works: stages, findings, workloads, and what each means for the verdict."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.findings import known
from app.domain.report import (
    Finding,
    Location,
    OutputResult,
    Severity,
    Stage,
    StageName,
    StageStatus,
    Tier,
    Verdict,
    WorkloadResult,
)
from workers.judge import claims
from workers.judge.answers import output_names
from workers.judge.artefacts import Artefacts
from workers.judge.numerics import Expected
from workers.judge.received import Leaf

Progress = Callable[[Stage], None]
MAX_FINDINGS = 600
MAX_FINDINGS_A_CODE = 40  # a flood of one kind must not push the others out
MAX_MESSAGE = 1000
# Of all findings together: a report is read by people and kept in a row of a database.
MAX_EVIDENCE_CHARACTERS = 1 << 20
MAX_LOG_CHARACTERS = 64_000
NOT_ASKED_FOR = "not asked for"


@dataclass
class Notebook:
    """The growing report.  Every fact of a stage that was asked for stays; `verdicts` collects what they amount to."""

    progress: Progress | None = None
    asked: tuple[StageName, ...] = tuple(StageName)
    stages: list[Stage] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    workloads: list[WorkloadResult] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    verdicts: set[Verdict] = field(default_factory=set)
    logs: list[str] = field(default_factory=list)
    artefacts: Artefacts | None = None
    evidence_room: int = MAX_EVIDENCE_CHARACTERS

    @contextmanager
    def stage(self, name: StageName) -> Iterator[OpenStage]:
        """Time a stage; its status is the worst thing noted in it, or what it says itself."""
        opened, start = OpenStage(name), time.perf_counter()
        yield opened
        status = opened.status or _status(self.findings, name)
        self.end(Stage(name, status, round(time.perf_counter() - start, 4), opened.reason))

    def wants(self, *names: StageName) -> bool:
        """Whether any of the stages was asked for."""
        return any(name in self.asked for name in names)

    def loading_stage(self) -> StageName:
        """Where a submission that does not load is written down: it gives no answers either."""
        return StageName.COMPILE if self.wants(StageName.COMPILE) else StageName.CORRECTNESS

    def end(self, stage: Stage) -> None:
        stage = replace(stage, reason=stage.reason and claims.text(stage.reason, MAX_MESSAGE))
        if not self.wants(stage.name):
            stage = Stage(stage.name, StageStatus.NOT_MEASURED, 0.0, NOT_ASKED_FOR)
        self.stages.append(stage)
        if self.progress is not None:
            self.progress(stage)

    def end_others(self, reason: str) -> None:
        """Say of every stage that has not ended why it did not happen."""
        done = {stage.name for stage in self.stages}
        for name in StageName:
            if name not in done:
                self.end(Stage(name, StageStatus.NOT_MEASURED, 0.0, reason))

    def ended(self) -> tuple[Stage, ...]:
        """The stages in their order, with what was found of them after they had ended."""
        order = list(StageName)
        return tuple(self._with_later_findings(s) for s in sorted(self.stages, key=lambda s: order.index(s.name)))

    def _with_later_findings(self, stage: Stage) -> Stage:
        if stage.status not in (StageStatus.PASSED, StageStatus.FLAGGED):
            return stage
        return replace(stage, status=_status(self.findings, stage.name))

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
        """Write down a finding and, where it settles something, what it means for the verdict.

        Nothing is written of a stage that nobody asked for, but faults of the task, which void every stage.
        """
        known(code)
        if not self.wants(stage) and not code.startswith("task."):
            return
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

    def keep_outputs(
        self,
        workload: str,
        family: str,
        got: Sequence[Leaf],
        expected: Sequence[Expected],
        results: Sequence[OutputResult] = (),
    ) -> None:
        """Keep what was refused, where somebody wants to look at it; `results` empty: all of it was."""
        if self.artefacts is None:
            return
        names = output_names(max(len(got), len(expected)))
        for name, g, e, r in itertools.zip_longest(names, got, expected, results):
            if r is None or not r.ok:
                self.artefacts.keep(workload, family, name, g, e)

    def workloads_in_order(self, names: list[str]) -> tuple[WorkloadResult, ...]:
        """As the task lists them, whatever order they were called in, others last; calls of one stay as they came."""
        return tuple(sorted(self.workloads, key=lambda w: names.index(w.name) if w.name in names else len(names)))

    def _within_room(self, found: Finding) -> Finding:
        size = len(json.dumps(found.evidence))
        if size > self.evidence_room:
            return replace(found, evidence={"left_out": f"{size} characters of evidence: the report is full"})
        self.evidence_room -= size
        return found

    def log(self) -> str:
        """What was printed, without what could act on a terminal or a page; of much its end, which says so."""
        whole = "\n".join(log for log in self.logs if log)
        if len(whole) > MAX_LOG_CHARACTERS:
            kept = whole[-(MAX_LOG_CHARACTERS - 100) :]
            # At least: a process that printed more than its sandbox keeps has said so in what is cut here.
            whole = f"(at least {len(whole) - len(kept)} earlier characters are not kept)\n{kept}"
        return claims.text(whole, MAX_LOG_CHARACTERS)


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
