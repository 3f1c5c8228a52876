"""Pages of reviewing: the review itself, its autosaved draft, its submission, and what adjudicators see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn, role
from app.accounts.policy import Viewer
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.assignments.queue import claim_next
from app.domain.report import Report
from app.domain.review import CommentCategory, CommentSeverity, Decision, ReviewState, Role, SlotState
from app.domain.rubric import total
from app.errors import NotFound, WorkbenchError
from app.evaluations import queries as evaluation_queries
from app.kit import pages
from app.kit.db import ReadSession, WriteSession
from app.kit.prose import prose
from app.models import Review, RubricVersion
from app.reviews import comments, page, queries, scoring, service
from app.reviews.forms import ReviewForm, read_review_form
from app.reviews.source_routes import choices_of, evidence_for, more_address
from app.rubrics import moves
from app.rubrics import queries as rubric_queries
from app.rubrics import service as rubrics
from app.rubrics.content import as_rubric
from app.rubrics.forms import mapping_of, read_mapping
from app.submissions import parts
from app.submissions import policy as submission_policy
from app.submissions import queries as submission_queries
from app.submissions.display import files_shown

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
Typed = Annotated[ReviewForm, Depends(read_review_form)]
Mapped = Annotated[dict[str, str], Depends(read_mapping)]
Text = Annotated[str, Form()]


@router.get("/reviews")
def own_reviews(request: Request, session: ReadSession, viewer: Reviewer, cursor: str | None = None) -> Response:
    return pages.render(request, "reviews/list.html", {"page": queries.list_own(session, viewer, cursor=cursor)})


@router.post("/queue/next")
def take_next(request: Request, session: WriteSession, viewer: SignedIn) -> Response:
    return _next(request, session, viewer)


@router.post("/queue/{slot_id}/claim")
def claim(request: Request, session: WriteSession, viewer: SignedIn, slot_id: str) -> Response:
    slot = assignment_queries.find_slot(session, slot_id)
    claimed = assignments.claim_slot(session, request.app.state.settings, viewer, slot)
    return RedirectResponse(f"/reviews/{service.open_review(session, viewer, claimed.slot).public_id}", 303)


@router.get("/reviews/{public_id}")
def review_page(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    if review.state == ReviewState.DRAFT:
        draft = queries.draft_of(session, review)
        return _draft_page(request, session, viewer, review, dict(draft.content), draft.version)
    return pages.render(request, "reviews/read.html", _read_context(request, session, viewer, review))


@router.post("/reviews/{public_id}/draft")
def save_draft(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    review = queries.find(session, public_id)
    if "text/html" in request.headers.get("accept", ""):
        return _keep(request, session, viewer, review, form.content, form.version)
    saved = service.save_draft(session, viewer, review, form.content, base_version=form.version)
    answer = {"version": saved.version, "saved_at": saved.saved_at.isoformat(), "conflict": saved.conflict}
    return JSONResponse(answer, 409 if saved.conflict is not None else 200)


@router.post("/reviews/{public_id}/submit")
def submit(request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed) -> Response:
    review = queries.find(session, public_id)
    try:
        with session.begin_nested():
            service.submit_review(session, viewer, review, form.for_submit())
    except WorkbenchError as error:
        # What was typed is kept on the server too, whatever was wrong with it.
        saved = service.save_draft(session, viewer, review, form.content, base_version=form.version)
        return _draft_page(
            request, session, viewer, review, form.content, saved.version, error=error, other=saved.conflict
        )
    return _next(request, session, viewer) if form.then == "next" else RedirectResponse(f"/reviews/{public_id}", 303)


@router.post("/reviews/{public_id}/carry/{key}")
def carry_comment(
    request: Request, session: WriteSession, viewer: SignedIn, public_id: str, key: str, form: Typed
) -> Response:
    """Take over a comment on an earlier revision, beside all that was typed."""
    review = _own_draft(session, viewer, public_id)
    found = next((one for one in _earlier(request, session, viewer, review) if one.key == key), None)
    if found is None:
        raise NotFound("that comment is not among those on the revisions before")
    content = {**form.content, "comments": [*form.content["comments"], comments.carried(found)]}
    return _keep(request, session, viewer, review, content, form.version)


@router.post("/reviews/{public_id}/evidence")
def take_newer_evidence(
    request: Request, session: WriteSession, viewer: SignedIn, public_id: str, form: Typed
) -> Response:
    review = _own_draft(session, viewer, public_id)
    service.take_newer_evidence(session, viewer, review)
    return _keep(request, session, viewer, queries.find(session, public_id), form.content, form.version)


@router.get("/reviews/{public_id}/rubric")
def move_page(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    """The dry run: what moving one's draft to the newest version of its rubric would do."""
    review = _own_draft(session, viewer, public_id)
    return _move_page(request, session, review, mapping_of(request.query_params.multi_items()))


