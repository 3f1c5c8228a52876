"""The queue's order, walked page by page along an index: what a page costs does not grow with the queue.

A page is found in two steps that alternate: candidates in order, from the index alone, and which of them this person
may review.  A person who may take few of many gets larger and larger bites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, func, select, tuple_, union_all
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.assignments import queries
from app.assignments.filters import EVERYTHING, Filters
from app.assignments.shuffle import Shuffle, shuffle_of
from app.kit.pagination import decode_place, encode_place
from app.models import ReviewSubject, utc_now

PAGE_ITEMS = 50
_BITE_MAX = 2000


class Sort(StrEnum):
    """`usual` is priority, then started items, then the person's own shuffle; `due` shows dated items alone."""

    USUAL = "usual"
    OLDEST = "oldest"
    NEWEST = "newest"
    DUE = "due"


@dataclass(frozen=True)
class Asked:
    """Which page of the queue, in which order."""

    filters: Filters = EVERYTHING
    sort: Sort = Sort.USUAL
    cursor: str | None = None
    limit: int = PAGE_ITEMS


# A place in the order, which is a tuple of numbers that grow: the subject's id stands last.
Place = tuple[int, ...]


def _number(name: str) -> Any:
    return bindparam(name, type_=BigInteger)


_NUMBERS = {Sort.USUAL: 3, Sort.OLDEST: 1, Sort.NEWEST: 1, Sort.DUE: 1}
# (after which place, how many) -> the next candidates in order.
Candidates = Callable[[Place | None, int], Sequence[Place]]


@dataclass(frozen=True)
class Walked:
    """The ids of a page's subjects in order, and the cursor of the page after it."""

    subject_ids: list[int]
    next_cursor: str | None


def walk(session: Session, viewer: Viewer, asked: Asked) -> Walked:
    """The next `limit` open subjects that this person may review and did not put off."""
    after = decode_place(asked.cursor, _NUMBERS[asked.sort]) if asked.cursor else None
    candidates = _candidates(session, viewer, asked)
    # A bite is somewhat larger than the page, since some of it may be none of this person's business.
    allowed = _allowed(session, viewer, candidates, after, asked.limit + 10)
    page = list(islice(allowed, asked.limit + 1))
    is_last = len(page) <= asked.limit
    page = page[: asked.limit]
    return Walked([place[-1] for place in page], None if is_last else encode_place(page[-1]))


def _allowed(
    session: Session, viewer: Viewer, candidates: Candidates, after: Place | None, bite: int
) -> Iterator[Place]:
    now = utc_now()
    while True:
        found = candidates(after, bite)
        free = queries.reviewable(session, viewer, [place[-1] for place in found], now)
        yield from (place for place in found if place[-1] in free)
        if len(found) < bite:
            return
        after, bite = found[-1], min(2 * bite, _BITE_MAX)


def _candidates(session: Session, viewer: Viewer, asked: Asked) -> Candidates:
    if asked.sort is Sort.USUAL:
        return _Usual(session, shuffle_of(viewer.public_id), asked.filters)
    return _ByColumn(session, asked.sort, asked.filters)


@dataclass(frozen=True)
class _ByColumn:
    """Places are (id,)."""

    session: Session
    sort: Sort
    filters: Filters

    def __call__(self, after: Place | None, limit: int) -> Sequence[Place]:
        subject = ReviewSubject
        query = select(subject.id).where(subject.is_open, *self.filters.conditions())
        last = after[-1] if after else None
        if self.sort is Sort.DUE:
            query = query.where(subject.due_at.is_not(None)).order_by(subject.due_at, subject.id)
            if last is not None:
                due_at = select(subject.due_at).where(subject.id == last).scalar_subquery()
                query = query.where(tuple_(subject.due_at, subject.id) > tuple_(due_at, last))
        elif self.sort is Sort.OLDEST:
            query = query.order_by(subject.id)
            query = query if last is None else query.where(subject.id > last)
        else:
            query = query.order_by(subject.id.desc())
            query = query if last is None else query.where(subject.id < last)
        return [(key,) for key in self.session.scalars(query.limit(limit), self.filters.values())]


@dataclass(frozen=True)
class _Usual:
    """Places are (-rank, turn, id)."""

    session: Session
    shuffle: Shuffle
    filters: Filters

    def __call__(self, after: Place | None, limit: int) -> Sequence[Place]:
        found: list[Place] = []
        rank, turn = (-after[0], after[1]) if after else (self._next_rank(_ABOVE_ALL), -1)
        while rank is not None:
            found += [(-rank, *row) for row in self._of_rank(rank, turn, limit - len(found))]
            if len(found) == limit:
                break
            rank, turn = self._next_rank(rank), -1
        return found

    def _next_rank(self, below: int) -> int | None:
        return self.session.scalar(_NEXT_RANK, {"below": below})

    def _of_rank(self, rank: int, after: int, limit: int) -> Iterable[Any]:
        stretches = self.shuffle.stretches(after)
        values: dict[str, Any] = {f"low_{n}": low for n, (low, _) in enumerate(stretches)}
        values |= {f"high_{n}": high for n, (_, high) in enumerate(stretches)}
        values |= {"rank": rank, "most": limit, "step": self.shuffle.step, "start": self.shuffle.start}
        statement = _merge(len(stretches), Filters(**dict.fromkeys(self.filters.values(), "given")))
        return self.session.execute(statement, values | self.filters.values())


_ABOVE_ALL = 2**31 - 1
_NEXT_RANK = select(func.max(ReviewSubject.rank)).where(ReviewSubject.is_open, ReviewSubject.rank < _number("below"))


@lru_cache
def _merge(stretches: int, filters: Filters) -> Select[Any]:
    """The first of so many stretches in the order of a shuffle; `filters` says which are given, not their values."""
    rows = union_all(*(_stretch(n, filters) for n in range(stretches))).subquery()
    turn = Shuffle(_number("step"), _number("start")).turn(rows.c.shuffle)
    return select(turn, rows.c.id).order_by(turn, rows.c.id).limit(_number("most"))


def _stretch(n: int, filters: Filters) -> Select[Any]:
    subject = ReviewSubject
    within = (subject.shuffle >= _number(f"low_{n}"), subject.shuffle < _number(f"high_{n}"))
    query = select(subject.id, subject.shuffle).where(
        subject.is_open, subject.rank == _number("rank"), *within, *filters.conditions()
    )
    # A select of a select: SQLite takes no limit inside a union otherwise.
    cut = query.order_by(subject.shuffle).limit(_number("most")).subquery()
    return select(cut.c.id, cut.c.shuffle)
