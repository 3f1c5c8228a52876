"""Words that stand for a figure of the evidence: `{{max_ulp}}` in a text becomes the number when it is read.

Where a figure was not measured, the text says so; a name that stands for nothing is refused on submit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from app.domain.findings import REGISTER
from app.domain.report import OutputResult, Report, Severity, WorkloadResult
from app.kit.figures import significant

NOT_MEASURED = "not measured"
_WORD = re.compile(r"\{\{\s*([A-Za-z0-9_]{1,40})\s*\}\}")


@dataclass(frozen=True)
class Variable:
    """`means` is for the list that reviewers choose from."""

    name: str
    means: str
    of: Callable[[Report], str]


def filled(text: str, report: Report | None) -> str:
    """The text with every known variable's value; unknown ones stay as they were typed."""
    if "{{" not in text:
        return text
    return _WORD.sub(lambda match: _value(match[1], report, otherwise=match[0]), text)


def unknown(texts: Iterable[str]) -> list[str]:
    """Names in braces that stand for nothing, in order."""
    return list(dict.fromkeys(name for text in texts for name in _WORD.findall(text) if name not in _BY_NAME))


def values(report: Report | None) -> list[tuple[Variable, str]]:
    """Every variable with its value here."""
    return [(variable, _value(variable.name, report, otherwise="")) for variable in VARIABLES]


def _value(name: str, report: Report | None, *, otherwise: str) -> str:
    variable = _BY_NAME.get(name)
    if variable is None:
        return otherwise
    return (variable.of(report) if report else "") or NOT_MEASURED


def _worst(report: Report) -> tuple[WorkloadResult, OutputResult] | None:
    """The output that speaks for the numerics: one that fails before any that passes, then the larger distance."""
    found = [(w, o) for w in report.workloads if w.decides for o in w.outputs if o.max_ulp is not None]
    return max(found, key=lambda pair: (not pair[1].ok, pair[1].max_ulp), default=None)


def _of_worst(read: Callable[[WorkloadResult, OutputResult], str]) -> Callable[[Report], str]:
    def of(report: Report) -> str:
        worst = _worst(report)
        return read(*worst) if worst else ""

    return of


def _number(value: float | None) -> str:
    return "" if value is None else significant(value)


def _code(text: str) -> str:
    """As a piece of code, whatever it holds: names are the submission's or the task's, and may be anything."""
    plain = " ".join(text.replace("`", "").split())
    return f"`{plain}`" if plain else ""


def _worst_index(_: WorkloadResult, output: OutputResult) -> str:
    return f"[{', '.join(map(str, output.worst[0].index))}]" if output.worst else ""


def _finding(report: Report) -> str:
    """Errors before warnings, as the page has them."""
    for severity in (Severity.ERROR, Severity.WARNING):
        for finding in report.findings:
            if finding.severity is severity:
                kind = REGISTER.get(finding.code)
                return kind.title.lower() if kind else _code(finding.code)
    return "no error or warning"


def _line(report: Report) -> str:
    places = (finding.location for finding in report.findings)
    return next((_code(f"{at.file}:{at.line}") for at in places if at is not None and at.line is not None), "")


def _timed(report: Report) -> list[dict[str, Any]]:
    return list(report.benchmark.get("workloads", [])) if isinstance(report.benchmark, dict) else []


def _speedup(report: Report) -> str:
    found = [w["speedup"] for w in _timed(report) if w.get("speedup") is not None]
    return f"{significant(min(found))}\N{MULTIPLICATION SIGN}" if found else ""


def _baseline(report: Report) -> str:
    return _code(next((str(b.get("name", "")) for w in _timed(report) for b in w.get("baselines") or []), ""))


VARIABLES = (
    Variable("verdict", "the verdict in words", lambda r: r.verdict.value.replace("_", " ")),
    Variable("task", "the task's name", lambda r: _code(r.task.name)),
    Variable("finding", "the gravest finding", _finding),
    Variable("line", "the first line that a finding names", _line),
    Variable("workload", "the workload with the largest error", _of_worst(lambda w, _: _code(w.name))),
    Variable("output", "the output with the largest error on it", _of_worst(lambda _, o: _code(o.name))),
    Variable("max_ulp", "its largest error in ULP", _of_worst(lambda _, o: _number(o.max_ulp))),
    Variable("max_abs_error", "its largest absolute error", _of_worst(lambda _, o: _number(o.max_abs_error))),
    Variable("max_rel_error", "its largest relative error", _of_worst(lambda _, o: _number(o.max_rel_error))),
    Variable("worst_index", "where its worst element stands", _of_worst(_worst_index)),
    Variable("mismatched", "how many of its elements are wrong", _of_worst(lambda _, o: _number(o.mismatched))),
    Variable("reference_max_ulp", "the reference's own largest error there, in ULP",
             _of_worst(lambda _, o: _number(o.reference_max_ulp))),
    Variable("budget_ratio", "its error over the error budget", _of_worst(lambda _, o: _number(o.budget_ratio))),
    Variable("speedup", "the least speed-up of all workloads", _speedup),
    Variable("baseline", "what it was timed against", _baseline),
)  # fmt: skip
_BY_NAME = {variable.name: variable for variable in VARIABLES}