@router.post("/reviews/{public_id}/rubric")
def move(
    request: Request, session: WriteSession, viewer: SignedIn, mapping: Mapped, public_id: str, seal: Text = ""
) -> Response:
    review = _own_draft(session, viewer, public_id)
    try:
        with session.begin_nested():
            target = _newer_rubric(session, review)
            moves.move(session, viewer, moves.plan(session, target, mapping, review=review), seal=seal)
    except WorkbenchError as error:
        return _move_page(request, session, review, mapping, error=error)
    return RedirectResponse(f"/reviews/{public_id}", 303)


@router.post("/reviews/{public_id}/preview")
def preview(viewer: SignedIn, public_id: str, feedback: Annotated[str, Form()] = "") -> Response:
    """Reads nothing and keeps nothing; a POST only because the text may be long."""
    return HTMLResponse(prose(feedback) or '<p class="muted">Nothing written yet.</p>')


@router.post("/reviews/{public_id}/contest")
def contest(
    session: WriteSession,
    viewer: SignedIn,
    public_id: str,
    code: Annotated[str, Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    service.contest_finding(session, viewer, queries.find(session, public_id), code=code, reason=reason)
    return RedirectResponse(f"/reviews/{public_id}#contest", 303)


@router.get("/submissions/{public_id}/reviews")
def reviews_of(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    return pages.render(request, "reviews/subject.html", _subject_context(session, viewer, public_id))


@router.post("/submissions/{public_id}/decide")
def decide(
    session: WriteSession,
    viewer: Annotated[Viewer, Depends(role(Role.ADJUDICATOR))],
    public_id: str,
    decision: Annotated[Decision, Form()],
    confidence: Annotated[int, Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    _, subject_id = _subject(session, viewer, public_id)
    service.decide(session, viewer, subject_id, decision=decision, confidence=confidence, reason=reason)
    return RedirectResponse(f"/submissions/{public_id}/reviews", 303)


def _next(request: Request, session: Session, viewer: Viewer) -> Response:
    session.flush()
    taken = claim_next(session, request.app.state.settings, viewer)
    if taken is None:
        return RedirectResponse("/queue", 303)
    return RedirectResponse(f"/reviews/{service.open_review(session, viewer, taken.slot).public_id}", 303)


def _keep(
    request: Request, session: Session, viewer: Viewer, review: Review, content: dict[str, Any], version: int
) -> Response:
    """Save for a browser without scripts, and show the page again."""
    saved = service.save_draft(session, viewer, review, content, base_version=version)
    if saved.conflict is None:
        return RedirectResponse(f"/reviews/{review.public_id}#comments", 303)
    return _draft_page(request, session, viewer, review, content, saved.version, other=saved.conflict)


def _earlier(request: Request, session: Session, viewer: Viewer, review: Review) -> list[comments.EarlierComment]:
    submission = review.subject.submission
    return comments.earlier(session, request.app.state.settings, viewer, submission) if submission else []


def _draft_page(
    request: Request,
    session: Session,
    viewer: Viewer,
    review: Review,
    content: dict[str, Any],
    version: int,
    *,
    error: WorkbenchError | None = None,
    other: dict[str, Any] | None = None,
) -> Response:
    """`other` is what another page saved meanwhile: shown beside this text, which a save now puts in its place."""
    problems = error.details.get("problems", {}) if error else {}
    typed = _placed(request, review, content.get("comments", []))
    context = _evidence_context(request, viewer, review, comments.by_line(typed), citable=True) | {
        "review": review,
        "draft": content,
        "typed_comments": [c.content for c in typed],
        "titles": page.titles_of(review.rubric_version),
        "version": version,
        "error": error,
        "other": other,
        "problems": problems,
        "newer_evidence": service.newer_evidence(session, review),
        "earlier": _earlier(request, session, viewer, review),
        "severities": tuple(CommentSeverity),
        "categories": tuple(CommentCategory),
        "criteria": _criteria(
            review, viewer, content.get("scores", {}), problems, _rulings(session, viewer, review, content)
        ),
        "newer_rubric": rubric_queries.published_after(session, review.rubric_version),
        "decisions": page.DECISIONS,
        "confidences": page.CONFIDENCES,
        "token": _token(viewer, review),
        "lease_until": _lease(viewer, review),
        "contests": [c for c in queries.contests_of(session, review.evaluation_id or 0) if c.raised_by_id == viewer.id],
    }
    return pages.render(request, "reviews/page.html", context, status=error.status if error else 200)


def _evidence_context(
    request: Request,
    viewer: Viewer,
    review: Review,
    typed_at: Mapping[str, Mapping[int, list[comments.PlacedComment]]],
    *,
    citable: bool,
) -> dict[str, Any]:
    submission = review.subject.submission
    files = files_shown(request.app.state.settings, submission) if submission else []
    evidence = evidence_for(viewer, review, citable=citable)
    pointed_at = {f.name: [*(evidence.at_lines(f.name) if evidence else ()), *typed_at.get(f.name, ())] for f in files}
    return {
        "submission": submission,
        "comparisons": choices_of(review, submission) if submission else [],
        "task": review.subject.task_version,
        "evidence": evidence,
        "files": parts.first_parts(files, pointed_at),
        "more": more_address(review),
        "typed_at": typed_at,
        "anchors": {f.name: f.anchor for f in files},
        "author": submission_policy.author_label(viewer, submission) if submission else "",
    }


def _own_draft(session: Session, viewer: Viewer, public_id: str) -> Review:
    review = queries.find_visible(session, viewer, public_id).review
    if review.reviewer_id != viewer.id or review.state != ReviewState.DRAFT:
        raise NotFound("there is no draft of yours here", what_to_do="A submitted review keeps its rubric for good.")
    return review


def _newer_rubric(session: Session, review: Review) -> RubricVersion:
    newer = rubric_queries.published_after(session, review.rubric_version)
    if newer is None:
        raise NotFound("this draft has the newest version of its rubric already")
    return newer


def _move_page(
    request: Request, session: Session, review: Review, mapping: dict[str, str], *, error: WorkbenchError | None = None
) -> Response:
    target = _newer_rubric(session, review)
    context = {
        "review": review, "version": target, "plan": moves.plan(session, target, mapping, review=review),
        "changes": rubrics.changed_since(review.rubric_version, target), "error": error,
    }  # fmt: skip
    return pages.render(request, "rubrics/move.html", context, status=error.status if error else 200)


def _rulings(session: Session, viewer: Viewer, review: Review, content: dict[str, Any]) -> list[page.ShownRuling]:
    standing = rubric_queries.rulings_of(session, review.rubric_version)
    read_at = rubric_queries.acknowledged(session, viewer.id, [ruling.id for ruling in standing])
    ticked = content.get("acknowledged", [])
    return [page.ShownRuling(ruling, read_at.get(ruling.id), ruling.public_id in ticked) for ruling in standing]


def _criteria(
    review: Review,
    viewer: Viewer,
    scores: dict[str, Any],
    problems: Any = None,
    rulings: Sequence[page.ShownRuling] = (),
) -> list[page.CriterionView]:
    submission = review.subject.submission
    return page.criteria_of(
        review.rubric_version,
        kind=review.subject.task_version.kind,
        framework=submission.framework if submission else "",
        scores=scores,
        evidence=evidence_for(viewer, review),
        problems=problems if isinstance(problems, dict) else None,
        rulings=rulings,
    )


def _token(viewer: Viewer, review: Review) -> str:
    slot = review.slot
    return slot.token or "" if slot and slot.holder_id == viewer.id else ""


def _lease(viewer: Viewer, review: Review) -> Any:
    slot = review.slot
    return slot.lease_until if slot and slot.holder_id == viewer.id and slot.state == SlotState.CLAIMED else None


def _read_context(request: Request, session: Session, viewer: Viewer, review: Review) -> dict[str, Any]:
    rubric = as_rubric(review.rubric_version.content)
    given = scoring.ReviewContent(scores={k: scoring.ScoreContent(**s) for k, s in review.scores.items()})
    seen = next(s for s in queries.visible_reviews(session, viewer, review.subject_id) if s.review.id == review.id)
    return {
        "review": review,
        "label": seen.label,
        "submission": review.subject.submission,
        "task": review.subject.task_version,
        "criteria": _criteria(review, viewer, review.scores),
        "total": total(rubric, scoring.as_scores(given)),
        "evidence": evidence_for(viewer, review),
        "comments": _placed(request, review, review.comments),
        "titles": page.titles_of(review.rubric_version),
    }


def _placed(request: Request, review: Review, said: Sequence[dict[str, Any]]) -> list[comments.PlacedComment]:
    sources = comments.sources_of(request.app.state.settings, review.subject.submission)
    return [comments.placed(comment, sources) for comment in said]


def _subject(session: Session, viewer: Viewer, submission_id: str) -> tuple[Any, int]:
    submission = submission_queries.find(session, submission_id, viewer)
    subject = submission_queries.subject_of(session, submission.id)
    if subject is None:
        raise NotFound("this submission is not under review")
    return submission, subject.id


def _subject_context(session: Session, viewer: Viewer, submission_id: str) -> dict[str, Any]:
    submission, subject_id = _subject(session, viewer, submission_id)
    seen = [s for s in queries.visible_reviews(session, viewer, subject_id) if s.review.state == ReviewState.SUBMITTED]
    evaluation = evaluation_queries.evidence_of(session, submission.id)
    is_author = queries.is_author(session, viewer, subject_id)
    report = Report.from_json(evaluation.report) if evaluation and evaluation.report else None
    sees_hidden = submission_policy.sees_hidden(viewer, submission)
    # A decision tells what the others said: whoever has still to review sees it as late as them.
    is_blind = not (viewer.is_staff or is_author or any(s.review.reviewer_id == viewer.id for s in seen))
    return {
        "submission": submission,
        "seen": seen,
        "decision": None if is_blind else queries.decision_of(session, subject_id),
        "report": report if report is None or sees_hidden else report.for_submitter(),
        "may_decide": viewer.has(Role.ADJUDICATOR) and not is_author,
        "is_author": is_author,
        "rows": [(s, {c.content.key: c for c in _criteria(s.review, viewer, s.review.scores)}) for s in seen],
        "decisions": page.DECISIONS,
        "confidences": page.CONFIDENCES,
    }
