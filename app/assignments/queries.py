"""Every select about slots: who may take which, who holds which, and what the queue shows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from sqlalchemy import Integer, Select, and_, bindparam, case, exists, func, select
from sqlalchemy.orm import Session, joinedload

from app.accounts.policy import Viewer
from app.assignments.filters import Filters
from app.assignments.rules import HAS_RUN_OUT, IS_FREE, MAY_REVIEW, MAY_TAKE, NOW, PERSON, PUT_OFF, asked_by, too_close
from app.domain.review import ReviewState, SkipKind, SlotState, SubjectKind
from app.errors import NotFound
from app.kit.among import among
from app.models import Review, ReviewSlot, ReviewSubject, Skip, Submission, TaskVersion, User, utc_now

# Reviews that say how long one takes: fewer than the second are no answer.
_EFFORT_REVIEWS, _EFFORT_REVIEWS_MIN = 500, 5
# What comes after the last page, put off or just run out, is short by its nature.
_TAIL_MAX = 200


def find_slot(session: Session, public_id: str) -> ReviewSlot:
    found = session.scalar(_whole().where(ReviewSlot.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no review slot {public_id!r}")
    return found


def slots_of(session: Session, subject_id: int) -> Sequence[ReviewSlot]:
    query = select(ReviewSlot).where(ReviewSlot.subject_id == subject_id).order_by(ReviewSlot.number)
    return session.scalars(query).all()


def is_too_close(session: Session, viewer: Viewer, subject_id: int) -> bool:
    """Whether the viewer made it, or is in the author's team or in conflict: whoever judges it asks this first."""
    return bool(session.scalar(_TOO_CLOSE, {"subject": subject_id, **asked_by(viewer, utc_now())}))


def reviewable(session: Session, viewer: Viewer, subject_ids: Sequence[int], now: dt.datetime) -> set[int]:
    """Those of the subjects that this person may review and did not put off."""
    if not subject_ids:
        return set()
    return set(session.scalars(_REVIEWABLE, {"subjects": subject_ids, **asked_by(viewer, now)}))


def put_off(session: Session, viewer: Viewer, filters: Filters, now: dt.datetime) -> Sequence[int]:
    """Open subjects that this person said `later` to, in the order in which they did."""
    query = _PUT_OFF.where(*filters.conditions()) if filters else _PUT_OFF
    return session.scalars(query, asked_by(viewer, now) | filters.values()).all()


def run_out(session: Session, viewer: Viewer, filters: Filters, now: dt.datetime) -> Sequence[int]:
    """Subjects whose last free place is a lease that ran out, and that no sweep has given back yet."""
    query = _RUN_OUT.where(*filters.conditions()) if filters else _RUN_OUT
    return session.scalars(query, asked_by(viewer, now) | filters.values()).all()


def free_slots(session: Session, viewer: Viewer, subject_ids: Sequence[int], now: dt.datetime) -> dict[int, ReviewSlot]:
    """Subject -> the first of its slots that this person may take, with all that a line of the queue shows."""
    first: dict[int, ReviewSlot] = {}
    if subject_ids:
        # Sorted here: to save sorting a few, SQLite would go through all slots in their order.
        found = session.scalars(_FREE_SLOTS, {"subjects": subject_ids, **asked_by(viewer, now)})
        for slot in sorted(found, key=lambda slot: slot.number):
            first.setdefault(slot.subject_id, slot)
    return first


def reserved_for(session: Session, viewer: Viewer, now: dt.datetime) -> Sequence[ReviewSlot]:
    """What an admin gave to this person and they have not begun."""
    return session.scalars(_RESERVED, asked_by(viewer, now)).all()


def held_by(session: Session, viewer: Viewer, now: dt.datetime) -> Sequence[ReviewSlot]:
    return session.scalars(_HELD, asked_by(viewer, now)).all()


