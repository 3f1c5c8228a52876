"""The steps that every change of a slot is made of; after each, the subject says again what the queue needs to know.

Order of locks: the person, the subject, the slot.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ColumnElement, Integer, and_, bindparam, case, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.util import identity_key

from app.accounts.policy import Viewer
from app.assignments import policy, queries
from app.assignments.policy import Priority
from app.assignments.rules import HAS_RUN_OUT, IS_FREE, MAY_TAKE, NOW, PERSON, asked_by
from app.domain.review import SlotState
from app.models import ReviewSlot, ReviewSubject

# A slot that nobody holds.
FREE: dict[str, Any] = {
    "state": SlotState.OPEN.value, "holder_id": None, "token": None, "lease_until": None, "claimed_at": None, "why": "",
}  # fmt: skip


def take(session: Session, viewer: Viewer, slot: ReviewSlot, now: dt.datetime, **values: Any) -> bool:
    """The one atomic claim: a conditional update that changes one row or none.  By default to a live claim."""
    wanted = {"state": SlotState.CLAIMED.value, "token": None, "lease_until": None, "done_at": None} | values
    given = asked_by(viewer, now) | {f"new_{name}": v for name, v in wanted.items()}
    return _changed(session, _TAKE, slot, given, {**wanted, "holder_id": viewer.id, "claimed_at": now})


def close_own(session: Session, viewer: Viewer, slot: ReviewSlot, now: dt.datetime) -> bool:
    """Done, if this person still holds it and still may."""
    return _changed(session, _CLOSE, slot, asked_by(viewer, now), {**_CLOSED, "done_at": now})


def give_back(session: Session, slot: ReviewSlot, now: dt.datetime) -> bool:
    """Free, if its lease has run out."""
    return _changed(session, _GIVE_BACK, slot, {"moment": now}, FREE)


def give_back_own(session: Session, viewer: Viewer, slot: ReviewSlot, now: dt.datetime) -> None:
    """Free every other slot of the subject that this person held until their time ran out."""
    given = {"slot": slot.id, "counted": slot.subject_id, "person_id": viewer.id, "moment": now}
    if session.connection().execute(_GIVE_BACK_OWN, given).rowcount:
        for other in [row for row in session.identity_map.values() if isinstance(row, ReviewSlot)]:
            session.expire(other, COLUMNS)


def _changed(
    session: Session, statement: Any, slot: ReviewSlot, given: dict[str, Any], written: dict[str, Any]
) -> bool:
    """Whether exactly this slot still was as the statement's conditions say; `written` is what it then holds."""
    session.flush()
    if session.connection().execute(statement, {"slot": slot.id, **given}).rowcount != 1:
        session.expire(slot, COLUMNS)
        return False
    for name, value in written.items():
        set_committed_value(slot, name, value)
    return True


def free(session: Session, slot: ReviewSlot) -> None:
    queries.lock_subject(session, slot.subject_id)
    for name, value in FREE.items():
        setattr(slot, name, value)
    recount(session, slot.subject_id)


def reserve(session: Session, slot: ReviewSlot, person: Viewer | None) -> None:
    queries.lock_subject(session, slot.subject_id)
    slot.reserved_for_id = person.id if person else None
    recount(session, slot.subject_id)


def raise_priority(session: Session, subject: ReviewSubject, reason: Priority) -> bool:
    """Put a subject where `reason` belongs, unless it stands there or before it already."""
    if subject.priority >= reason.weight:
        return False
    queries.lock_subject(session, subject.id)
    subject.priority, subject.why = reason.weight, reason.why
    recount(session, subject.id)
    return True


def recount(session: Session, subject_id: int) -> None:
    """What the queue's index knows of a subject, from its slots; the caller holds the subject's lock."""
    session.flush()
    session.connection().execute(_RECOUNT, {"counted": subject_id})
    kept = session.identity_map.get(identity_key(ReviewSubject, subject_id))
    if kept is not None:
        session.expire(kept, ("is_open", "reviews_done", "rank"))


# Built once: see `rules`.
COLUMNS = (*FREE, "done_at")
_CLOSED: dict[str, Any] = {"state": SlotState.DONE.value, "lease_until": None, "token": None}
_OURS: ColumnElement[bool] = ReviewSlot.id == bindparam("slot", type_=Integer)
_TAKE = (
    update(ReviewSlot)
    .where(_OURS, IS_FREE, MAY_TAKE)
    .values(
        state=bindparam("new_state"), token=bindparam("new_token"), lease_until=bindparam("new_lease_until"),
        done_at=bindparam("new_done_at"), holder_id=PERSON, claimed_at=NOW,
    )
)  # fmt: skip
_CLOSE = (
    update(ReviewSlot)
    .where(_OURS, ReviewSlot.holder_id == PERSON, ReviewSlot.state == SlotState.CLAIMED, MAY_TAKE)
    .values(**_CLOSED, done_at=NOW)
)
_GIVE_BACK = update(ReviewSlot).where(_OURS, HAS_RUN_OUT).values(**FREE)
_OF_SUBJECT: ColumnElement[bool] = ReviewSlot.subject_id == bindparam("counted", type_=Integer)
_GIVE_BACK_OWN = (
    update(ReviewSlot).where(_OF_SUBJECT, ~_OURS, ReviewSlot.holder_id == PERSON, HAS_RUN_OUT).values(**FREE)
)
# Conditions as values: by the state's index, which SQLite would take otherwise, this reads every slot there is.
_IS_DONE = case((ReviewSlot.state == SlotState.DONE, 1), else_=0)
_CAN_BE_TAKEN = case((and_(ReviewSlot.state == SlotState.OPEN, ReviewSlot.reserved_for_id.is_(None)), 1), else_=0)
_DONE = select(func.coalesce(func.sum(_IS_DONE), 0)).where(_OF_SUBJECT).scalar_subquery()
_OPEN = select(func.coalesce(func.max(_CAN_BE_TAKEN), 0)).where(_OF_SUBJECT).scalar_subquery()
_RECOUNT = (
    update(ReviewSubject)
    .where(ReviewSubject.id == bindparam("counted", type_=Integer))
    .values(
        is_open=_OPEN == 1,
        reviews_done=_DONE, rank=policy.rank(ReviewSubject.priority, _DONE),
    )
)  # fmt: skip
