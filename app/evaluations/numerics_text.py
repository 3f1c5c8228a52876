"""The numerics of a report as plain text: for terminals, for copying, and for reading aloud."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.domain.report import OutputResult, StageStatus, WorkloadResult
from app.evaluations.numerics import AGAIN, OWN, OutputView, RuleRow, allowed, decider
from app.kit.figures import significant
from app.kit.histograms import Histogram

_HEAD = ("workload", "inputs", "output", "result", "wrong", "max error", "allowed", "ULP", "ref. ULP", "budget", "by")
_RIGHT = frozenset((4, 5, 6, 7, 8, 9))
_BAR = 30


def overview(workloads: Iterable[WorkloadResult]) -> list[str]:
    """A line for each run and output; calls that asked the same again and passed are only counted."""
    rows: list[tuple[str, ...]] = [_HEAD]
    again = 0
    for w in workloads:
        if w.family in AGAIN and w.status is StageStatus.PASSED:
            again += 1
            continue
        rows += [_cells(w, o) for o in w.outputs] or [(w.name, _inputs(w), "", str(w.status), w.reason or "")]
    note = [f"and {again} calls with the same inputs or memory again, all passed"] if again else []
    return [*_aligned(rows), *note] if len(rows) > 1 else []


def rule_lines(rows: Sequence[RuleRow]) -> list[str]:
    """Where the rules of other harnesses would have said otherwise: a line for each output and direction."""
    if rows and not any(row.disagrees for row in rows):
        return [f"all {len(rows)} named rules agree on the task's workloads"]
    parted: dict[str, list[str]] = {}
    for row in rows:
        for word, places in (("pass", row.lenient_on), ("fail", row.strict_on)):
            for place in places:
                parted.setdefault(f"would {word} {place}", []).append(row.name)
    return [f"{len(names)} of {len(rows)} named rules {what}: {', '.join(names)}" for what, names in parted.items()]


def detail(view: OutputView) -> str:
    """Everything that the charts of one output show."""
    o = view.output
    reference = f", the reference's own {significant(o.reference_max_ulp)}" if o.reference_max_ulp is not None else ""
    lines = [
        f"{o.name}: {o.mismatched} of {o.elements} elements wrong; decided by {decider(o.decided_by)}",
        f"largest error {significant(o.max_abs_error)}, allowed {allowed(o)}; {significant(o.max_ulp)} ULP{reference}",
        f"error budget: {significant(o.budget_ratio)} of it used ({o.budget_basis or 'no basis given'})",
        f"RMS error over that of the truth {significant(o.normalised_rms)}, bias {significant(o.bias_ulp)} ULP",
    ]
    if view.quantiles:
        lines.append("ULP below: " + ", ".join(f"{share} {significant(value)}" for share, value in view.quantiles))
    for chart in (view.errors, view.ulps):
        lines += _chart(chart) if chart else []
    if view.map:
        lines += ["", f"largest ULP error by place, {view.map_note} ({view.map.legend})", *view.map.lines]
    if view.worst:
        rows = [("worst at", "got", "want", "ULP"), *((e.index, e.got, e.want, significant(e.ulp)) for e in view.worst)]
        lines += ["", *_aligned(rows, frozenset((1, 2, 3)))]
    return "\n".join(lines)


def _chart(chart: Histogram) -> list[str]:
    """Bars of candidate (#) and reference (o) on a log scale, with their counts."""
    rows = [(chart.unit, "candidate", "reference" if chart.has_reference else "", "")]
    for bar in chart.bars:
        marks = (("#", bar.candidate_height), ("o", bar.reference_height))
        drawn = " ".join(mark * round(height / (chart.base - chart.top) * _BAR) for mark, height in marks if height)
        rows.append((bar.label, f"{bar.candidate}", "" if bar.reference is None else f"{bar.reference}", drawn))
    limit = [f"{chart.limit.label.strip('← →')} per element"] if chart.limit else []
    return ["", *_aligned(rows, frozenset((1, 2))), *limit]


def _cells(w: WorkloadResult, o: OutputResult) -> tuple[str, ...]:
    result = str(w.status) if o.ok or w.status is not StageStatus.PASSED else "failed"
    return (
        f"{w.name}{' (hidden)' if w.hidden else ''}", _inputs(w), o.name, result, f"{o.mismatched}/{o.elements}",
        significant(o.max_abs_error), allowed(o), significant(o.max_ulp), significant(o.reference_max_ulp),
        significant(o.budget_ratio), decider(o.decided_by),
    )  # fmt: skip


def _inputs(w: WorkloadResult) -> str:
    family = "" if w.family in (*OWN, w.name) else w.family
    return family if w.decides else f"{family}, outside the contract"


def _aligned(rows: Sequence[Sequence[str]], right: frozenset[int] = _RIGHT) -> list[str]:
    """Columns as wide as their widest cell; a short row's last cell runs on."""
    full = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[n]) for row in full) for n in range(len(rows[0]))]
    return ["  ".join(_cell(text, n, widths, row, right) for n, text in enumerate(row)).rstrip() for row in rows]


def _cell(text: str, n: int, widths: Sequence[int], row: Sequence[str], right: frozenset[int]) -> str:
    if n == len(row) - 1 and len(row) < len(widths):
        return text
    return text.rjust(widths[n]) if n in right else text.ljust(widths[n])
