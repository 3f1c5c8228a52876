"""What an admin does about the queue: gives items to people, sets dates, and puts right what is stuck."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import policy, queries, slots
from app.domain.review import Role, SkipKind, SlotState
from app.errors import Conflict
from app.kit import audit
from app.models import ReviewSlot, ReviewSubject, Skip, utc_now


def force_release(session: Session, viewer: Viewer, slot: ReviewSlot) -> None:
    """An admin takes a claimed or broken slot away from its holder and puts it back into the queue."""
    require_role(viewer, Role.ADMIN)
    if slot.state not in (SlotState.CLAIMED, SlotState.BROKEN):
        raise Conflict("only a claimed or broken slot can be released")
    slots.free(session, slot)
    audit.note(session, viewer.id, "slot.force_release", slot.public_id)


def reassign(session: Session, viewer: Viewer, slot: ReviewSlot, person: Viewer | None) -> None:
    """An admin gives a slot to one person, whoever held it, or with None back to everybody.

    The rule of who may review holds for admins' wishes, too.
    """
    require_role(viewer, Role.ADMIN)
    if slot.state in (SlotState.DONE, SlotState.WAITING):
        raise Conflict("this slot is done or still waits for evidence", what_to_do="Give away another of the item.")
    if person is not None:
        _must_be_able(session, slot, person)
    if slot.state in (SlotState.CLAIMED, SlotState.BROKEN):
        slots.free(session, slot)
    slots.reserve(session, slot, person)
    audit.note(session, viewer.id, "slot.reassign", slot.public_id, to=person.login if person else None)


def set_due(session: Session, viewer: Viewer, subject: ReviewSubject, due_at: dt.datetime | None) -> None:
    require_role(viewer, Role.ADMIN)
    subject.due_at = due_at
    audit.note(session, viewer.id, "subject.set_due", subject.public_id, due=due_at.isoformat() if due_at else None)
    session.flush()
    raise_due(session)


def raise_due(session: Session) -> int:
    """What is due soon goes to the head of the queue; how many went there now."""
    soon = queries.due_before(session, utc_now() + policy.DUE_SOON)
    return sum(slots.raise_priority(session, s, policy.when_due(s.due_at)) for s in soon if s.due_at is not None)


def forget_refusals(session: Session, viewer: Viewer, subject: ReviewSubject) -> int:
    """An admin lets those who declined an item see it again; how many."""
    require_role(viewer, Role.ADMIN)
    refused = (Skip.subject_id == subject.id, Skip.kind == SkipKind.NOT_ME)
    count = len(session.execute(delete(Skip).where(*refused).returning(Skip.id)).all())
    audit.note(session, viewer.id, "subject.forget_refusals", subject.public_id, count=count)
    return count


def _must_be_able(session: Session, slot: ReviewSlot, person: Viewer) -> None:
    if not person.has(Role.REVIEWER, Role.ADJUDICATOR) or person.is_paused:
        raise Conflict(f"{person.name} is paused, or no reviewer", what_to_do="Resume them first, or choose another.")
    if slot.holder_id == person.id or not queries.reviewable(session, person, [slot.subject_id], utc_now()):
        raise Conflict(
            f"{person.name} cannot review this item",
            what_to_do="They made it, are too close to its author, declined it, put it off, or have it already.",
        )
