"""The queue as one person sees it: their items in order, each with its reason, and an honest empty state."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import queries
from app.assignments.policy import shuffle_key
from app.assignments.service import Claim, SlotTaken, claim_slot
from app.config import Settings
from app.domain.review import Role, SlotState
from app.evaluations import queries as evaluation_queries
from app.models import Evaluation, ReviewSlot, utc_now

CANDIDATES_MAX = 500


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
    """One subject that may be reviewed now.  `evaluation` is the newest, for its verdict and scope."""

    slot: ReviewSlot
    evaluation: Evaluation | None
    why: str
    reviews_done: int
    is_put_off: bool = False


@dataclass(frozen=True)
class QueueFilters:
    task: str | None = None
    kind: str | None = None
    framework: str | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Queue:
    items: Sequence[QueueItem]
    mine: Sequence[QueueItem]
    state: QueueState
    locked_by_others: int = 0
    earliest_frees_at: dt.datetime | None = None


def list_queue(session: Session, viewer: Viewer, filters: QueueFilters | None = None) -> Queue:
    """What this person may take, in their order: priority, then started items, then their own shuffle."""
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    now = utc_now()
    free = _one_per_subject(queries.takeable(session, viewer, now, CANDIDATES_MAX))
    held = queries.held_by(session, viewer, now)
    items = [i for i in _as_items(session, viewer, free) if _passes(i, filters or QueueFilters())]
    mine = _as_items(session, viewer, held)
    if viewer.is_paused:
        return Queue([], mine, QueueState.PAUSED)
    locked, earliest = queries.locked_by_others(session, viewer, now)
    state = QueueState.ITEMS if items else _empty_state(session, locked)
    return Queue(items, mine, state, locked, earliest)


def claim_next(session: Session, settings: Settings, viewer: Viewer) -> Claim | None:
    """Take the first item of this person's queue; None when there is none for them."""
    for item in list_queue(session, viewer).items:
        try:
            return claim_slot(session, settings, viewer, item.slot)
        except SlotTaken:
            continue
    return None


def _as_items(session: Session, viewer: Viewer, slots: Sequence[ReviewSlot]) -> list[QueueItem]:
    done = queries.done_counts(session, [s.subject_id for s in slots])
    evaluations = evaluation_queries.latest_by_submission(
        session, [s.subject.submission_id for s in slots if s.subject.submission_id is not None]
    )
    later = queries.put_off(session, viewer)
    items = [_item(slot, evaluations, done.get(slot.subject_id, 0), slot.subject_id in later) for slot in slots]
    return sorted(items, key=lambda item: _order(viewer, item))


def _item(slot: ReviewSlot, evaluations: dict[int, Evaluation], done: int, is_put_off: bool) -> QueueItem:
    evaluation = evaluations.get(slot.subject.submission_id or 0)
    why = slot.why
    if done and not slot.priority:
        why = f"{done} review{'s are' if done > 1 else ' is'} in: yours helps to complete it"
    if is_put_off:
        why = f"you put it off; {why}"
    return QueueItem(slot, evaluation, why, done, is_put_off)


def _order(viewer: Viewer, item: QueueItem) -> tuple[bool, int, int, str]:
    shuffle = shuffle_key(viewer.public_id, item.slot.subject.public_id)
    return item.is_put_off, -item.slot.priority, -item.reviews_done, shuffle


def _one_per_subject(slots: Sequence[ReviewSlot]) -> list[ReviewSlot]:
    first: dict[int, ReviewSlot] = {}
    for slot in slots:
        first.setdefault(slot.subject_id, slot)
    return list(first.values())


def _passes(item: QueueItem, filters: QueueFilters) -> bool:
    version, submission = item.slot.subject.task_version, item.slot.subject.submission
    verdict = item.evaluation.verdict if item.evaluation else None
    found = (version.task.name, version.kind, submission.framework if submission else None, verdict)
    wanted = (filters.task, filters.kind, filters.framework, filters.verdict)
    return all(not want or want == have for want, have in zip(wanted, found, strict=True))


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