def locked_by_others(session: Session, viewer: Viewer, now: dt.datetime) -> tuple[int, dt.datetime | None]:
    """How many items this person could take were they not held, and when the first of them frees."""
    query = select(func.count(func.distinct(ReviewSlot.subject_id)), func.min(ReviewSlot.lease_until)).where(
        ReviewSlot.state == SlotState.CLAIMED,
        ReviewSlot.lease_until >= now,
        ReviewSlot.holder_id != viewer.id,
        MAY_TAKE,
    )
    count, earliest = session.execute(query, asked_by(viewer, now)).one()
    return count, earliest


def count_states(session: Session) -> dict[str, int]:
    rows = session.execute(select(ReviewSlot.state, func.count()).group_by(ReviewSlot.state)).all()
    return {state.value: 0 for state in SlotState} | dict(rows)


@dataclass(frozen=True)
class Standing:
    """What a person holds, what an admin gave them, how much they may do in a day, and what they know about."""

    held: int
    given: int
    reviews_per_day_max: int | None
    knows: frozenset[str]


def standing_of(session: Session, viewer: Viewer, now: dt.datetime) -> Standing:
    held, given, allowed, knows = session.execute(_STANDING, asked_by(viewer, now)).one()
    return Standing(held, given, allowed, frozenset(knows or ()))


def submitted_since(session: Session, viewer: Viewer, since: dt.datetime) -> int:
    """How many reviews this person has finished since; correcting one is no further review."""
    query = select(func.count()).where(
        Review.reviewer_id == viewer.id, Review.submitted_at >= since, Review.revision == 1
    )
    return session.scalar(query) or 0


def lock_person(session: Session, viewer: Viewer) -> None:
    """One person's claims come one after another, so that their limits hold."""
    _lock(session, _LOCK_PERSON, {"person_id": viewer.id})


def lock_subject(session: Session, subject_id: int) -> None:
    """Whoever changes the slots of a subject does it alone; what the queue keeps of them is counted anew after it."""
    _lock(session, _LOCK_SUBJECT, {"subject": subject_id})


def _lock(session: Session, statement: Any, values: dict[str, int]) -> None:
    connection = session.connection()
    # Whoever writes on SQLite is alone already.
    if connection.dialect.name != "sqlite":
        connection.execute(statement, values)


def usual_minutes(session: Session) -> dict[str, int]:
    """`effort_kind` -> the median of the minutes that its newest reviews took, where there are enough to say."""
    query = (
        select(ReviewSubject.kind, TaskVersion.kind, Review.active_seconds)
        .join(ReviewSubject, ReviewSubject.id == Review.subject_id)
        .join(TaskVersion, TaskVersion.id == ReviewSubject.task_version_id)
        .where(Review.state == ReviewState.SUBMITTED, Review.revision == 1, Review.active_seconds > 0)
        .order_by(Review.id.desc())
        .limit(_EFFORT_REVIEWS)
    )
    taken: dict[str, list[int]] = {}
    for subject_kind, task_kind, seconds in session.execute(query):
        taken.setdefault(effort_kind(subject_kind, task_kind), []).append(seconds)
    return {k: max(1, round(median(s) / 60)) for k, s in taken.items() if len(s) >= _EFFORT_REVIEWS_MIN}


def effort_kind(subject_kind: str, task_kind: str) -> str:
    """What says how long a review takes: the task's kind for a submission, else the kind of subject."""
    return task_kind if subject_kind == SubjectKind.SUBMISSION else subject_kind


def expired(session: Session, now: dt.datetime) -> Sequence[ReviewSlot]:
    return session.scalars(_EXPIRED, {"moment": now}).all()


def due_before(session: Session, moment: dt.datetime) -> Sequence[ReviewSubject]:
    query = select(ReviewSubject).where(ReviewSubject.is_open, ReviewSubject.due_at < moment)
    return session.scalars(query.order_by(ReviewSubject.due_at, ReviewSubject.id)).all()


