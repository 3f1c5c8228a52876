"""Every select about slots: who may take which, who holds which, and what the queue shows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from statistics import median
from typing import Any

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


def is_free(now: dt.datetime) -> ColumnElement[bool]:
    """Open, or claimed by somebody whose lease has run out."""
    return or_(ReviewSlot.state == SlotState.OPEN, has_run_out(now))


def has_run_out(now: dt.datetime) -> ColumnElement[bool]:
    return and_(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until < now)


def may_take(viewer: Viewer, now: dt.datetime) -> ColumnElement[bool]:
    """The one rule of who may have which slot: asked by the queue, by the claim, and again on submit."""
    for_them = or_(ReviewSlot.reserved_for_id.is_(None), ReviewSlot.reserved_for_id == viewer.id)
    return and_(for_them, _may_review(viewer, ReviewSlot.subject_id, now, besides=ReviewSlot.id))


def is_too_close(session: Session, viewer: Viewer, subject_id: int) -> bool:
    """Whether the viewer made it, or is in the author's team or in conflict: whoever judges it asks this first."""
    return bool(session.scalar(select(_is_too_close(viewer, literal(subject_id)))))


def reviewable(session: Session, viewer: Viewer, subject_ids: Sequence[int], now: dt.datetime) -> set[int]:
    """Those of the subjects that this person may review and did not put off."""
    if not subject_ids:
        return set()
    query = select(ReviewSubject.id).where(
        ReviewSubject.id.in_(subject_ids),
        _may_review(viewer, ReviewSubject.id, now),
        ~_said(viewer, SkipKind.LATER, ReviewSubject.id),
    )
    return set(session.scalars(query))


def put_off(
    session: Session, viewer: Viewer, conditions: Sequence[ColumnElement[bool]], now: dt.datetime
) -> Sequence[ReviewSubject]:
    """Open subjects that this person said `later` to, in the order in which they did."""
    query = select(ReviewSubject).join(Skip, Skip.subject_id == ReviewSubject.id)
    query = query.where(Skip.user_id == viewer.id, Skip.kind == SkipKind.LATER, ReviewSubject.is_open, *conditions)
    query = query.where(_may_review(viewer, ReviewSubject.id, now)).order_by(Skip.at, Skip.id)
    return session.scalars(query.limit(_TAIL_MAX)).all()


def run_out(
    session: Session, viewer: Viewer, conditions: Sequence[ColumnElement[bool]], now: dt.datetime
) -> Sequence[ReviewSubject]:
    """Subjects whose last free place is a lease that ran out, and that no sweep has given back yet."""
    left = exists().where(ReviewSlot.subject_id == ReviewSubject.id, has_run_out(now), may_take(viewer, now))
    some = select(ReviewSlot.subject_id).where(has_run_out(now))
    query = select(ReviewSubject).where(ReviewSubject.id.in_(some), ~ReviewSubject.is_open, left, *conditions)
    query = query.where(~_said(viewer, SkipKind.LATER, ReviewSubject.id))
    return session.scalars(query.order_by(ReviewSubject.rank.desc(), ReviewSubject.id).limit(_TAIL_MAX)).all()


def free_slots(session: Session, viewer: Viewer, subject_ids: Sequence[int], now: dt.datetime) -> dict[int, ReviewSlot]:
    """Subject -> the first of its slots that this person may take, with all that a line of the queue shows."""
    query = _whole().where(ReviewSlot.subject_id.in_(subject_ids), is_free(now), may_take(viewer, now))
    first: dict[int, ReviewSlot] = {}
    for slot in session.scalars(query.order_by(ReviewSlot.number)):
        first.setdefault(slot.subject_id, slot)
    return first


def reserved_for(session: Session, viewer: Viewer, now: dt.datetime) -> Sequence[ReviewSlot]:
    """What an admin gave to this person and they have not begun."""
    query = _whole().where(ReviewSlot.reserved_for_id == viewer.id, is_free(now), may_take(viewer, now))
    return session.scalars(query.order_by(ReviewSlot.id)).all()


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


