"""What is wrong or doubtful in a rubric beyond its form: keys that name nothing, levels that name nothing to see.

A fault keeps a draft from being published; a doubt is for its author to weigh.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.domain import informers
from app.domain.rubric import LEVELS
from app.domain.task import FRAMEWORKS, KINDS
from app.errors import Invalid
from app.rubrics import content
from app.rubrics.content import CriterionContent, RubricContent

DESCRIPTOR_WORDS_MIN = 4
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Remark:
    """`where` is for people, `place` the way through the document."""

    where: str
    place: Place
    message: str
    is_fault: bool = True

    def located(self, file: str, text: str) -> str:
        """`file:line: fault: where: message`."""
        line = content.line_of(text, self.place)
        return f"{file}:{line}: {'fault' if self.is_fault else 'doubt'}: {self.where}: {self.message}"


def lint_text(text: str) -> list[Remark]:
    """Every remark about a rubric as written; raises `Invalid` for what is no YAML at all."""
    data = content.parse(text)
    try:
        return lint(content.read(data))
    except Invalid as error:
        places, problems = error.details["places"], error.details["problems"]
        split = [problem.split(": ", 1) for problem in problems]
        return [Remark(where, tuple(place), said) for place, (where, said) in zip(places, split, strict=True)]


def lint(rubric: RubricContent) -> list[Remark]:
    """In the order of the document; faults and doubts alike."""
    remarks = [
        Remark("kinds", ("kinds", n), _unknown(kind, KINDS)) for n, kind in enumerate(rubric.kinds) if kind not in KINDS
    ]
    for number, criterion in enumerate(rubric.criteria):
        remarks += [
            Remark(f"{criterion.key}.{'.'.join(map(str, place))}", ("criteria", number, *place), message, is_fault)
            for place, message, is_fault in _of_criterion(criterion)
        ]
    if rubric.subject == "submission" and not any(c.gate for c in rubric.criteria):
        doubt = "no criterion is a gate: a submission that cannot be judged still gets a total"
        remarks.append(Remark("criteria", ("criteria",), doubt, is_fault=False))
    return remarks


def faults(rubric: RubricContent) -> list[str]:
    return [f"{remark.where}: {remark.message}" for remark in lint(rubric) if remark.is_fault]


def _of_criterion(criterion: CriterionContent) -> Iterator[tuple[Place, str, bool]]:
    yield from _informers(criterion)
    yield from _numbers(criterion)
    for n, name in enumerate(criterion.kinds):
        if name not in KINDS:
            yield ("kinds", n), _unknown(name, KINDS), True
    for n, name in enumerate(criterion.frameworks):
        if name not in FRAMEWORKS:
            yield ("frameworks", n), _unknown(name, FRAMEWORKS), True
    if criterion.still_asked and not criterion.gate:
        yield ("still_asked",), "only a gate closes the others", True
    yield from _descriptors(criterion)
    if not criterion.weight and not criterion.gate:
        yield ("weight",), "has no weight and is no gate: it never counts", False


def _informers(criterion: CriterionContent) -> Iterator[tuple[Place, str, bool]]:
    for n, key in enumerate(criterion.informed_by):
        if not informers.is_informer(key):
            yield ("informed_by", n), f"{key!r} is no finding, stage or field of the report{_meant(key)}", True
    for code in criterion.caps:
        if not informers.is_code(code):
            yield ("caps", code), f"{code!r} is no finding code{_meant(code)}", True
    if not criterion.informed_by:
        yield ("informed_by",), "names no evidence: reviewers are shown none beside it", False


def _numbers(criterion: CriterionContent) -> Iterator[tuple[Place, str, bool]]:
    levels = ", ".join(map(str, sorted(criterion.levels)))
    for code, level in criterion.caps.items():
        if level not in LEVELS[:-1]:
            yield ("caps", code), f"a cap is a level below the highest, not {level}", True
    for n, level in enumerate(criterion.evidence_levels):
        if level not in LEVELS:
            yield ("evidence_levels", n), f"{level} is no level; there are {levels}", True
    for level in criterion.examples:
        if level not in criterion.levels:
            yield ("examples", level), f"an example of level {level}, which is not described; there are {levels}", True


def _descriptors(criterion: CriterionContent) -> Iterator[tuple[Place, str, bool]]:
    seen: dict[str, int] = {}
    for level, text in criterion.levels.items():
        plain = text.strip().casefold()
        if not plain:
            yield ("levels", level), "is empty", True
        elif len(plain.split()) < DESCRIPTOR_WORDS_MIN:
            yield ("levels", level), f"{text.strip()!r} names nothing that can be seen; say what is observed", False
        if plain in seen:
            yield ("levels", level), f"reads as level {seen[plain]} does", True
        seen.setdefault(plain, level)


def _unknown(name: str, known: tuple[str, ...]) -> str:
    return f"{name!r} is none of {', '.join(known)}"


def _meant(key: str) -> str:
    near = informers.nearest(key)
    return f"; did you mean {near!r}?" if near else ""