def live_leases(session: Session, now: dt.datetime) -> Sequence[ReviewSlot]:
    """For the admin: who holds what, the soonest to end first."""
    query = _whole().options(joinedload(ReviewSlot.holder))
    query = query.where(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until >= now)
    return session.scalars(query.order_by(ReviewSlot.lease_until)).all()


def broken(session: Session) -> Sequence[ReviewSlot]:
    return session.scalars(_whole().where(ReviewSlot.state == SlotState.BROKEN).order_by(ReviewSlot.id)).all()


def _whole() -> Select[ReviewSlot]:
    subject = joinedload(ReviewSlot.subject)
    return select(ReviewSlot).options(
        subject.joinedload(ReviewSubject.submission).joinedload(Submission.author),
        subject.joinedload(ReviewSubject.task_version).joinedload(TaskVersion.task),
    )


def _line() -> Select[ReviewSlot]:
    """Without the long columns, which a line of the queue does not show."""
    subject = joinedload(ReviewSlot.subject)
    submission, version = subject.joinedload(ReviewSubject.submission), subject.joinedload(ReviewSubject.task_version)
    return select(ReviewSlot).options(
        submission.load_only(Submission.public_id, Submission.title, Submission.framework),
        version.load_only(TaskVersion.public_id, TaskVersion.title, TaskVersion.kind, TaskVersion.version).joinedload(
            TaskVersion.task
        ),
    )


# Built once: see `rules`.
_SUBJECT: Any = bindparam("subject", type_=Integer)
_IS_HELD = and_(ReviewSlot.holder_id == PERSON, ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until >= NOW)
# A condition as a value: SQLite would go by the index of states otherwise, which is the whole queue.
_IS_FREE_HERE = case((IS_FREE, 1), else_=0) == 1
_TOO_CLOSE = select(too_close(_SUBJECT))
_REVIEWABLE = select(ReviewSubject.id).where(among(ReviewSubject.id, "subjects"), MAY_REVIEW, ~PUT_OFF)
_PUT_OFF = (
    select(ReviewSubject.id)
    .join(Skip, Skip.subject_id == ReviewSubject.id)
    .where(Skip.user_id == PERSON, Skip.kind == SkipKind.LATER, ReviewSubject.is_open, MAY_REVIEW)
    .order_by(Skip.at, Skip.id)
    .limit(_TAIL_MAX)
)
_RUN_OUT = (
    select(ReviewSubject.id)
    .where(
        ReviewSubject.id.in_(select(ReviewSlot.subject_id).where(HAS_RUN_OUT)),
        ~ReviewSubject.is_open,
        exists().where(ReviewSlot.subject_id == ReviewSubject.id, HAS_RUN_OUT, MAY_TAKE),
        ~PUT_OFF,
    )
    .order_by(ReviewSubject.rank.desc(), ReviewSubject.id)
    .limit(_TAIL_MAX)
)
_FREE_SLOTS = _line().where(among(ReviewSlot.subject_id, "subjects"), _IS_FREE_HERE, MAY_TAKE)
_RESERVED = _line().where(ReviewSlot.reserved_for_id == PERSON, IS_FREE, MAY_TAKE).order_by(ReviewSlot.id)
_HELD = _line().where(_IS_HELD).order_by(ReviewSlot.lease_until)
_STANDING = select(
    select(func.count()).where(_IS_HELD).scalar_subquery(),
    select(func.count()).where(ReviewSlot.reserved_for_id == PERSON, IS_FREE).scalar_subquery(),
    User.reviews_per_day_max,
    User.expertise,
).where(User.id == PERSON)
_EXPIRED = select(ReviewSlot).where(HAS_RUN_OUT).order_by(ReviewSlot.id)
_LOCK_PERSON = select(User.id).where(User.id == PERSON).with_for_update(key_share=True)
_LOCK_SUBJECT = select(ReviewSubject.id).where(ReviewSubject.id == _SUBJECT).with_for_update(key_share=True)
