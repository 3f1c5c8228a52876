"""A report arranged for reading: findings by weight, citable cells, and what was not measured.

Templates show; this module decides what stands first.  Nothing here changes a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from app.domain.cells import cell_id, run_keys
from app.domain.findings import REGISTER, FindingKind
from app.domain.report import (
    VERDICT_TITLES,
    Finding,
    OutputResult,
    Report,
    Severity,
    Stage,
    StageName,
    StageStatus,
    Tier,
    WorkloadResult,
)
from app.evaluations import numerics, numerics_text
from app.evaluations.numerics import Group, OutputView, RuleRow, WorkloadRow
from app.evaluations.precision import Record
from app.kit import charts, pages
from app.kit.figures import significant

_TRICK_STATES = ("seen", "hint", "unknown", "not seen")
TOP_FINDINGS = 3
SHOWN_EVIDENCE_ITEMS = 4
PLAIN_LENGTH_MAX = 200


@dataclass(frozen=True)
class FindingRow:
    """A finding with what the register says of its kind; `number` is its place in the report, from 1."""

    number: int
    finding: Finding
    kind: FindingKind
    cell: str
    counter_example: str | None
    also_on: tuple[str, ...] = ()
    record: Record | None = None


@dataclass(frozen=True)
class Trick:
    """A known integrity trick on this submission: `seen`, `hint`, `not seen` or `unknown`.

    Telemetry and static hits are hints: they ask a person, and accuse nobody.
    """

    kind: FindingKind
    state: str
    row: FindingRow | None


@dataclass(frozen=True)
class Evidence:
    """A report as the page reads it; `citable` shows the buttons with which a reviewer cites a cell.

    `records`: how contests of each finding's rule were settled.
    """

    report: Report
    citable: bool = False
    hidden: frozenset[str] = frozenset()
    records: Mapping[str, Record] = field(default_factory=dict)

    def citation(self, cell: str) -> str:
        """A cited cell as this viewer may read it: hidden workloads keep their names to themselves."""
        names = [
            name for part in cell.split(".") for name in self.hidden if part == name or part.startswith(f"{name}-")
        ]
        return "a hidden workload" if names else cell

    @cached_property
    def headline(self) -> str:
        """The judge's sentence without what stands beside it already: the scope, or the verdict alone."""
        said = self.report.headline.removesuffix(f", {self.report.scope.sentence()}")
        return "" if said == VERDICT_TITLES[self.report.verdict] else said

    @cached_property
    def workloads(self) -> list[WorkloadRow]:
        """Every run; a hidden workload, which says pass or fail and no more, says it once."""
        runs = _hidden_once(self.report.workloads)
        bad = (StageStatus.FAILED, StageStatus.ERROR)
        return [WorkloadRow(w, key, w.status in bad) for w, key in zip(runs, run_keys(runs), strict=True)]

    @cached_property
    def task_health(self) -> str:
        """What this evaluation says of the task itself, in one line."""
        faults = [row.kind.title for row in self.findings if row.finding.code.startswith("task.")]
        if not faults and not any(w.outputs for w in self.report.workloads):
            return "not seen here: no output was compared with the reference"
        errors = [
            o.reference_max_ulp
            for w in self.report.workloads
            for o in w.outputs
            if w.decides and o.reference_max_ulp is not None
        ]
        said = ["; ".join(faults) if faults else "no task fault seen"]
        said += [f"the reference's own largest error is {significant(max(errors))} ULP"] if errors else []
        return "; ".join(said)

    @cached_property
    def findings(self) -> list[FindingRow]:
        """Every finding, the gravest first; equal ones stay in the report's order."""
        rows = [self._row(n, f) for n, f in enumerate(self.report.findings, 1)]
        return sorted(rows, key=lambda row: row.finding.gravity)

    @cached_property
    def top(self) -> list[FindingRow]:
        """At most three, one of each kind; the other workloads of a kind are named beside its first."""
        first: dict[str, FindingRow] = {}
        for row in self.findings:
            kept = first.get(row.finding.code)
            if row.finding.severity is Severity.INFO:
                continue
            if kept is None:
                first[row.finding.code] = row
            elif row.finding.workload:
                first[row.finding.code] = replace(kept, also_on=(*kept.also_on, row.finding.workload))
        return list(first.values())[:TOP_FINDINGS]

    def of_stage(self, name: str) -> list[FindingRow]:
        return [row for row in self.findings if row.finding.stage == name]

    def at_lines(self, file: str) -> dict[int, list[FindingRow]]:
        """Line number -> findings there, for the source view."""
        found: dict[int, list[FindingRow]] = {}
        for row in self.findings:
            where = row.finding.location
            if where is not None and where.line is not None and where.file == file:
                found.setdefault(where.line, []).append(row)
        return found

    def stage(self, name: str) -> Stage:
        """The stage's outcome; one that the report does not list was not measured."""
        found = next((s for s in self.report.stages if s.name == name), None)
        return found or Stage(StageName(name), StageStatus.NOT_MEASURED, reason="this stage was not run")

    @cached_property
    def tricks(self) -> list[Trick]:
        seen = {row.finding.code: row for row in reversed(self.findings)}
        measured = self.stage(StageName.INTEGRITY).status in (
            StageStatus.PASSED,
            StageStatus.FLAGGED,
            StageStatus.FAILED,
        )
        rest = "not seen" if measured else "unknown"
        kinds = [kind for code, kind in REGISTER.items() if code.startswith("integrity.")]
        tricks = [Trick(kind, _trick_state(seen.get(kind.code), rest), seen.get(kind.code)) for kind in kinds]
        return sorted(tricks, key=lambda trick: _TRICK_STATES.index(trick.state))

    @cached_property
    def tricks_seen(self) -> int:
        return sum(1 for trick in self.tricks if trick.state == "seen")

    @cached_property
    def groups(self) -> list[Group]:
        return numerics.groups(self.workloads)

    @cached_property
    def rules(self) -> list[RuleRow]:
        return numerics.rule_rows(self.report.workloads, self.report.rules)

    def view(self, output: OutputResult) -> OutputView:
        return OutputView(output)

    @cached_property
    def benchmark(self) -> dict[str, Any] | None:
        return self.report.benchmark if isinstance(self.report.benchmark, dict) else None

    @cached_property
    def speedups(self) -> charts.IntervalPlot | None:
        return charts.speedup_plot(self.benchmark.get("workloads", ())) if self.benchmark else None

    @cached_property
    def deciding_runs(self) -> list[WorkloadRow]:
        """All but the inputs outside the contract, which are information."""
        return [row for row in self.workloads if row.workload.decides]

    @cached_property
    def passed_workloads(self) -> int:
        return sum(1 for row in self.deciding_runs if row.workload.status is StageStatus.PASSED)

    @cached_property
    def shown_first(self) -> WorkloadRow | None:
        """The workload whose details are open: the first that fails, else the first."""
        rows = [row for row in self.workloads if row.has_details]
        return next((row for row in rows if row.is_failing), rows[0] if rows else None)

    def _row(self, number: int, finding: Finding) -> FindingRow:
        kind = REGISTER.get(finding.code) or FindingKind(finding.code, finding.code, "", "", "")
        cell, example = cell_id("finding", number), self._counter_example(finding)
        return FindingRow(number, finding, kind, cell, example, record=self.records.get(finding.code))

    def _counter_example(self, finding: Finding) -> str | None:
        decides = finding.code != "numerics.outside_contract"
        runs = [w for w in self.report.workloads if w.decides is decides]
        worst = _worst(runs, finding.workload) if finding.code.startswith("numerics.") else None
        if worst is not None:
            return f"workload {finding.workload}, {worst}"
        items = [f"{k} {_plain(v)}" for k, v in finding.evidence.items() if not isinstance(v, dict | list | tuple)]
        place = [f"workload {finding.workload}"] if finding.workload else []
        return ", ".join(place + items[:SHOWN_EVIDENCE_ITEMS]) or None


