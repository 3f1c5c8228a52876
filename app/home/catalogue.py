"""The catalogue of failure modes: what each finding code means, beside where this person can see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.domain.findings import REGISTER, FindingKind
from app.domain.review import Role
from app.evaluations import queries
from app.evaluations.precision import Record, records
from app.evaluations.queries import Judged

REPORTS_READ = 200
EXAMPLES_SHOWN = 3


@dataclass(frozen=True)
class Entry:
    """A kind of finding and the submissions that have it, newest first."""

    kind: FindingKind
    found_in: Sequence[Judged]
    record: Record | None = None

    @property
    def examples(self) -> Sequence[Judged]:
        return self.found_in[:EXAMPLES_SHOWN]


def entries(session: Session, viewer: Viewer, words: str = "") -> dict[str, list[Entry]]:
    """Area -> its kinds that contain all of `words`; examples are of submissions that the viewer may see."""
    sees_all = viewer.has(Role.REVIEWER, Role.ADJUDICATOR)
    judged = queries.newest_judged(session, author_id=None if sees_all else viewer.id, limit=REPORTS_READ)
    found = found_by_code(judged)
    settled = records(session)
    wanted = [
        Entry(kind, found.get(kind.code, []), settled.get(kind.code))
        for kind in REGISTER.values()
        if contains(kind, words)
    ]
    return {area: list(same) for area, same in groupby(wanted, key=lambda one: one.kind.code.partition(".")[0])}


def found_by_code(judged: Iterable[Judged]) -> Mapping[str, Sequence[Judged]]:
    """Code -> the submissions with that finding, each once."""
    found: dict[str, list[Judged]] = {}
    for one in judged:
        for code in dict.fromkeys(one.codes):
            found.setdefault(code, []).append(one)
    return found


def contains(kind: FindingKind, words: str) -> bool:
    """Whether every word stands somewhere in what is said of the kind, whatever its case."""
    text = f"{kind.code} {kind.title} {kind.cause} {kind.confirm} {kind.advice}".casefold()
    return all(word in text for word in words.casefold().split())