def held_count(session: Session, viewer: Viewer, now: dt.datetime) -> int:
    held = and_(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until >= now)
    query = select(func.count()).where(ReviewSlot.holder_id == viewer.id, held)
    return session.scalar(query) or 0


def submitted_since(session: Session, viewer: Viewer, since: dt.datetime) -> int:
    query = select(func.count()).where(Review.reviewer_id == viewer.id, Review.submitted_at >= since)
    return session.scalar(query) or 0


def reviews_per_day_max(session: Session, viewer: Viewer) -> int | None:
    return session.scalar(select(User.reviews_per_day_max).where(User.id == viewer.id))


def expertise_of(session: Session, viewer: Viewer) -> frozenset[str]:
    return frozenset(session.scalar(select(User.expertise).where(User.id == viewer.id)) or ())


def lock_person(session: Session, viewer: Viewer) -> None:
    """One person's claims come one after another, so that their limits hold."""
    session.execute(select(User.id).where(User.id == viewer.id).with_for_update(key_share=True))


def lock_subject(session: Session, subject_id: int) -> None:
    """Whoever changes the slots of a subject does it alone; what the queue keeps of them is counted anew after it."""
    session.execute(select(ReviewSubject.id).where(ReviewSubject.id == subject_id).with_for_update(key_share=True))


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


def expired(session: Session, now: dt.datetime) -> Sequence[ReviewSlot]:
    query = select(ReviewSlot).where(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until < now)
    return session.scalars(query.order_by(ReviewSlot.id)).all()


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


def _is_too_close(viewer: Viewer, subject_id: Any) -> ColumnElement[bool]:
    """The viewer made it, is in its author's team, or has a declared conflict, from either side."""
    return exists().where(SubjectAuthor.subject_id == subject_id, SubjectAuthor.user_id.in_(_close_people(viewer)))


def _close_people(viewer: Viewer) -> Select[Any]:
    """Hangs on the viewer alone, so that a database finds it once and not for each row."""
    declared = exists().where(
        or_(
            and_(
                Conflict.user_id == viewer.id,
                or_(Conflict.other_user_id == User.id, and_(Conflict.other_team == User.team, User.team != "")),
            ),
            and_(
                Conflict.user_id == User.id,
                or_(
                    Conflict.other_user_id == viewer.id,
                    and_(Conflict.other_team == viewer.team, Conflict.other_team != ""),
                ),
            ),
        )
    )
    same_team = and_(User.team != "", User.team == viewer.team)
    # Not correlated with an outer select of people.
    return select(User.id).where(or_(User.id == viewer.id, same_team, declared)).correlate(None)


def _may_review(
    viewer: Viewer, subject_id: InstrumentedAttribute[int], now: dt.datetime, *, besides: Any = None
) -> ColumnElement[bool]:
    """Not too close, not declined, not reviewed before, and no slot of it held already (`besides` one)."""
    mine = aliased(ReviewSlot)
    holds = [
        mine.subject_id == subject_id,
        mine.holder_id == viewer.id,
        or_(mine.state == SlotState.DONE, mine.lease_until >= now),
    ]
    holds += [] if besides is None else [mine.id != besides]
    reviewed = exists().where(
        Review.subject_id == subject_id, Review.reviewer_id == viewer.id, Review.state == ReviewState.SUBMITTED
    )
    declined = _said(viewer, SkipKind.NOT_ME, subject_id)
    return and_(~_is_too_close(viewer, subject_id), ~declined, ~exists().where(*holds), ~reviewed)


def _said(viewer: Viewer, kind: SkipKind, subject_id: InstrumentedAttribute[int]) -> ColumnElement[bool]:
    skip = aliased(Skip)
    return exists().where(skip.subject_id == subject_id, skip.user_id == viewer.id, skip.kind == kind)


def _whole() -> Select[ReviewSlot]:
    subject = joinedload(ReviewSlot.subject)
    return select(ReviewSlot).options(
        subject.joinedload(ReviewSubject.submission).joinedload(Submission.author),
        subject.joinedload(ReviewSubject.task_version).joinedload(TaskVersion.task),
    )
