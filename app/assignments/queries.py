"""Every select about slots: who may take which, who holds which, and what the queue shows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from statistics import median

from sqlalchemy import ColumnElement, Select, and_, exists, func, literal, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased, joinedload

from app.accounts.policy import Viewer
from app.domain.review import ReviewState, SkipKind, SlotState
from app.errors import NotFound
from app.models import (
    Conflict,
    Review,
    ReviewSlot,
    ReviewSubject,
    Skip,
    SubjectAuthor,
    Submission,
    TaskVersion,
    User,
)

# Reviews that say how long one takes: fewer than the second are no answer.
_EFFORT_REVIEWS, _EFFORT_REVIEWS_MIN = 500, 5


def find_slot(session: Session, public_id: str) -> ReviewSlot:
    found = session.scalar(_whole().where(ReviewSlot.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no review slot {public_id!r}")
    return found


def slots_of(session: Session, subject_id: int) -> Sequence[ReviewSlot]:
    query = select(ReviewSlot).where(ReviewSlot.subject_id == subject_id).order_by(ReviewSlot.number)
    return session.scalars(query).all()


def is_free(now: dt.datetime) -> ColumnElement[bool]:
    """Open, or claimed by somebody whose lease has run out."""
    return or_(
        ReviewSlot.state == SlotState.OPEN,
        and_(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until < now),
    )


def may_take(viewer: Viewer, now: dt.datetime) -> ColumnElement[bool]:
    """The one rule of who may review what: used by the queue, by the claim, and again on submit."""
    mine = aliased(ReviewSlot)
    holds_another = exists().where(
        mine.subject_id == ReviewSlot.subject_id,
        mine.holder_id == viewer.id,
        mine.id != ReviewSlot.id,
        or_(mine.state == SlotState.DONE, mine.lease_until >= now),
    )
    reviewed = exists().where(
        Review.subject_id == ReviewSlot.subject_id,
        Review.reviewer_id == viewer.id,
        Review.state == ReviewState.SUBMITTED,
    )
    return and_(~_is_too_close(viewer, ReviewSlot.subject_id), ~_declined(viewer), ~holds_another, ~reviewed)


def is_too_close(session: Session, viewer: Viewer, subject_id: int) -> bool:
    """Whether the viewer made it, or is in the author's team or in conflict: whoever judges it asks this first."""
    return bool(session.scalar(select(_is_too_close(viewer, literal(subject_id)))))


def takeable(session: Session, viewer: Viewer, now: dt.datetime, limit: int) -> Sequence[ReviewSlot]:
    """Free slots this person may take, the weightiest first; several slots of one subject are one item."""
    query = _whole().where(is_free(now), may_take(viewer, now))
    query = query.order_by(ReviewSlot.priority.desc(), ReviewSlot.id).limit(limit)
    return session.scalars(query).all()


def held_by(session: Session, viewer: Viewer, now: dt.datetime) -> Sequence[ReviewSlot]:
    query = _whole().where(
        ReviewSlot.holder_id == viewer.id, ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until >= now
    )
    return session.scalars(query.order_by(ReviewSlot.lease_until)).all()


def locked_by_others(session: Session, viewer: Viewer, now: dt.datetime) -> tuple[int, dt.datetime | None]:
    """How many items this person could take were they not held, and when the first of them frees."""
    query = select(func.count(func.distinct(ReviewSlot.subject_id)), func.min(ReviewSlot.lease_until)).where(
        ReviewSlot.state == SlotState.CLAIMED,
        ReviewSlot.lease_until >= now,
        ReviewSlot.holder_id != viewer.id,
        may_take(viewer, now),
    )
    count, earliest = session.execute(query).one()
    return count, earliest


def count_states(session: Session) -> dict[str, int]:
    rows = session.execute(select(ReviewSlot.state, func.count()).group_by(ReviewSlot.state)).all()
    return {state.value: 0 for state in SlotState} | dict(rows)


def done_counts(session: Session, subject_ids: Sequence[int]) -> dict[int, int]:
    query = select(ReviewSlot.subject_id, func.count()).where(
        ReviewSlot.subject_id.in_(subject_ids), ReviewSlot.state == SlotState.DONE
    )
    return dict(session.execute(query.group_by(ReviewSlot.subject_id)).all())


def usual_minutes(session: Session) -> dict[str, int]:
    """Task kind -> the median of the minutes that its newest reviews took, where there are enough to say."""
    query = (
        select(TaskVersion.kind, Review.active_seconds)
        .join(ReviewSubject, ReviewSubject.id == Review.subject_id)
        .join(TaskVersion, TaskVersion.id == ReviewSubject.task_version_id)
        .where(Review.state == ReviewState.SUBMITTED, Review.active_seconds > 0)
        .order_by(Review.id.desc())
        .limit(_EFFORT_REVIEWS)
    )
    taken: dict[str, list[int]] = {}
    for kind, seconds in session.execute(query):
        taken.setdefault(kind, []).append(seconds)
    return {k: max(1, round(median(s) / 60)) for k, s in taken.items() if len(s) >= _EFFORT_REVIEWS_MIN}


def put_off(session: Session, viewer: Viewer) -> set[int]:
    """Subjects that this person said `later` to."""
    query = select(Skip.subject_id).where(Skip.user_id == viewer.id, Skip.kind == SkipKind.LATER)
    return set(session.scalars(query))


def expired(session: Session, now: dt.datetime) -> Sequence[ReviewSlot]:
    query = select(ReviewSlot).where(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until < now)
    return session.scalars(query.order_by(ReviewSlot.id)).all()


def live_leases(session: Session, now: dt.datetime) -> Sequence[ReviewSlot]:
    """For the admin: who holds what, the soonest to end first."""
    query = _whole().options(joinedload(ReviewSlot.holder))
    query = query.where(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until >= now)
    return session.scalars(query.order_by(ReviewSlot.lease_until)).all()


def broken(session: Session) -> Sequence[ReviewSlot]:
    return session.scalars(_whole().where(ReviewSlot.state == SlotState.BROKEN).order_by(ReviewSlot.id)).all()


def _is_too_close(viewer: Viewer, subject_id: ColumnElement[int] | InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """The viewer made it, is in its author's team, or has a declared conflict, from either side."""
    author = aliased(User)
    declared = exists().where(
        or_(
            and_(
                Conflict.user_id == viewer.id,
                or_(Conflict.other_user_id == author.id, and_(Conflict.other_team == author.team, author.team != "")),
            ),
            and_(
                Conflict.user_id == author.id,
                or_(
                    Conflict.other_user_id == viewer.id,
                    and_(Conflict.other_team == viewer.team, Conflict.other_team != ""),
                ),
            ),
        )
    )
    same_team = and_(author.team != "", author.team == viewer.team)
    return exists().where(
        SubjectAuthor.subject_id == subject_id,
        SubjectAuthor.user_id == author.id,
        or_(author.id == viewer.id, same_team, declared),
    )


def _declined(viewer: Viewer) -> ColumnElement[bool]:
    return exists().where(
        Skip.subject_id == ReviewSlot.subject_id, Skip.user_id == viewer.id, Skip.kind == SkipKind.NOT_ME
    )


def _whole() -> Select[ReviewSlot]:
    subject = joinedload(ReviewSlot.subject)
    return select(ReviewSlot).options(
        subject.joinedload(ReviewSubject.submission).joinedload(Submission.author),
        subject.joinedload(ReviewSubject.task_version).joinedload(TaskVersion.task),
    )
