"""The steps that every change of a slot is made of; after each, the subject says again what the queue needs to know.

Order of locks: the person, the subject, the slot.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.util import identity_key

from app.accounts.policy import Viewer
from app.assignments import policy, queries
from app.assignments.policy import Priority
from app.domain.review import SlotState
from app.models import ReviewSlot, ReviewSubject

# A slot that nobody holds.
FREE: dict[str, Any] = {
    "state": SlotState.OPEN.value, "holder_id": None, "token": None, "lease_until": None, "claimed_at": None, "why": "",
}  # fmt: skip


def change(session: Session, *conditions: Any, **values: Any) -> bool:
    """One conditional update; True when exactly this slot was still as the conditions say."""
    statement = update(ReviewSlot).where(*conditions).values(**values).returning(ReviewSlot.id)
    changed = session.execute(statement, execution_options={"synchronize_session": "fetch"})
    return len(changed.scalars().all()) == 1


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
    of_subject = ReviewSlot.subject_id == subject_id
    done = select(func.count()).where(of_subject, ReviewSlot.state == SlotState.DONE).scalar_subquery()
    is_open = exists().where(of_subject, ReviewSlot.state == SlotState.OPEN, ReviewSlot.reserved_for_id.is_(None))
    values: dict[str, Any] = {
        "is_open": is_open, "reviews_done": done, "rank": policy.rank(ReviewSubject.priority, done)
    }  # fmt: skip
    statement = update(ReviewSubject).where(ReviewSubject.id == subject_id).values(values)
    session.execute(statement, execution_options={"synchronize_session": False})
    kept = session.identity_map.get(identity_key(ReviewSubject, subject_id))
    if kept is not None:
        session.refresh(kept, list(values))