def _hidden_once(workloads: Iterable[WorkloadResult]) -> list[WorkloadResult]:
    """Runs of a workload whose outputs are kept back become one row: failed when any of them failed."""
    rows: dict[object, WorkloadResult] = {}
    for n, w in enumerate(workloads):
        key = w.name if w.hidden and not w.outputs else n
        if key not in rows or w.status in (StageStatus.FAILED, StageStatus.ERROR):
            rows[key] = w
    return list(rows.values())


def _trick_state(row: FindingRow | None, otherwise: str) -> str:
    if row is None:
        return otherwise
    is_hint = row.finding.tier is Tier.TELEMETRY or row.finding.severity is Severity.INFO
    return "hint" if is_hint else "seen"


def _worst(workloads: Iterable[WorkloadResult], name: str | None) -> str | None:
    outputs = [o for w in workloads if w.name == name for o in w.outputs if not o.ok and o.worst]
    if not outputs:
        return None
    e = outputs[0].worst[0]
    index = ", ".join(map(str, e.index))
    return f"{outputs[0].name}[{index}]: got {_plain(e.got)}, want {_plain(e.want)}, {significant(e.ulp)} ULP"


def _plain(value: Any) -> str:
    text = significant(value, 4) if isinstance(value, int | float) else str(value)
    # A traceback stands whole in the log; on the first screen it would push the rest away.
    return text if len(text) <= PLAIN_LENGTH_MAX else f"{text[:PLAIN_LENGTH_MAX]}…"


def for_viewer(
    report: Report, *, sees_hidden: bool, citable: bool = False, records: Mapping[str, Record] | None = None
) -> Evidence:
    """What this viewer may see: reviewers everything, a submitter only `report.for_submitter()`."""
    if sees_hidden:
        return Evidence(report, citable, records=records or {})
    hidden = frozenset(cell_id(w.name) for w in report.workloads if w.hidden)
    return Evidence(report.for_submitter(), citable, hidden, records or {})


pages.GLOBALS.update(evidence_cell=cell_id, budget_gauge=charts.gauge)
pages.FILTERS.update(decider=numerics.decider, allowed=numerics.allowed, as_text=numerics_text.detail)
