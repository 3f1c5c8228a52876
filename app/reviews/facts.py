"""What a reviewer's questions and the variables of a text both speak of, each read from a report in one place."""

from __future__ import annotations

from typing import Any

from app.domain.report import Finding, Location, OutputResult, Report, Severity, StageStatus, WorkloadResult

_COMPARED_BY_SHAPE = "shape"


def worst_output(report: Report) -> tuple[WorkloadResult, OutputResult] | None:
    """The output that speaks for the numerics: one that fails before any that passes, then the larger distance."""
    found = [(w, o) for w in report.workloads if w.decides for o in w.outputs]
    return max(found, key=lambda pair: (not pair[1].ok, pair[1].max_ulp), default=None)


def has_values(output: OutputResult) -> bool:
    """Whether its elements were compared: of another shape or kind they never are, and its zeros mean nothing."""
    return output.decided_by != _COMPARED_BY_SHAPE


def gravest(report: Report) -> Finding | None:
    """The error, else the warning, that the page has first."""
    found = [finding for finding in report.findings if finding.severity is not Severity.INFO]
    return min(found, key=lambda finding: finding.gravity, default=None)


def first_line(report: Report) -> tuple[Finding, Location] | None:
    """The line that the gravest of the findings names that name one."""
    found = [(f, f.location) for f in report.findings if f.location is not None and f.location.line is not None]
    return min(found, key=lambda pair: pair[0].gravity, default=None)


def timed(report: Report) -> list[dict[str, Any]]:
    """The benchmark's workloads; none where nothing was timed."""
    return list(report.benchmark.get("workloads") or []) if isinstance(report.benchmark, dict) else []


def baselines(report: Report) -> list[str]:
    """What it was timed against, each once, in the benchmark's order."""
    named = (base.get("name") for one in timed(report) for base in one.get("baselines") or [])
    return list(dict.fromkeys(str(name) for name in named if name))


def left_unmeasured(report: Report) -> list[str]:
    """Stages that say nothing, so that no finding of theirs could be seen."""
    return [stage.name.value for stage in report.stages if stage.status is StageStatus.NOT_MEASURED]
