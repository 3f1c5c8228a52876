"""Words that stand for a figure of the evidence: `{{max_ulp}}` in a text becomes the number when it is read.

Where there is no figure, the text says so; a name that stands for nothing is refused on submit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.domain.findings import REGISTER
from app.domain.report import OutputResult, Report, WorkloadResult
from app.kit.figures import apart, significant
from app.reviews import facts

NOT_MEASURED = "not measured"
# A name begins with a letter: `{{0}}` is a piece of C++.
_NAME = r"[A-Za-z][A-Za-z0-9_]{0,39}"
_WORD = re.compile(rf"\{{\{{\s*({_NAME})\s*\}}\}}")
NOT_KNOWN, NO_SUCH = "not known here", "no such name"
_GAP = re.compile(rf"\[({_NAME}): (?:{NOT_KNOWN}|{NO_SUCH})\]")


@dataclass(frozen=True)
class Variable:
    """`means` is for the list that reviewers choose from; `lacking` is read where there is no value."""

    name: str
    means: str
    of: Callable[[Report], str]
    lacking: str = NOT_MEASURED


def filled(text: str, report: Report | None) -> str:
    """The text with every known variable's value; unknown ones stay as they were typed."""
    if "{{" not in text:
        return text
    return _WORD.sub(lambda match: _said(match[1], report, otherwise=match[0]), text)


def inserted(text: str, report: Report | None) -> str:
    """The text with values, for a box that is still being written: what has none is a gap that can be seen."""
    return _WORD.sub(lambda match: _value(match[1], report) or _gap(match[1]), text)


def gaps(text: str) -> list[str]:
    """Names whose gaps are still in the text, in order."""
    return list(dict.fromkeys(_GAP.findall(text)))


def without_value(text: str, report: Report | None) -> list[tuple[str, str]]:
    """Variables in the text that have no value here, each with what is read in its place."""
    names = [name for name in dict.fromkeys(_WORD.findall(text)) if name in _BY_NAME]
    return [(name, _BY_NAME[name].lacking) for name in names if not _value(name, report)]


def unknown(texts: Iterable[str]) -> list[str]:
    """Names in braces that stand for nothing, in order."""
    return list(dict.fromkeys(name for text in texts for name in _WORD.findall(text) if name not in _BY_NAME))


def values(report: Report | None) -> list[tuple[Variable, str]]:
    """Every variable with its value here, or the words for having none."""
    return [(variable, _said(variable.name, report, otherwise="")) for variable in VARIABLES]


def _said(name: str, report: Report | None, *, otherwise: str) -> str:
    return _value(name, report) or (_BY_NAME[name].lacking if name in _BY_NAME else otherwise)


def _value(name: str, report: Report | None) -> str:
    return _BY_NAME[name].of(report) if report and name in _BY_NAME else ""


def _gap(name: str) -> str:
    return f"[{name}: {NOT_KNOWN if name in _BY_NAME else NO_SUCH}]"


def _of_worst(read: Callable[[WorkloadResult, OutputResult], str]) -> Callable[[Report], str]:
    def of(report: Report) -> str:
        worst = facts.worst_output(report)
        return read(*worst) if worst else ""

    return of


def _figure(read: Callable[[OutputResult], float | None]) -> Callable[[Report], str]:
    """Of the worst output, if its values were compared."""
    return _of_worst(lambda _, output: _number(read(output)) if facts.has_values(output) else "")


def _number(value: float | None) -> str:
    return "" if value is None else significant(value)


def _code(text: str) -> str:
    """As a piece of code, whatever it holds: names are the submission's or the task's, and may be anything."""
    plain = " ".join(text.replace("`", "").split())
    return f"`{plain}`" if plain else ""


def _index(output: OutputResult) -> str:
    return f"[{', '.join(map(str, output.worst[0].index))}]" if output.worst else ""


def _wrong_element(workload: WorkloadResult, output: OutputResult) -> str:
    """Nothing where every output that may be named passes: the largest error is then no wrong one."""
    if output.ok or not output.worst:
        return ""
    got, want = apart(output.worst[0].got, output.worst[0].want)
    return f"{_code(output.name + _index(output))} on {_code(workload.name)} is {got} where {want} is right"


def _finding(report: Report) -> str:
    found = facts.gravest(report)
    if found is None:
        return ""
    kind = REGISTER.get(found.code)
    return _amid_a_sentence(kind.title) if kind else _code(found.code)


def _amid_a_sentence(title: str) -> str:
    """With a small letter first, unless its first word is a name: NaN stays NaN."""
    rest = title.partition(" ")[0][1:]
    return title[:1].lower() + title[1:] if rest == rest.lower() else title


def _advice(report: Report) -> str:
    found = facts.gravest(report)
    return REGISTER[found.code].advice if found is not None and found.code in REGISTER else ""


def _line(report: Report) -> str:
    found = facts.first_line(report)
    return _code(f"{found[1].file}:{found[1].line}") if found else ""


def _speedup(report: Report) -> str:
    found = [one["speedup"] for one in facts.timed(report) if one.get("speedup") is not None]
    return f"{significant(min(found))}\N{MULTIPLICATION SIGN}" if found else ""


def _baseline(report: Report) -> str:
    return next((_code(name) for name in facts.baselines(report)), "")


def _not_checked(report: Report) -> str:
    return "; ".join(_code(line) for line in report.not_checked)


def _not_built(report: Report) -> str:
    return ", ".join(_code(name) for name in report.scope.environments_not_built)


VARIABLES = (
    Variable("verdict", "the verdict in words", lambda r: r.verdict.value.replace("_", " ")),
    Variable("task", "the task's name", lambda r: _code(r.task.name)),
    Variable("finding", "the gravest finding", _finding, "no error or warning in what was measured"),
    Variable("advice", "what the catalogue advises on it", _advice, "nothing in particular"),
    Variable("line", "the line that the gravest finding with one names", _line, "no line"),
    Variable("wrong_element", "the worst element that is wrong, with what is right there",
             _of_worst(_wrong_element), "no wrong element"),
    Variable("workload", "the workload with the largest error", _of_worst(lambda w, _: _code(w.name))),
    Variable("output", "the output with the largest error on it", _of_worst(lambda _, o: _code(o.name))),
    Variable("max_ulp", "its largest error in ULP", _figure(lambda o: o.max_ulp)),
    Variable("max_abs_error", "its largest absolute error", _figure(lambda o: o.max_abs_error)),
    Variable("max_rel_error", "its largest relative error", _figure(lambda o: o.max_rel_error)),
    Variable("worst_index", "where its worst element stands", _of_worst(lambda _, o: _index(o)), "no element"),
    Variable("mismatched", "how many of its elements are wrong", _figure(lambda o: o.mismatched)),
    Variable("elements", "how many elements it has", _figure(lambda o: o.elements)),
    Variable("reference_max_ulp", "the reference's own largest error there, in ULP",
             _figure(lambda o: o.reference_max_ulp)),
    Variable("budget_ratio", "its error over the error budget", _figure(lambda o: o.budget_share)),
    Variable("speedup", "the least speed-up of all workloads", _speedup),
    Variable("baseline", "what it was timed against", _baseline),
    Variable("not_checked", "what nobody could check here", _not_checked, "nothing that was asked for"),
    Variable("not_built", "what it was not built for here", _not_built, "nothing that was asked for"),
)  # fmt: skip
_BY_NAME = {variable.name: variable for variable in VARIABLES}
