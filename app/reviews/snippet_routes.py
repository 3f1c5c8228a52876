"""Texts to insert: what is offered for a review, put into it on the server, and a reviewer's own texts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn, role
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.domain.task import KINDS
from app.errors import Conflict, Invalid, NotFound, WorkbenchError
from app.evaluations.task_health import health_of
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Review
from app.reviews import boxes, files, own_snippets, page, queries, service, showing, snippets, variables

router = steps(include_in_schema=False)
Reviewer = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
Text = Annotated[str, Form()]
MINE = "/account/snippets"


@router.get("/reviews/{public_id}/snippets")
def offered(request: Request, session: ReadSession, viewer: SignedIn, public_id: str, into: str = "") -> Response:
    """What may be inserted, with this submission's figures; a script gets the list alone."""
    review = queries.find_own_draft(session, viewer, public_id)
    if "application/json" not in request.headers.get("accept", ""):
        return _page(request, session, viewer, review, into)
    offers = _offers(session, viewer, review)
    return JSONResponse([{"group": o.group, "title": o.title, "text": o.text, "gaps": o.gaps} for o in offers])


@router.post("/reviews/{public_id}/snippets")
def insert(
    request: Request,
    session: WriteSession,
    viewer: SignedIn,
    public_id: str,
    *,
    snippet: Text = "",
    into: Text = "",
    version: Annotated[int, Form()] = 0,
) -> Response:
    """Put a text behind what stands in a box of the draft as it was saved."""
    review = queries.find_own_draft(session, viewer, public_id)
    draft = queries.draft_of(session, review)
    try:
        box = boxes.named(into, draft.content, _titles(review))
        text = _text(session, viewer, review, snippet)
        content = boxes.written(draft.content, box, text)
        if service.save_draft(session, viewer, review, content, base_version=version).conflict is not None:
            raise Conflict("this draft was changed in another page", what_to_do="Look at it, and choose once more.")
    except WorkbenchError as error:
        return _page(request, session, viewer, review, into, error=error)
    return RedirectResponse(f"/reviews/{public_id}#{box.place}", 303)


@router.get(MINE)
def own(request: Request, session: ReadSession, viewer: Reviewer) -> Response:
    return _own_page(request, session, viewer)


@router.post(MINE)
def add(
    request: Request, session: WriteSession, viewer: Reviewer, *, title: Text = "", text: Text = "", kind: Text = ""
) -> Response:
    try:
        own_snippets.add(session, viewer, title=title, text=text, kind=kind)
    except WorkbenchError as error:
        return _own_page(request, session, viewer, typed={"title": title, "text": text, "kind": kind}, error=error)
    return RedirectResponse(MINE, 303)


@router.post(MINE + "/{public_id}")
def change(
    request: Request,
    session: WriteSession,
    viewer: Reviewer,
    public_id: str,
    *,
    title: Text = "",
    text: Text = "",
    kind: Text = "",
) -> Response:
    try:
        own_snippets.change(session, viewer, public_id, title=title, text=text, kind=kind)
    except Invalid as error:
        typed = {"id": public_id, "title": title, "text": text, "kind": kind}
        return _own_page(request, session, viewer, typed=typed, error=error)
    return RedirectResponse(f"{MINE}#{public_id}", 303)


@router.post(MINE + "/{public_id}/delete")
def delete(session: WriteSession, viewer: Reviewer, public_id: str) -> Response:
    own_snippets.delete(session, viewer, public_id)
    return RedirectResponse(MINE, 303)


@router.post(MINE + "/{public_id}/move")
def move(session: WriteSession, viewer: Reviewer, public_id: str, step: Annotated[int, Form(ge=-1, le=1)]) -> Response:
    own_snippets.move(session, viewer, public_id, step)
    return RedirectResponse(f"{MINE}#{public_id}", 303)


def _titles(review: Review) -> dict[str, str]:
    """The criteria's by key; a ranking has none."""
    return {} if review.rubric_version is None else page.titles_of(review.rubric)


def _offers(session: Session, viewer: Viewer, review: Review) -> list[snippets.Offer]:
    subject, mine = review.subject, own_snippets.list_own(session, viewer)
    health = health_of(session, subject.task_version_id) if files.is_design(subject) else None
    faults = [fault.code for fault in health.faults] if health else []
    return snippets.offered(subject.kind, subject.task_version.kind, showing.report_for_author(review), mine, faults)


def _text(session: Session, viewer: Viewer, review: Review, key: str) -> str:
    found = next((one.text for one in _offers(session, viewer, review) if one.key == key), None)
    if found is None:
        raise NotFound("that text is not among those for this review", what_to_do="Choose one from the list.")
    return found


def _page(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    into: str,
    *,
    error: WorkbenchError | None = None,
) -> Response:
    draft = queries.draft_of(session, review)
    context: dict[str, Any] = {
        "review": review, "task": review.subject.task_version, "version": draft.version, "into": into, "error": error,
        "boxes": boxes.boxes(draft.content, _titles(review)),
        "groups": snippets.grouped(_offers(session, viewer, review)),
    }  # fmt: skip
    return pages.render(request, "reviews/snippets.html", context, status=error.status if error else 200)


def _own_page(
    request: Request,
    session: Session,
    viewer: Viewer,
    *,
    typed: dict[str, str] | None = None,
    error: WorkbenchError | None = None,
) -> Response:
    context = {
        "snippets": own_snippets.list_own(session, viewer), "variables": variables.VARIABLES, "kinds": KINDS,
        "typed": typed or {}, "error": error,
    }  # fmt: skip
    return pages.render(request, "reviews/own_snippets.html", context, status=error.status if error else 200)
