"""A task's health: what all evaluations of one version together say of the task itself, and not of a submission."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

from app.domain.as_json import built, plain
from app.domain.report import Severity, StageName

HIDDEN = "a hidden workload"


@dataclass(frozen=True)
class Fault:
    """A fault of the task: a finding's code, and in how many of the evaluations that were read it stood.

    `message` is the newest one's, `example` the id of that evaluation; `workloads` are all on which it was seen.
    """

    code: str
    severity: Severity
    stage: StageName
    evaluations: int
    message: str
    workloads: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True)
class WorkloadRecord:
    """How often a workload of the contract was run, and on how many of those runs the submission failed it."""

    name: str
    run: int
    failed: int
    hidden: bool = False


@dataclass(frozen=True)
class TaskHealth:
    """`evaluations` have ended; the newest `read` of them were looked through for faults and workloads.

    `verdicts` counts all of them.  `repeated` submissions were evaluated more than once, and `changed` of those did
    not get the same verdict each time.  `reference_max_ulp` is the largest error of the reference itself, in units
    in the last place of the output's dtype; None where no oracle told.
    """

    evaluations: int
    read: int
    verdicts: dict[str, int]
    repeated: int = 0
    changed: int = 0
    faults: tuple[Fault, ...] = ()
    workloads: tuple[WorkloadRecord, ...] = ()
    reference_max_ulp: float | None = None

    def to_json(self) -> dict[str, Any]:
        return cast("dict[str, Any]", plain(self))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TaskHealth:
        """Raises `ValueError` for a missing field."""
        return cast("TaskHealth", built(cls, data))

    def as_report(self) -> dict[str, Any]:
        """The faults in the form that a report has, for the rules that read one."""
        return {"findings": [{"code": f.code, "severity": str(f.severity), "tier": None} for f in self.faults]}

    def for_submitter(self, hidden: Collection[str]) -> TaskHealth:
        """Without the names of the task's `hidden` workloads, run or not, and without what was said of one."""
        secret = {*hidden, *(w.name for w in self.workloads if w.hidden)}
        faults = tuple(
            dataclasses.replace(
                f, workloads=tuple(dict.fromkeys(HIDDEN if w in secret else w for w in f.workloads)),
                message=f"on {HIDDEN}" if _speaks_of(f, secret) else f.message,
            )
            for f in self.faults
        )  # fmt: skip
        shown = tuple(w for w in self.workloads if w.name not in secret)
        return dataclasses.replace(self, faults=faults, workloads=shown)


def _speaks_of(fault: Fault, names: Collection[str]) -> bool:
    return any(
        name in fault.workloads or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", fault.message) for name in names
    )
