"""The design of a task as its review page reads it: what is asked, how it is judged, and what evaluations say of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.domain.cells import cell_id
from app.domain.findings import REGISTER, FindingKind
from app.domain.report import Finding, Severity
from app.domain.task_health import Fault, TaskHealth
from app.evaluations.panels import FindingRow
from app.models import TaskVersion
from app.tasks import service as tasks


@dataclass(frozen=True)
class Design:
    """A version of a task with its record; `citable` shows the buttons with which a reviewer cites a cell.

    Made by `design_of`, which leaves out what the viewer may not see.
    """

    version: TaskVersion
    spec: dict[str, Any]
    health: TaskHealth
    hidden: frozenset[str] = frozenset()
    citable: bool = False

    @cached_property
    def findings(self) -> list[FindingRow]:
        """The task's faults as rows of findings, the gravest first."""
        return [self._row(number, fault) for number, fault in enumerate(self.health.faults, 1)]

    @cached_property
    def top(self) -> list[FindingRow]:
        return [row for row in self.findings if row.finding.severity is not Severity.INFO]

    @cached_property
    def records(self) -> dict[str, Any]:
        """Workload -> how often it was run and failed."""
        return {record.name: record for record in self.health.workloads}

    @cached_property
    def not_checked(self) -> list[str]:
        """What no evaluation can have told: runs that were not made, and what the bundle leaves out."""
        idle = [w["name"] for w in self.spec.get("workloads", []) if w["name"] not in self.records]
        said = ["no submission was evaluated by it"] if not self.health.evaluations else []
        if self.health.evaluations and idle:
            said.append(f"never run: {', '.join(f'`{name}`' for name in idle)}")
        if self.health.evaluations > self.health.read:
            said.append(f"of {self.health.evaluations} evaluations the newest {self.health.read} were read for faults")
        if self.health.evaluations and self.health.reference_max_ulp is None:
            said.append("the reference's own error, for want of an oracle")
        if not self.health.repeated:
            said.append("whether the same submission gets the same verdict again")
        return said

    def citation(self, cell: str) -> str:
        """A cited cell as this viewer may read it: hidden workloads keep their names to themselves."""
        return "a hidden workload" if self.hidden.intersection(cell.split(".")) else cell

    def _row(self, number: int, fault: Fault) -> FindingRow:
        kind = REGISTER.get(fault.code) or FindingKind(fault.code, fault.code, "", "", "")
        finding = Finding(fault.code, fault.severity, fault.stage, fault.message)
        seen = f"in {fault.evaluations} of the newest {self.health.read} evaluations"
        where = f", on {', '.join(fault.workloads)}" if fault.workloads else ""
        return FindingRow(number, finding, kind, cell_id("health", fault.code), f"{seen}{where}")


def design_of(version: TaskVersion, health: TaskHealth, *, sees_hidden: bool, citable: bool = False) -> Design:
    if sees_hidden:
        return Design(version, version.spec, health, citable=citable)
    names = tasks.hidden_workloads(version)
    hidden = frozenset(cell_id(name) for name in names)
    return Design(version, tasks.public_spec(version), health.for_submitter(names), hidden, citable)
