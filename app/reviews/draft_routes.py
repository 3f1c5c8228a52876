"""A review being written: taken from the queue, saved as typed, moved to newer evidence or rubric, submitted."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn
from app.accounts.policy import Viewer
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.assignments.queue import claim_next
from app.domain.review import ReviewState
from app.errors import NotFound, WorkbenchError
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Review, RubricVersion
from app.reviews import comments, differing, queries, service, showing
from app.reviews.forms import ReviewForm, read_review_form
from app.rubrics import moves
from app.rubrics import service as rubrics
from app.rubrics.forms import mapping_of, read_mapping

router = steps(include_in_schema=False)
Typed = Annotated[ReviewForm, Depends(read_review_form)]
Mapped = Annotated[dict[str, str], Depends(read_mapping)]
Text = Annotated[str, Form()]


@router.post("/queue/next")
def take_next(request: Request, session: WriteSession, viewer: SignedIn) -> Response:
    return _next(request, session, viewer)


@router.post("/queue/{slot_id}/claim")
def claim(request: Request, session: WriteSession, viewer: SignedIn, slot_id: str) -> Response:
    slot = assignment_queries.find_slot(session, slot_id)
    claimed = assignments.claim_slot(session, request.app.state.settings, viewer, slot)
    return RedirectResponse(f"/reviews/{service.open_review(session, viewer, claimed.slot).public_id}", 303)


@router.post("/reviews/{public_id}/draft")
def save_draft(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return _keep(request, session, viewer, queries.find(session, public_id), form.content, form.version)
    review = queries.find_draft(session, public_id)
    saved = service.save_draft(session, viewer, review, form.content, base_version=form.version)
    answer = {"version": saved.version, "saved_at": saved.saved_at.isoformat(), "conflict": saved.conflict}
    if saved.conflict is None:
        return JSONResponse(answer)
    shown = showing.conflict_shown(request, session, queries.find(session, public_id), form.content, saved)
    return JSONResponse(answer | {"shown": shown}, 409)


@router.post("/reviews/{public_id}/submit")
def submit(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    review = queries.find(session, public_id)
    # First, so that what was typed is kept whatever is wrong with it, and never takes another page's text along.
    saved = service.save_draft(session, viewer, review, form.content, base_version=form.version)
    if saved.conflict is not None:
        return showing.draft_page(request, session, viewer, review, form.content, saved.version, other=saved)
    try:
        with session.begin_nested():
            service.submit_review(session, request.app.state.settings, viewer, review, form.for_submit())
    except WorkbenchError as error:
        if queries.lock(session, review)[0] != ReviewState.DRAFT:
            raise
        return showing.draft_page(request, session, viewer, review, form.content, saved.version, error=error)
    return _next(request, session, viewer) if form.then == "next" else RedirectResponse(f"/reviews/{public_id}", 303)


@router.post("/reviews/{public_id}/take/{key}")
def take_theirs(
    request: Request, session: WriteSession, viewer: SignedIn, public_id: str, key: str, form: Typed
) -> Response:
    """One field as the other page has it, beside all that was typed.  Nothing is saved before somebody says so."""
    review = queries.find_own_draft(session, viewer, public_id)
    other = service.saved(session, review)
    content = differing.taken(form.content, other.conflict or {}, key)
    if differing.are_the_same(content, other.conflict or {}):
        return RedirectResponse(f"/reviews/{public_id}", 303)
    return showing.draft_page(request, session, viewer, review, content, other.version, other=other)


@router.post("/reviews/{public_id}/carry/{key}")
def carry_comment(
    request: Request, session: WriteSession, viewer: SignedIn, public_id: str, key: str, form: Typed
) -> Response:
    """Take over a comment on an earlier revision, beside all that was typed."""
    review = queries.find_own_draft(session, viewer, public_id)
    found = next((one for one in showing.earlier(request, session, viewer, review) if one.key == key), None)
    if found is None:
        raise NotFound("that comment is not among those on the revisions before")
    content = {**form.content, "comments": [*form.content["comments"], comments.carried(found)]}
    return _keep(request, session, viewer, review, content, form.version)


@router.post("/reviews/{public_id}/evidence")
def take_newer_evidence(
    request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed
) -> Response:
    review = queries.find_own_draft(session, viewer, public_id)
    service.take_newer_evidence(session, viewer, review)
    return _keep(request, session, viewer, queries.find(session, public_id), form.content, form.version)


@router.get("/reviews/{public_id}/rubric")
def move_page(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    """The dry run: what moving one's draft to the newest version of its rubric would do."""
    review = queries.find_own_draft(session, viewer, public_id)
    return _move_page(request, session, review, mapping_of(request.query_params.multi_items()))


