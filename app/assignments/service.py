"""Assignments: slots are opened by evidence, claimed for a while, given back, skipped or finished."""

from __future__ import annotations

import datetime as dt
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import policy, queries, slots
from app.assignments.queries import Standing
from app.assignments.summary import summary_of
from app.config import Settings
from app.domain.report import Report
from app.domain.review import Role, SkipKind, SlotState
from app.errors import Conflict, Gone, Invalid, NotPermitted
from app.kit import audit, auth
from app.models import ReviewSlot, ReviewSubject, Skip, utc_now

_LIVE = (SlotState.CLAIMED, SlotState.DONE, SlotState.BROKEN)


@dataclass(frozen=True)
class Claim:
    """A slot held until `lease_until`; `token` is checked on every later step."""

    slot: ReviewSlot
    token: str
    lease_until: dt.datetime


class SlotTaken(Conflict):
    """Somebody else was quicker, or the item is not for this person."""


class LimitReached(Conflict):
    """This person can take nothing more just now."""


def open_slots(session: Session, settings: Settings, subject: ReviewSubject, report: Report) -> list[ReviewSlot]:
    """Open the places for review that new evidence allows; what is held or done stays as it is."""
    subject.verdict, subject.summary = report.verdict.value, summary_of(report)
    return open_places(session, settings, subject, policy.priority_of(report))


def open_places(
    session: Session, settings: Settings, subject: ReviewSubject, reason: policy.Priority
) -> list[ReviewSlot]:
    """The same for a subject that no report of its own asks for: `reason` says how soon it is wanted, and why."""
    queries.lock_subject(session, subject.id)
    subject.priority, subject.why = reason.weight, reason.why
    places = list(queries.slots_of(session, subject.id))
    missing = range(len(places) + 1, settings.slots_per_subject + 1)
    places += [_waiting(subject, number) for number in missing]
    for slot in places:
        if slot.state not in _LIVE:
            slot.state = SlotState.OPEN.value
    session.add_all(places)
    slots.recount(session, subject.id)
    return places


def claim_slot(session: Session, settings: Settings, viewer: Viewer, slot: ReviewSlot) -> Claim:
    """Take a slot in one conditional update; claiming one's own again extends it under the same token."""
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    now = utc_now()
    if _holds(slot, viewer, now):
        return _extended(settings, slot, now)
    queries.lock_person(session, viewer)
    limit = limit_reached(session, settings, viewer, queries.standing_of(session, viewer, now))
    if limit is not None:
        raise LimitReached(limit.said, what_to_do=limit.what_to_do)
    return take_slot(session, settings, viewer, slot, now)


def take_slot(session: Session, settings: Settings, viewer: Viewer, slot: ReviewSlot, now: dt.datetime) -> Claim:
    """The same for whoever has asked for the person's lock and their limits; raises `SlotTaken`."""
    token, until = auth.new_token(), now + dt.timedelta(minutes=settings.slot_lease_minutes)
    try:
        # A refused claim lets go of the subject, so that two people never wait for each other.
        with session.begin_nested():
            queries.lock_subject(session, slot.subject_id)
            slots.give_back_own(session, viewer, slot, now)
            if not slots.take(session, viewer, slot, now, token=token, lease_until=until):
                raise _taken()
            slots.recount(session, slot.subject_id)
    except IntegrityError:
        raise _taken() from None
    audit.note(session, viewer.id, "slot.claim", slot.public_id)
    return Claim(slot, token, until)


@dataclass(frozen=True)
class Limit:
    """Why a person can take nothing more just now."""

    said: str
    what_to_do: str


def limit_reached(session: Session, settings: Settings, viewer: Viewer, standing: Standing) -> Limit | None:
    """The admin's pause, then how many items may be held at once, then how many reviews a day."""
    if viewer.is_paused:
        return Limit("your queue is paused", "Ask an admin to resume it; what you hold stays yours.")
    held, allowed = standing.held, standing.reviews_per_day_max
    if held >= settings.held_items_max:
        return Limit(f"you hold {held} items, and {settings.held_items_max} is the limit", "Finish or give back one.")
    today = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    if allowed is not None and held + queries.submitted_since(session, viewer, today) >= allowed:
        return Limit(f"you have had your {allowed} reviews for today", "Go on tomorrow (UTC), or ask an admin.")
    return None


def heartbeat_slot(session: Session, settings: Settings, viewer: Viewer, slot: ReviewSlot, token: str) -> dt.datetime:
    """Extend the lease while the page is really used; the new end of it."""
    _must_hold(slot, viewer, token)
    until = _extended(settings, slot, utc_now()).lease_until
    session.flush()
    return until


def release_slot(session: Session, viewer: Viewer, slot: ReviewSlot, token: str) -> None:
    _must_hold(slot, viewer, token)
    slots.free(session, slot)
    audit.note(session, viewer.id, "slot.release", slot.public_id)


