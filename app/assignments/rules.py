"""The one rule of who may review what, as SQL that is built once and asked with a person and a moment.

Building such expressions takes SQLAlchemy many times longer than a database takes to answer them.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ColumnElement, Integer, String, and_, bindparam, exists, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.accounts.policy import Viewer
from app.domain.review import ReviewState, SkipKind, SlotState
from app.models import Conflict, Review, ReviewSlot, ReviewSubject, Skip, SubjectAuthor, User
from app.models.base import UtcDateTime

PERSON: Any = bindparam("person_id", type_=Integer)
TEAM: Any = bindparam("person_team", type_=String)
NOW: Any = bindparam("moment", type_=UtcDateTime)


def asked_by(viewer: Viewer, now: dt.datetime) -> dict[str, Any]:
    """The values of every parameter above."""
    return {"person_id": viewer.id, "person_team": viewer.team, "moment": now}


def said(kind: SkipKind, subject_id: InstrumentedAttribute[int]) -> ColumnElement[bool]:
    skip = aliased(Skip)
    return exists().where(skip.subject_id == subject_id, skip.user_id == PERSON, skip.kind == kind)


def too_close(subject_id: Any) -> ColumnElement[bool]:
    """The person made it, is in its author's team, or has a declared conflict, from either side."""
    declared = exists().where(
        or_(
            and_(
                Conflict.user_id == PERSON,
                or_(Conflict.other_user_id == User.id, and_(Conflict.other_team == User.team, User.team != "")),
            ),
            and_(
                Conflict.user_id == User.id,
                or_(Conflict.other_user_id == PERSON, and_(Conflict.other_team == TEAM, Conflict.other_team != "")),
            ),
        )
    )
    same_team = and_(User.team != "", User.team == TEAM)
    # Hangs on the person alone, so that a database finds these people once and not for each row.
    people = select(User.id).where(or_(User.id == PERSON, same_team, declared)).correlate(None)
    return exists().where(SubjectAuthor.subject_id == subject_id, SubjectAuthor.user_id.in_(people))


def _may_review(subject_id: InstrumentedAttribute[int], *, besides: Any = None) -> ColumnElement[bool]:
    """Not too close, not declined, not reviewed before, and no slot of it held already (`besides` one)."""
    mine = aliased(ReviewSlot)
    holds = [
        mine.subject_id == subject_id,
        mine.holder_id == PERSON,
        or_(mine.state == SlotState.DONE, mine.lease_until >= NOW),
    ]
    holds += [] if besides is None else [mine.id != besides]
    reviewed = exists().where(
        Review.subject_id == subject_id, Review.reviewer_id == PERSON, Review.state == ReviewState.SUBMITTED
    )
    return and_(~too_close(subject_id), ~said(SkipKind.NOT_ME, subject_id), ~exists().where(*holds), ~reviewed)


HAS_RUN_OUT = and_(ReviewSlot.state == SlotState.CLAIMED, ReviewSlot.lease_until < NOW)
# Open, or claimed by somebody whose lease has run out.
IS_FREE = or_(ReviewSlot.state == SlotState.OPEN, HAS_RUN_OUT)
# Of a subject.
MAY_REVIEW = _may_review(ReviewSubject.id)
PUT_OFF = said(SkipKind.LATER, ReviewSubject.id)
# Of a slot: asked by the queue, by the claim, and again on submit.
MAY_TAKE = and_(
    # Two conditions joined by "or" send SQLite through the index of those for whom slots are kept: all slots there are.
    func.coalesce(ReviewSlot.reserved_for_id, PERSON) == PERSON,
    _may_review(ReviewSlot.subject_id, besides=ReviewSlot.id),
)
