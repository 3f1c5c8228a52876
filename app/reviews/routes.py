"""Pages of reviews: one's own, one of them, all of a subject, and what adjudicators do with them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn, role
from app.accounts.policy import Viewer
from app.domain.report import Report
from app.domain.review import Decision, ReviewState, Role
from app.errors import NotFound
from app.evaluations import queries as evaluation_queries
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.reviews import page, queries, ranking_page, service, showing
from app.submissions import policy as submission_policy
from app.submissions import queries as submission_queries

router = steps(include_in_schema=False)
Reviewer = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]


@router.get("/reviews")
def own_reviews(request: Request, session: ReadSession, viewer: Reviewer, cursor: str | None = None) -> Response:
    return pages.render(request, "reviews/list.html", {"page": queries.list_own(session, viewer, cursor=cursor)})


@router.get("/reviews/{public_id}")
def review_page(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    if review.state == ReviewState.DRAFT:
        draft = queries.draft_of(session, review)
        return showing.draft_page(request, session, viewer, review, dict(draft.content), draft.version)
    if review.is_ranking:
        context = ranking_page.read_context(request, session, viewer, review)
        return pages.render(request, "reviews/ranking_read.html", context)
    return pages.render(request, "reviews/read.html", showing.read_context(request, session, viewer, review))


@router.post("/reviews/{public_id}/contest")
def contest(
    session: WriteSession,
    viewer: SignedIn,
    public_id: str,
    code: Annotated[str, Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    service.contest_finding(session, viewer, review, code=code, reason=reason)
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


def _subject(session: Session, viewer: Viewer, submission_id: str) -> tuple[Any, int]:
    submission = submission_queries.find(session, submission_id, viewer)
    subject = submission_queries.subject_of(session, submission.id)
    if subject is None:
        raise NotFound("this submission is not under review")
    return submission, subject.id


def _subject_context(session: Session, viewer: Viewer, submission_id: str) -> dict[str, Any]:
    submission, subject_id = _subject(session, viewer, submission_id)
    evaluation = evaluation_queries.evidence_of(session, submission.id)
    report = Report.from_json(evaluation.report) if evaluation and evaluation.report else None
    sees_hidden = submission_policy.sees_hidden(viewer, submission)
    return showing.reviews_beside(session, viewer, subject_id) | {
        "submission": submission,
        "report": report if report is None or sees_hidden else report.for_submitter(),
        "notes": queries.notes_to(session, viewer, submission),
        "decide_at": f"/submissions/{submission.public_id}/decide",
        "back": (f"/submissions/{submission.public_id}", "Back to the submission"),
        "decisions": page.DECISIONS,
        "confidences": page.CONFIDENCES,
    }
