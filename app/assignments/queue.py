"""The queue as one person sees it: their items in order, each with its reason, and an honest empty state."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import queries, service
from app.assignments.queries import Standing
from app.assignments.service import Claim, SlotTaken, take_slot
from app.assignments.walk import Asked, Sort, walk
from app.config import Settings
from app.domain.review import EvaluationState, Role, SlotState
from app.evaluations import queries as evaluation_queries
from app.models import ReviewSlot, ReviewSubject, utc_now

# How many of the next items are looked at for one to take.
_TRIED = 4
# How often others may be quicker before somebody is told that there is nothing.
_LOST_MAX = 200
_UNDER_WAY = (EvaluationState.QUEUED, EvaluationState.RUNNING)


class QueueState(StrEnum):
    """Why the list is as it is; "all locked" is not "all done"."""

    ITEMS = "items"
    PAUSED = "paused"
    ALL_LOCKED = "all_locked"
    NONE_FOR_YOU = "none_for_you"
    AWAITING_EVIDENCE = "awaiting_evidence"
    ALL_DONE = "all_done"


@dataclass(frozen=True)
class QueueItem:
    """One subject that may be reviewed now, by the slot that would be taken.

    `is_running_again`: newer evidence is being made; what is there can be reviewed all the same.
    """

    slot: ReviewSlot
    why: str
    is_put_off: bool = False
    is_running_again: bool = False

    @property
    def reviews_done(self) -> int:
        return self.slot.subject.reviews_done


@dataclass(frozen=True)
class Queue:
    """`locked_by_others` is counted only when nothing else is there to show."""

    items: Sequence[QueueItem]
    mine: Sequence[QueueItem]
    given: Sequence[QueueItem]
    state: QueueState
    next_cursor: str | None = None
    limit: service.Limit | None = None
    locked_by_others: int = 0
    earliest_frees_at: dt.datetime | None = None


def list_queue(session: Session, settings: Settings, viewer: Viewer, asked: Asked | None = None) -> Queue:
    """A page of what this person may take: by priority, then started items, then their own shuffle."""
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    now = utc_now()
    standing = queries.standing_of(session, viewer, now)
    mine = _as_items(session, standing, queries.held_by(session, viewer, now) if standing.held else [])
    given = _as_items(session, standing, _given(session, viewer, standing, now))
    reached = service.limit_reached(session, settings, viewer, standing)
    if viewer.is_paused:
        return Queue([], mine, given, QueueState.PAUSED, limit=reached)
    found, later, following = _page(session, viewer, standing, asked or Asked(), now)
    items = _as_items(session, standing, found, later)
    if items or given:
        return Queue(items, mine, given, QueueState.ITEMS, following, reached)
    locked, earliest = queries.locked_by_others(session, viewer, now)
    return Queue([], mine, given, _empty_state(session, locked), None, reached, locked, earliest)


def claim_next(session: Session, settings: Settings, viewer: Viewer) -> Claim | None:
    """Take the first item of this person's queue; None when there is none for them, or they have enough."""
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    queries.lock_person(session, viewer)
    service.expire(session)
    standing = queries.standing_of(session, viewer, utc_now())
    if service.limit_reached(session, settings, viewer, standing) is not None:
        return None
    cursor, lost, left = None, 0, _LOST_MAX
    while left > 0:
        now = utc_now()
        following, _, cursor = _page(session, viewer, standing, Asked(cursor=cursor, limit=_TRIED), now)
        for slot in [*_given(session, viewer, standing, now), *following]:
            try:
                return take_slot(session, settings, viewer, slot, now)
            except SlotTaken:
                lost += 1
        if cursor is None and not lost:
            return None
        if cursor is None:
            # Others were quicker all the way; an item lost to one of them may have a second slot.
            left, lost = left - lost, 0
    return None


def _given(session: Session, viewer: Viewer, standing: Standing, now: dt.datetime) -> Sequence[ReviewSlot]:
    return queries.reserved_for(session, viewer, now) if standing.given else []


def _page(
    session: Session, viewer: Viewer, standing: Standing, asked: Asked, now: dt.datetime
) -> tuple[list[ReviewSlot], Collection[int], str | None]:
    """Slots in order, the subjects of those put off, and the next cursor.

    After the last page come leases that just ran out, then what this person put off.
    """
    walked = walk(session, viewer, asked)
    ids, later = walked.subject_ids, frozenset[int]()
    if walked.next_cursor is None:
        put_off = queries.put_off(session, viewer, asked.filters, now)
        ids = [*ids, *queries.run_out(session, viewer, asked.filters, now), *put_off]
        later = frozenset(put_off)
    free = queries.free_slots(session, viewer, ids, now)
    found = [free[key] for key in ids if key in free]
    if asked.sort is Sort.USUAL:
        found = _known_first(found, standing.knows, later)
    return found, later, walked.next_cursor


def _as_items(
    session: Session, standing: Standing, slots: Sequence[ReviewSlot], later: Collection[int] = ()
) -> list[QueueItem]:
    if not slots:
        return []
    submissions = [s.subject.submission_id for s in slots if s.subject.submission_id is not None]
    states = evaluation_queries.latest_states(session, submissions)
    items = []
    for slot in slots:
        is_put_off = slot.subject_id in later
        is_running = states.get(slot.subject.submission_id or 0) in _UNDER_WAY
        items.append(QueueItem(slot, _why(slot.subject, standing.knows, is_put_off), is_put_off, is_running))
    return items


def _why(subject: ReviewSubject, knows: frozenset[str], is_put_off: bool) -> str:
    why, done = subject.why, subject.reviews_done
    if done and not subject.priority:
        why = f"{done} review{'s are' if done > 1 else ' is'} in: yours helps to complete it"
    if known := _known(subject, knows):
        why = f"{why}, and you know {known}"
    return f"you put it off; {why}" if is_put_off else why


def _known(subject: ReviewSubject, knows: frozenset[str]) -> str:
    return next((word for word in (subject.framework, subject.task_version.kind) if word in knows), "")


def _known_first(found: list[ReviewSlot], knows: frozenset[str], later: Collection[int]) -> list[ReviewSlot]:
    """Of the items of a page with one rank, those that the person knows about come first."""
    if not knows:
        return found
    return sorted(found, key=lambda s: (s.subject_id in later, -s.subject.rank, not _known(s.subject, knows)))


def _empty_state(session: Session, locked: int) -> QueueState:
    if locked:
        return QueueState.ALL_LOCKED
    counts = queries.count_states(session)
    if counts[SlotState.OPEN.value] or counts[SlotState.CLAIMED.value]:
        return QueueState.NONE_FOR_YOU
    running = evaluation_queries.count_by_state(session)
    if running["queued"] or running["running"]:
        return QueueState.AWAITING_EVIDENCE
    return QueueState.ALL_DONE
