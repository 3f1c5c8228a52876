"""How far reviewing has come: for oneself on the queue's page, by person for whoever runs the house."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sqlalchemy import and_, bindparam, case, func, select
from sqlalchemy.orm import Session

from app.domain.review import ReviewState, Role, SlotState
from app.models import Review, ReviewSlot, User

WEEK = dt.timedelta(days=7)
ENOUGH = 5  # reviews, before a median of their minutes says anything


@dataclass(frozen=True)
class Own:
    """One's own reviews that are in, of today (UTC) and of the seven days before now."""

    today: int
    week: int


@dataclass(frozen=True)
class Person:
    """A reviewer's week; `minutes` is the median of the active minutes, `None` where there are too few reviews."""

    name: str
    submitted: int
    held: int
    minutes: int | None
    is_paused: bool


def own(session: Session, person_id: int, now: dt.datetime) -> Own:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    found = session.execute(_OWN, {"person": person_id, "today": today, "week": now - WEEK}).one()
    return Own(found.today, found.week)


def by_person(session: Session, now: dt.datetime) -> list[Person]:
    """Everybody who may review, busiest first; for staff alone, since it names people."""
    people = session.scalars(select(User).where(User.is_active).order_by(User.name)).all()
    taken: dict[int, list[int]] = {}
    for reviewer, seconds in session.execute(_TAKEN, {"week": now - WEEK}):
        taken.setdefault(reviewer, []).append(seconds)
    held = {row.holder_id: int(row.items) for row in session.execute(_HELD, {"moment": now})}
    found = [
        Person(u.name, len(taken.get(u.id, ())), held.get(u.id, 0), _minutes(taken.get(u.id, ())), u.is_paused)
        for u in people
        if {Role.REVIEWER.value, Role.ADJUDICATOR.value} & set(u.roles)
    ]
    return sorted(found, key=lambda person: -person.submitted)


def _minutes(seconds: Sequence[int]) -> int | None:
    return max(1, round(median(seconds) / 60)) if len(seconds) >= ENOUGH else None


# A correction is no further review.
_IS_IN = and_(Review.state == ReviewState.SUBMITTED, Review.revision == 1)
_OWN = select(
    func.coalesce(func.sum(case((Review.submitted_at >= bindparam("today"), 1), else_=0)), 0).label("today"),
    func.count().label("week"),
).where(_IS_IN, Review.reviewer_id == bindparam("person"), Review.submitted_at >= bindparam("week"))
_TAKEN = select(Review.reviewer_id, Review.active_seconds).where(_IS_IN, Review.submitted_at >= bindparam("week"))
_HELD = (
    select(ReviewSlot.holder_id, func.count().label("items"))
    .where(and_(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until >= bindparam("moment")))
    .group_by(ReviewSlot.holder_id)
)
