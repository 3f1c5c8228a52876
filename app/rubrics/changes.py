"""What differs between two versions of a rubric, and how far it reaches.

`wording` changes no answer, `additive` adds what earlier reviews lack nothing without, `scoring` changes what an
answer is worth or needs, `structural` makes earlier answers meaningless or unplaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from app.rubrics.content import CriterionContent, RubricContent


class ChangeClass(IntEnum):
    """Ordered: the class of a whole revision is that of its gravest change."""

    NONE = 0
    WORDING = 1
    ADDITIVE = 2
    SCORING = 3
    STRUCTURAL = 4

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Change:
    """One difference; `where` is a criterion and its field, `before` and `after` are None where it was not."""

    reach: ChangeClass
    where: str
    before: Any = None
    after: Any = None

    def sentence(self) -> str:
        if self.before is None:
            return f"{self.where} is new: {_shown(self.after)}"
        if self.after is None:
            return f"{self.where} is gone: {_shown(self.before)}"
        return f"{self.where}: {_shown(self.before)} → {_shown(self.after)}"


_WORDING = ("title", "guidance", "grader_notes")
_SCORING = ("weight", "gate", "rationale_at_or_below", "evidence_levels", "still_asked")


def changes(before: RubricContent, after: RubricContent) -> list[Change]:
    """Every difference, in the order of the later version; what is gone stands last."""
    old, new = ({c.key: c for c in version.criteria} for version in (before, after))
    found = list(_of_the_whole(before, after))
    for key, criterion in new.items():
        found += _of_criterion(old[key], criterion) if key in old else [_added(criterion)]
    found += [Change(ChangeClass.STRUCTURAL, key, before=old[key].title) for key in old if key not in new]
    return found


def reach_of(found: list[Change]) -> ChangeClass:
    return max((change.reach for change in found), default=ChangeClass.NONE)


def _of_the_whole(before: RubricContent, after: RubricContent) -> Iterator[Change]:
    if before.key != after.key:
        yield Change(ChangeClass.STRUCTURAL, "key", before.key, after.key)
    if before.title != after.title:
        yield Change(ChangeClass.WORDING, "title", before.title, after.title)
    if before.subject != after.subject:
        yield Change(ChangeClass.STRUCTURAL, "subject", before.subject, after.subject)
    yield from _of_reach("kinds", before.kinds, after.kinds)
    kept = [[c.key for c in one.criteria if c.key in _keys(other)] for one, other in ((before, after), (after, before))]
    if kept[0] != kept[1]:
        yield Change(ChangeClass.WORDING, "order", kept[0], kept[1])


def _of_criterion(old: CriterionContent, new: CriterionContent) -> Iterator[Change]:
    for names, reach in ((_WORDING, ChangeClass.WORDING), (_SCORING, ChangeClass.SCORING)):
        for name in names:
            if getattr(old, name) != getattr(new, name):
                yield Change(reach, f"{new.key}.{name}", getattr(old, name), getattr(new, name))
    yield from _of_levels(old, new)
    yield from _of_table(new.key, "examples", old.examples, new.examples, ChangeClass.WORDING)
    yield from _of_table(new.key, "caps", old.caps, new.caps, ChangeClass.SCORING)
    if set(old.informed_by) != set(new.informed_by):
        yield Change(ChangeClass.ADDITIVE, f"{new.key}.informed_by", old.informed_by, new.informed_by)
    yield from _of_reach(f"{new.key}.kinds", old.kinds, new.kinds)
    yield from _of_reach(f"{new.key}.frameworks", old.frameworks, new.frameworks)


def _of_levels(old: CriterionContent, new: CriterionContent) -> Iterator[Change]:
    for level in sorted({*old.levels, *new.levels}, reverse=True):
        before, after = old.levels.get(level), new.levels.get(level)
        if before != after:
            same_level = before is not None and after is not None
            reach = ChangeClass.WORDING if same_level else ChangeClass.STRUCTURAL
            yield Change(reach, f"{new.key}.levels.{level}", before, after)


def _of_table(key: str, name: str, old: dict[Any, Any], new: dict[Any, Any], reach: ChangeClass) -> Iterator[Change]:
    for entry in [*new, *(e for e in old if e not in new)]:
        if old.get(entry) != new.get(entry):
            yield Change(reach, f"{key}.{name}.{entry}", old.get(entry), new.get(entry))


def _of_reach(where: str, old: list[str], new: list[str]) -> Iterator[Change]:
    """An empty list means everything: whom a rubric or criterion is for may widen, but not shrink, unnoticed."""
    if set(old) == set(new):
        return
    is_wider = not new or (bool(old) and set(old) <= set(new))
    yield Change(ChangeClass.ADDITIVE if is_wider else ChangeClass.STRUCTURAL, where, old, new)


def _added(criterion: CriterionContent) -> Change:
    """A criterion without weight changes no total; one with weight, or a gate, does."""
    counts = bool(criterion.weight) or criterion.gate
    return Change(ChangeClass.SCORING if counts else ChangeClass.ADDITIVE, criterion.key, after=criterion.title)


def _keys(rubric: RubricContent) -> set[str]:
    return {c.key for c in rubric.criteria}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value) or "nothing"
