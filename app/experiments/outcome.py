"""What a list of experiments shows of a report: the worst run on each set of values, in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.domain.report import OutputResult, Report, StageStatus, WorkloadResult
from app.experiments.derived import WORKLOAD


def of(report: Report) -> dict[str, Any]:
    return {"headline": report.headline, "runs": [_run(w) for w in _worst(report.workloads)]}


def _worst(workloads: Iterable[WorkloadResult]) -> Iterable[WorkloadResult]:
    """Runs that decide nothing are left out: they were not asked for."""
    kept: dict[str, WorkloadResult] = {}
    for workload in workloads:
        before = kept.get(workload.name)
        if workload.decides and (before is None or (_passed(before) and not _passed(workload))):
            kept[workload.name] = workload
    return kept.values()


def _passed(workload: WorkloadResult) -> bool:
    return workload.status is StageStatus.PASSED


def _run(workload: WorkloadResult) -> dict[str, Any]:
    return {
        "values": workload.name.removeprefix(WORKLOAD).removeprefix(", "),
        "family": workload.family,
        "status": workload.status.value,
        "reason": workload.reason,
        "outputs": [_output(o) for o in workload.outputs],
    }


def _output(output: OutputResult) -> dict[str, Any]:
    return {
        "name": output.name,
        "mismatched": output.mismatched,
        "elements": output.elements,
        "max_abs_error": output.max_abs_error,
        "max_ulp": output.max_ulp,
        "reference_max_ulp": output.reference_max_ulp,
    }
