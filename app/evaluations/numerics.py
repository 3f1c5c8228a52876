"""The numerics panel: runs in their groups, each output's distributions, and where other rules disagree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.domain.report import OutputResult, StageStatus, WorkloadResult
from app.kit import error_maps, histograms
from app.kit.figures import apart, significant

# What a run is called that asks the same workload again; every other family stands for inputs of its own.
AGAIN = ("repeat", "new values, same memory")
OWN = ("task", "hidden")
WORST_SHOWN = 8
QUANTILE_TITLES = ("50 %", "90 %", "99 %", "99.9 %")
DECIDERS = {
    "tolerance": "tolerance",
    "max_ulp": "ULP limit",
    "reference_error": "reference's own error",
    "special": "special values",
    "budget": "error budget",
    "integer_exact": "exact integers",
    "reference_range": "reference's range",
}


@dataclass(frozen=True)
class WorkloadRow:
    """A workload in the numerics panel.  The judge runs one several times over; `key` tells the runs apart."""

    workload: WorkloadResult
    key: str
    is_failing: bool

    @property
    def family(self) -> str:
        """What was special about this run; empty for the plain one."""
        return "" if self.workload.family in (*OWN, self.workload.name) else self.workload.family

    @property
    def has_details(self) -> bool:
        return any(o.worst or o.ulp_histogram for o in self.workload.outputs)


@dataclass(frozen=True)
class Group:
    """Runs that mean the same for the verdict."""

    title: str
    note: str
    rows: tuple[WorkloadRow, ...]

    @property
    def failing(self) -> int:
        return sum(row.is_failing or row.workload.status is StageStatus.FLAGGED for row in self.rows)


@dataclass(frozen=True)
class WorstRow:
    index: str
    got: str
    want: str
    difference: float | None
    ulp: float


@dataclass(frozen=True)
class OutputView:
    """One output of one run, with its distributions drawn."""

    output: OutputResult

    @cached_property
    def ulps(self) -> histograms.Histogram | None:
        o = self.output
        return histograms.ulp_histogram(o.ulp_histogram, o.reference_ulp_histogram, o.allowed_ulp)

    @cached_property
    def errors(self) -> histograms.Histogram | None:
        o = self.output
        if o.error_exponent is None:
            return None
        return histograms.error_histogram(
            o.error_histogram, o.reference_error_histogram, o.error_exponent, o.allowed_error
        )

    @cached_property
    def map(self) -> error_maps.ErrorMap | None:
        return error_maps.error_map(self.output.error_map)

    @cached_property
    def map_note(self) -> str:
        """How an output lies in its map."""
        shape, cells = self.output.shape, self.output.error_map
        if len(cells) == 1:
            return "elements in their order, read line by line"
        across, down = shape[-1], self.output.elements // max(shape[-1], 1)
        return f"{down} rows down, {across} columns across"

    @property
    def quantiles(self) -> list[tuple[str, float]]:
        """Shares of the elements that stay below an ULP distance, and the largest one."""
        largest = self.output.max_ulp
        # The judge rounds them up, so that they may lie above the largest.
        named = [(title, min(q, largest)) for title, q in zip(QUANTILE_TITLES, self.output.quantiles_ulp, strict=False)]
        return [*named, ("largest", largest)] if named else []

    @cached_property
    def worst(self) -> list[WorstRow]:
        return [_worst_row(e.index, e.got, e.want, e.ulp) for e in self.output.worst[:WORST_SHOWN]]


@dataclass(frozen=True)
class RuleRow:
    """What a named rule says of the task's own workloads, and the outputs where it and the judge part."""

    name: str
    passes: bool
    lenient_on: tuple[str, ...]
    strict_on: tuple[str, ...]

    @property
    def disagrees(self) -> bool:
        return bool(self.lenient_on or self.strict_on)


def groups(rows: Iterable[WorkloadRow]) -> list[Group]:
    """The task's own workloads, the same again, what the contract grants, and what decides nothing."""
    kinds: dict[str, list[WorkloadRow]] = {"own": [], "again": [], "granted": [], "outside": []}
    for row in rows:
        kinds[_kind(row.workload)].append(row)
    titles = (
        ("own", "Workloads", "as the task gives them"),
        ("again", "The same again", "repeated calls, and new values in the same memory"),
        ("granted", "Further inputs of the contract", "they decide like workloads"),
        ("outside", "Inputs outside the contract", "information; they decide nothing"),
    )
    # Calls come in a shuffled order; people read them in the order of the workloads.
    names = {row.workload.name: n for n, row in enumerate(kinds["own"])}
    kinds["again"].sort(key=lambda row: (names.get(row.workload.name, len(names)), AGAIN.index(row.workload.family)))
    return [Group(title, note, tuple(kinds[kind])) for kind, title, note in titles if kinds[kind]]


def _kind(workload: WorkloadResult) -> str:
    if not workload.decides:
        return "outside"
    if workload.family in (*OWN, workload.name):
        return "own"
    return "again" if workload.family in AGAIN else "granted"


def rule_rows(workloads: Iterable[WorkloadResult], whole: dict[str, str]) -> list[RuleRow]:
    """`whole`: the report's own word on each rule, where no output of this view has one."""
    own = [w for w in workloads if w.family == "task"]
    compared = [(f"{w.name} \u00b7 {o.name}", o) for w in own for o in w.outputs if o.rules]
    if not compared:
        failed = tuple(w.name for w in own if w.status is StageStatus.FAILED)
        return [_whole_row(name, outcome == "pass", failed) for name, outcome in whole.items()]
    names = dict.fromkeys(name for _, o in compared for name in o.rules)
    return [_rule_row(name, compared) for name in names]


def _whole_row(name: str, passes: bool, failed: tuple[str, ...]) -> RuleRow:
    strict = ("some workload",) if not passes and not failed else ()
    return RuleRow(name, passes, failed if passes else (), strict)


def _rule_row(name: str, compared: Sequence[tuple[str, OutputResult]]) -> RuleRow:
    said = [(place, o.rules.get(name) == "pass", o.ok) for place, o in compared if name in o.rules]
    lenient = tuple(place for place, passes, ok in said if passes and not ok)
    strict = tuple(place for place, passes, ok in said if ok and not passes)
    return RuleRow(name, all(passes for _, passes, _ in said), lenient, strict)


def _worst_row(index: Sequence[int], got: float | str, want: float | str, ulp: float) -> WorstRow:
    difference = None if isinstance(got, str) or isinstance(want, str) else got - want
    return WorstRow(f"[{', '.join(map(str, index))}]", *apart(got, want), difference, ulp)


def decider(name: str) -> str:
    """What decided an output, in words."""
    return DECIDERS.get(name, name.replace("_", " "))


def allowed(output: OutputResult) -> str:
    """What the deciding rule allows an element, in words."""
    parts = []
    if output.allowed_error:
        low, high = significant(output.allowed_error[0]), significant(output.allowed_error[-1])
        parts.append(low if low == high else f"{low} to {high}")
    if output.allowed_ulp is not None:
        parts.append(f"{significant(output.allowed_ulp)} ULP")
    return " or ".join(parts) or "\u2013"
