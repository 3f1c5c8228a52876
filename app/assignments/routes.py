"""Pages of the queue: what to review next and why, the heartbeat, giving back, and the three skips."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.assignments import queries, service, views
from app.assignments.filters import Filters
from app.assignments.queue import QueueItem, list_queue
from app.assignments.walk import Asked, Sort
from app.domain.report import VERDICT_TITLES
from app.domain.review import Role, SkipKind, SubjectKind
from app.domain.task import FRAMEWORKS, KINDS
from app.errors import Conflict
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps

router = steps(include_in_schema=False)
Reviewer = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
SORT_TITLES = {
    Sort.USUAL: "Usual: what matters most first",
    Sort.OLDEST: "Oldest first",
    Sort.NEWEST: "Newest first",
    Sort.DUE: "Due first (dated items only)",
}
SUBJECT_TITLES = {
    SubjectKind.SUBMISSION: "Submissions",
    SubjectKind.TASK_VERSION: "Task designs",
    SubjectKind.COMPARISON: "Comparisons",
}
# A first guess until enough reviews are in to say what this kind usually takes.
_MINUTES_BY_KIND = {
    "generation": 15,
    "fusion": 18,
    "optimization": 20,
    "translation": 20,
    "debugging": 12,
    "migration": 12,
    SubjectKind.TASK_VERSION: 25,
    SubjectKind.COMPARISON: 15,
}


def asked_for(
    task: str = "",
    kind: str = "",
    framework: str = "",
    verdict: str = "",
    subject: str = "",
    sort: Sort = Sort.USUAL,
    cursor: str | None = None,
) -> Asked:
    """The page's address carries everything: filters, order and place."""
    filters = Filters(task.strip() or None, kind or None, framework or None, verdict or None, subject or None)
    return Asked(filters, sort, cursor or None)


@router.get("/queue")
def queue_page(
    request: Request, session: ReadSession, viewer: Reviewer, asked: Annotated[Asked, Depends(asked_for)]
) -> Response:
    queue = list_queue(session, request.app.state.settings, viewer, asked)
    context = {
        "queue": queue,
        "items": [_shown(item) for item in queue.items],
        "given": [_shown(item) for item in queue.given],
        "mine": [_shown(item) for item in queue.mine],
        "usual": queries.usual_minutes(session),
        "asked": asked,
        "filters": asked.filters,
        "query": views.query_of(asked),
        "views": views.views_of(session, viewer),
        "sorts": SORT_TITLES,
        "subjects": SUBJECT_TITLES,
        "kinds": KINDS,
        "frameworks": FRAMEWORKS,
        "verdicts": VERDICT_TITLES,
    }
    return pages.render(request, "assignments/queue.html", context)


@router.post("/queue/views")
def save_view(
    session: WriteSession,
    viewer: Reviewer,
    asked: Annotated[Asked, Depends(asked_for)],
    name: Annotated[str, Form()] = "",
    forget: Annotated[bool, Form()] = False,
) -> Response:
    """Name the view in the address, or with `forget` drop the name; the address is the same afterwards."""
    if forget:
        views.forget(session, viewer, name)
    else:
        views.save(session, viewer, name, asked)
    return RedirectResponse(f"/queue?{views.query_of(asked)}", 303)


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
    subject = item.slot.subject
    effort = queries.effort_kind(subject.kind, subject.task_version.kind)
    return {
        "item": item,
        "slot": item.slot,
        "submission": subject.submission,
        "version": subject.task_version,
        "subject": subject,
        "effort": effort,
        "minutes": _MINUTES_BY_KIND.get(effort, 15),
    }