def skip_slot(session: Session, viewer: Viewer, slot: ReviewSlot, kind: SkipKind, reason: str = "") -> None:
    """`later`: to my end.  `not_me`: for another.  `broken_item`: out of the queue, to an admin."""
    if kind is not SkipKind.LATER and not reason.strip():
        raise Invalid("say why", what_to_do="One sentence is enough; it is shown to an admin.")
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    if kind is SkipKind.BROKEN_ITEM and queries.is_too_close(session, viewer, slot.subject_id):
        raise NotPermitted("nobody takes their own work, or their team's, out of the queue")
    _remember_skip(session, viewer, slot, kind, reason)
    if slot.holder_id == viewer.id and slot.state == SlotState.CLAIMED:
        slots.free(session, slot)
    if kind is not SkipKind.LATER and slot.reserved_for_id == viewer.id:
        slots.reserve(session, slot, None)
    if kind is SkipKind.BROKEN_ITEM:
        _break_open_slots(session, slot.subject_id, reason)
    audit.note(session, viewer.id, f"slot.skip_{kind.value}", slot.public_id, reason=reason)


def finish_slot(session: Session, viewer: Viewer, slot: ReviewSlot | None) -> bool:
    """Close the slot for a submitted review.  False: it is no longer theirs, so the review is an extra.

    A lease that ran out does no harm while nobody took the slot: it is theirs still, or theirs again.
    """
    if slot is None:
        return False
    now = utc_now()
    queries.lock_subject(session, slot.subject_id)
    finished = _finish(session, viewer, slot, now)
    slots.recount(session, slot.subject_id)
    return finished


def _finish(session: Session, viewer: Viewer, slot: ReviewSlot, now: dt.datetime) -> bool:
    if slot.state == SlotState.CLAIMED and slot.holder_id == viewer.id:
        # The rule is asked again: a conflict may have been declared since the claim.  The token is not: a page
        # open since before a release and a new claim has an older one, and the slot is this person's all the same.
        return slots.close_own(session, viewer, slot, now)
    return _take_done(session, viewer, slot, now)


def note_decisions(session: Session, subject: ReviewSubject, decisions: Sequence[str]) -> None:
    """Where the reviews so far disagree, the next one is wanted soon."""
    if policy.disagree(decisions):
        slots.raise_priority(session, subject, policy.DISAGREEMENT)


def expire(session: Session) -> int:
    """Give back slots whose lease ran out; drafts stay with their writers.  How many."""
    now, count = utc_now(), 0
    for slot in queries.expired(session, now):
        queries.lock_subject(session, slot.subject_id)
        count += slots.give_back(session, slot, now)
        slots.recount(session, slot.subject_id)
    return count


def _waiting(subject: ReviewSubject, number: int) -> ReviewSlot:
    return ReviewSlot(subject_id=subject.id, number=number, state=SlotState.WAITING.value, why="")


def _taken() -> SlotTaken:
    return SlotTaken("this item is no longer free for you", what_to_do="Take the next one in your queue.")


def _take_done(session: Session, viewer: Viewer, slot: ReviewSlot, now: dt.datetime) -> bool:
    try:
        with session.begin_nested():
            return slots.take(session, viewer, slot, now, state=SlotState.DONE.value, done_at=now)
    except IntegrityError:
        # Two submits by one person at once: the constraint lets one slot of a subject through.
        return False


def _extended(settings: Settings, slot: ReviewSlot, now: dt.datetime) -> Claim:
    until = now + dt.timedelta(minutes=settings.slot_lease_minutes)
    slot.lease_until = until
    return Claim(slot, slot.token or "", until)


def _holds(slot: ReviewSlot, viewer: Viewer, now: dt.datetime) -> bool:
    return slot.state == SlotState.CLAIMED and slot.holder_id == viewer.id and (slot.lease_until or now) >= now


def _must_hold(slot: ReviewSlot, viewer: Viewer, token: str) -> None:
    if slot.state != SlotState.CLAIMED or slot.holder_id != viewer.id or not _same(slot.token, token):
        raise Gone("you no longer hold this item", what_to_do="Your text is kept; take the item again if it is free.")


def _same(kept: str | None, given: str) -> bool:
    return kept is not None and hmac.compare_digest(kept.encode(), given.encode())


def _remember_skip(session: Session, viewer: Viewer, slot: ReviewSlot, kind: SkipKind, reason: str) -> None:
    there = session.query(Skip).filter_by(subject_id=slot.subject_id, user_id=viewer.id, kind=kind.value).one_or_none()
    if there is None:
        session.add(Skip(subject_id=slot.subject_id, user_id=viewer.id, kind=kind.value, reason=reason[:1000]))
    else:
        there.reason, there.at = reason[:1000], utc_now()


def _break_open_slots(session: Session, subject_id: int, reason: str) -> None:
    queries.lock_subject(session, subject_id)
    for other in queries.slots_of(session, subject_id):
        if other.state == SlotState.OPEN:
            other.state, other.why = SlotState.BROKEN.value, f"reported as broken: {reason}"[:300]
    slots.recount(session, subject_id)
