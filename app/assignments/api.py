"""The review queue over REST."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.assignments import queries, service
from app.assignments.filters import Filters
from app.assignments.queue import QueueItem, claim_next, list_queue
from app.assignments.walk import PAGE_ITEMS, Asked, Sort
from app.domain.review import SkipKind, SubjectKind
from app.kit.steps import ReadSession, WriteSession, steps

router = steps(prefix="/queue", tags=["queue"])
Reviewer = Annotated[Viewer, Depends(scope("review"))]


class ItemOut(BaseModel):
    """`slot` is what is claimed; the author is never named here."""

    slot: str
    subject: str
    kind: str
    task: str
    framework: str | None
    verdict: str | None
    priority: int
    why: str
    reviews_done: int
    due_at: dt.datetime | None
    evidence: str
    lease_until: dt.datetime | None


class QueueOut(BaseModel):
    """`given` was reserved for you by an admin.  `locked_by_others` is counted only when there are no items."""

    state: str
    limit: str | None
    items: list[ItemOut]
    given: list[ItemOut]
    mine: list[ItemOut]
    next_cursor: str | None
    locked_by_others: int
    earliest_frees_at: dt.datetime | None


class ClaimOut(BaseModel):
    slot: str
    subject: str
    submission: str | None
    token: str
    lease_until: dt.datetime


class TokenIn(BaseModel):
    token: str


class SkipIn(BaseModel):
    kind: SkipKind
    reason: str = ""


@router.get("")
def show_queue(
    request: Request,
    session: ReadSession,
    viewer: Reviewer,
    task: str | None = None,
    kind: str | None = None,
    framework: str | None = None,
    verdict: str | None = None,
    subject: SubjectKind | None = None,
    sort: Sort = Sort.USUAL,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = PAGE_ITEMS,
) -> QueueOut:
    asked = Asked(Filters(task, kind, framework, verdict, subject), sort, cursor, limit)
    queue = list_queue(session, request.app.state.settings, viewer, asked)
    return QueueOut(
        state=queue.state.value, limit=queue.limit.said if queue.limit else None,
        items=[_item(i) for i in queue.items], given=[_item(i) for i in queue.given],
        mine=[_item(i) for i in queue.mine], next_cursor=queue.next_cursor,
        locked_by_others=queue.locked_by_others, earliest_frees_at=queue.earliest_frees_at,
    )  # fmt: skip


@router.post("/next", responses={204: {"description": "Nothing for you now; GET /queue says why."}})
def take_next(request: Request, session: WriteSession, viewer: Reviewer) -> ClaimOut:
    claim = claim_next(session, request.app.state.settings, viewer)
    if claim is None:
        return Response(status_code=204)  # type: ignore[return-value]
    return _claim(claim)


@router.post("/{slot_id}/claim")
def claim_slot(request: Request, session: WriteSession, viewer: Reviewer, slot_id: str) -> ClaimOut:
    slot = queries.find_slot(session, slot_id)
    return _claim(service.claim_slot(session, request.app.state.settings, viewer, slot))


@router.post("/{slot_id}/heartbeat")
def heartbeat(
    request: Request, session: WriteSession, viewer: Reviewer, slot_id: str, body: TokenIn
) -> dict[str, dt.datetime]:
    slot = queries.find_slot(session, slot_id)
    settings = request.app.state.settings
    return {"lease_until": service.heartbeat_slot(session, settings, viewer, slot, body.token)}


@router.post("/{slot_id}/release", status_code=204)
def release(session: WriteSession, viewer: Reviewer, slot_id: str, body: TokenIn) -> None:
    service.release_slot(session, viewer, queries.find_slot(session, slot_id), body.token)


@router.post("/{slot_id}/skip", status_code=204)
def skip(session: WriteSession, viewer: Reviewer, slot_id: str, body: SkipIn) -> None:
    service.skip_slot(session, viewer, queries.find_slot(session, slot_id), body.kind, body.reason)


def _item(item: QueueItem) -> ItemOut:
    subject = item.slot.subject
    return ItemOut(
        slot=item.slot.public_id, subject=subject.public_id, kind=subject.kind, task=subject.task_version.task.name,
        framework=subject.framework or None, verdict=subject.verdict, priority=subject.priority, why=item.why,
        reviews_done=item.reviews_done, due_at=subject.due_at,
        evidence="running again" if item.is_running_again else "ready", lease_until=item.slot.lease_until,
    )  # fmt: skip


def _claim(claim: service.Claim) -> ClaimOut:
    subject = claim.slot.subject
    return ClaimOut(
        slot=claim.slot.public_id, subject=subject.public_id,
        submission=subject.submission.public_id if subject.submission else None, token=claim.token,
        lease_until=claim.lease_until,
    )  # fmt: skip
