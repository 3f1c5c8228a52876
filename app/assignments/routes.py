"""Pages of the queue: what to review next and why, the heartbeat, giving back, and the three skips."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.assignments import queries, service
from app.assignments.filters import Filters
from app.assignments.queue import QueueItem, list_queue
from app.assignments.walk import Asked, Sort
from app.domain.report import VERDICT_TITLES
from app.domain.review import Role, SkipKind
from app.domain.task import FRAMEWORKS, KINDS
from app.errors import Conflict
from app.kit import pages
from app.kit.db import ReadSession, WriteSession

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
# A first guess until enough reviews are in to say what this kind usually takes.
_MINUTES_BY_KIND = {
    "generation": 15,
    "fusion": 18,
    "optimization": 20,
    "translation": 20,
    "debugging": 12,
    "migration": 12,
}


@router.get("/queue")
def queue_page(
    request: Request,
    session: ReadSession,
    viewer: Reviewer,
    task: str = "",
    kind: str = "",
    framework: str = "",
    verdict: str = "",
    sort: Sort = Sort.USUAL,
    cursor: str | None = None,
) -> Response:
    filters = Filters(task or None, kind or None, framework or None, verdict or None)
    queue = list_queue(session, request.app.state.settings, viewer, Asked(filters, sort, cursor))
    context = {
        "queue": queue,
        "items": [_shown(item) for item in queue.items],
        "given": [_shown(item) for item in queue.given],
        "sort": sort,
        "usual": queries.usual_minutes(session),
        "mine": [_shown(item) for item in queue.mine],
        "filters": filters,
        "kinds": KINDS,
        "frameworks": FRAMEWORKS,
        "verdicts": VERDICT_TITLES,
    }
    return pages.render(request, "assignments/queue.html", context)


@router.post("/queue/{slot_id}/heartbeat")
def heartbeat(
    request: Request, session: WriteSession, viewer: Reviewer, slot_id: str, token: Annotated[str, Form()] = ""
) -> Response:
    slot = queries.find_slot(session, slot_id)
    until = service.heartbeat_slot(session, request.app.state.settings, viewer, slot, token)
    return JSONResponse({"lease_until": until.isoformat()})


@router.post("/queue/{slot_id}/release")
def release(session: WriteSession, viewer: Reviewer, slot_id: str, token: Annotated[str, Form()] = "") -> Response:
    slot = queries.find_slot(session, slot_id)
    # A person's own list has no token at hand; holding the slot is proof enough for giving it back.
    service.release_slot(session, viewer, slot, token or _own_token(viewer, slot))
    return RedirectResponse("/queue", 303)


@router.post("/queue/{slot_id}/skip")
def skip(
    session: WriteSession,
    viewer: Reviewer,
    slot_id: str,
    kind: Annotated[SkipKind, Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    service.skip_slot(session, viewer, queries.find_slot(session, slot_id), kind, reason)
    return RedirectResponse("/queue", 303)


def _own_token(viewer: Viewer, slot: Any) -> str:
    if slot.holder_id != viewer.id:
        raise Conflict("you do not hold this item")
    return slot.token or ""


def _shown(item: QueueItem) -> dict[str, Any]:
    return {
        "item": item,
        "slot": item.slot,
        "submission": item.slot.subject.submission,
        "version": item.slot.subject.task_version,
        "subject": item.slot.subject,
        "minutes": _MINUTES_BY_KIND.get(item.slot.subject.task_version.kind, 15),
    }