@router.post("/reviews/{public_id}/rubric")
def move(
    request: Request, session: WriteSession, viewer: SignedIn, mapping: Mapped, public_id: str, seal: Text = ""
) -> Response:
    review = queries.find_own_draft(session, viewer, public_id)
    try:
        with session.begin_nested():
            target = _newer_rubric(session, review)
            moves.move(session, viewer, moves.plan(session, target, mapping, review=review), seal=seal)
    except WorkbenchError as error:
        return _move_page(request, session, review, mapping, error=error)
    return RedirectResponse(f"/reviews/{public_id}", 303)


@router.post("/reviews/{public_id}/preview")
def preview(request: Request, session: ReadSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    """As the author will read it.  Keeps nothing; a POST only because the text may be long."""
    return showing.author_preview(request, viewer, queries.find_own_draft(session, viewer, public_id), form.content)


@router.post("/reviews/{public_id}/preview/text")
def preview_text(request: Request, session: ReadSession, viewer: SignedIn, public_id: str, text: Text = "") -> Response:
    """One box's words as they will be read; keeps nothing."""
    return showing.text_preview(request, queries.find_own_draft(session, viewer, public_id), text)


@router.post("/reviews/{public_id}/preview/page")
def keep_and_preview(
    request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed
) -> Response:
    """Keep what was typed, and go to its preview: the way of a browser without scripts."""
    review = queries.find_own_draft(session, viewer, public_id)
    return _keep(request, session, viewer, review, form.content, form.version, then="/preview")


@router.get("/reviews/{public_id}/preview")
def preview_page(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    """The draft, as it was saved, as its author will read it."""
    review = queries.find_own_draft(session, viewer, public_id)
    return showing.author_preview(request, viewer, review, queries.draft_of(session, review).content, whole=True)


@router.post("/reviews/{public_id}/hints")
def hints(request: Request, session: ReadSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    """Advice on what stands in the form; keeps nothing."""
    review = queries.find_own_draft(session, viewer, public_id)
    found = showing.hints_on(session, viewer, review, form.content)
    return pages.render(request, "reviews/hints.html", {"hints": found})


@router.post("/reviews/{public_id}/assemble")
def assemble(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    """Put the overall feedback together, behind what was typed; a script only gets the text."""
    review = queries.find_own_draft(session, viewer, public_id)
    text = showing.assembled(review, form.content)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"feedback": text})
    content = form.content | {"feedback": text}
    return _keep(request, session, viewer, review, content, form.version, then="#feedback")


@router.post("/reviews/{public_id}/snippets/choose")
def choose_snippet(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    """Keep what was typed, and go to the texts that may be inserted: the way of a browser without scripts."""
    review = queries.find_own_draft(session, viewer, public_id)
    return _keep(request, session, viewer, review, form.content, form.version, then="/snippets")


def _next(request: Request, session: Session, viewer: Viewer) -> Response:
    session.flush()
    taken = claim_next(session, request.app.state.settings, viewer)
    if taken is None:
        return RedirectResponse("/queue", 303)
    return RedirectResponse(f"/reviews/{service.open_review(session, viewer, taken.slot).public_id}", 303)


def _keep(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    content: dict[str, Any],
    version: int,
    *,
    then: str = "#comments",
) -> Response:
    """Save for a browser without scripts, and show the page again."""
    saved = service.save_draft(session, viewer, review, content, base_version=version)
    if saved.conflict is None:
        return RedirectResponse(f"/reviews/{review.public_id}{then}", 303)
    return showing.draft_page(request, session, viewer, review, content, saved.version, other=saved)


def _newer_rubric(session: Session, review: Review) -> RubricVersion:
    newer = service.newer_rubric(session, review)
    if newer is None:
        raise NotFound(
            "this draft has the newest version of its rubric already, or corrects a review and keeps its own"
        )
    return newer


def _move_page(
    request: Request, session: Session, review: Review, mapping: dict[str, str], *, error: WorkbenchError | None = None
) -> Response:
    target = _newer_rubric(session, review)
    context = {
        "review": review, "version": target, "plan": moves.plan(session, target, mapping, review=review),
        "changes": rubrics.changed_since(review.rubric, target), "error": error,
    }  # fmt: skip
    return pages.render(request, "rubrics/move.html", context, status=error.status if error else 200)
