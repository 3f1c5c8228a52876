"""Reviews over REST: open, save, submit, correct, contest, and read what one may read."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, Field

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.assignments import queries as assignment_queries
from app.domain.review import Decision, ReviewState
from app.kit.steps import ReadSession, WriteSession, steps
from app.reviews import corrections, queries, revisions, service, showing
from app.reviews.queries import SeenReview
from app.reviews.source_routes import evidence_for

router = steps(prefix="/reviews", tags=["reviews"])
Reader = Annotated[Viewer, Depends(scope("read"))]
Reviewer = Annotated[Viewer, Depends(scope("review"))]


class OpenIn(BaseModel):
    slot: str


class DraftIn(BaseModel):
    base_version: int = Field(ge=0)
    content: dict[str, Any]


class DraftOut(BaseModel):
    """`conflict` is the newer text saved elsewhere; nothing was overwritten when it is there."""

    version: int
    saved_at: dt.datetime
    conflict: dict[str, Any] | None


class SubmitIn(BaseModel):
    """`token` is taken and not needed: whoever holds the slot may close it, from whichever page."""

    token: str = ""
    content: dict[str, Any]


class ContestIn(BaseModel):
    code: str
    reason: str
    workload: str | None = None


class ReviewOut(BaseModel):
    """`supersedes` is the revision that this one corrects, `superseded_by` the submitted one that corrects it."""

    id: str
    revision: int
    supersedes: str | None
    superseded_by: str | None
    is_first_answer: bool
    what_changed: str
    subject: str
    reviewer: str
    rubric: str | None
    rubric_version: str | None
    evaluation: str | None
    state: str
    scores: dict[str, Any]
    comments: list[dict[str, Any]]
    links: list[dict[str, Any]]
    ranking: dict[str, Any] | None
    feedback: str
    decision: Decision | None
    confidence: int | None
    is_extra: bool
    submitted_at: dt.datetime | None


class CorrectionOut(BaseModel):
    """The draft of the next revision, and the text that it starts from: saved on top of `base_version`."""

    review: ReviewOut
    base_version: int
    content: dict[str, Any]


class ReviewPage(BaseModel):
    items: list[ReviewOut]
    next_cursor: str | None


@router.get("")
def list_reviews(
    session: ReadSession, viewer: Reader, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> ReviewPage:
    """One's own reviews, newest first."""
    page = queries.list_own(session, viewer, cursor=cursor, limit=limit)
    return ReviewPage(items=[_as_out(SeenReview(r, "you")) for r in page.items], next_cursor=page.next_cursor)


@router.post("", status_code=201)
def open_review(session: WriteSession, viewer: Reviewer, body: OpenIn) -> ReviewOut:
    """Begin the review of a claimed slot; the same call again gives the same draft."""
    review = service.open_review(session, viewer, assignment_queries.find_slot(session, body.slot))
    return _as_out(SeenReview(review, "you"))


@router.get("/{review_id}")
def show_review(session: ReadSession, viewer: Reader, review_id: str) -> ReviewOut:
    """One that one may read; of evidence that one may not see, it cites no name."""
    seen = queries.find_visible(session, viewer, review_id)
    review, later = seen.review, queries.correction_of(session, seen.review)
    evidence = showing.design_as_reviewed(viewer, review) or evidence_for(viewer, review)
    cited = revisions.as_cited({"scores": review.scores, "comments": review.comments}, evidence)
    return _as_out(seen, superseded_by=later.public_id if later else None).model_copy(update=cited)


@router.put("/{review_id}/draft")
def save_draft(session: WriteSession, viewer: Reviewer, review_id: str, body: DraftIn) -> DraftOut:
    review = queries.find_draft(session, review_id)
    saved = service.save_draft(session, viewer, review, body.content, base_version=body.base_version)
    return DraftOut(version=saved.version, saved_at=saved.saved_at, conflict=saved.conflict)


@router.post("/{review_id}/submit")
def submit_review(
    request: Request, session: WriteSession, viewer: Reviewer, review_id: str, body: SubmitIn
) -> ReviewOut:
    """Close the review; 422 with a list of what is missing."""
    review = queries.find_to_close(session, review_id)
    closed = service.submit_review(session, request.app.state.settings, viewer, review, body.content)
    return _as_out(SeenReview(closed, "you"))


@router.post("/{review_id}/corrections", status_code=201)
def correct_review(session: WriteSession, viewer: Reviewer, review_id: str) -> CorrectionOut:
    """Begin the next revision of one's own submitted review; the same call again gives the same draft."""
    review = queries.find_visible(session, viewer, review_id).review
    correction = corrections.open_correction(session, viewer, review)
    draft = queries.draft_of(session, correction)
    return CorrectionOut(
        review=_as_out(SeenReview(correction, "you")), base_version=draft.version, content=draft.content
    )


@router.post("/{review_id}/withdraw")
def withdraw_correction(session: WriteSession, viewer: Reviewer, review_id: str) -> ReviewOut:
    """Let a correction go; the answer is the review that stands."""
    draft = queries.find_visible(session, viewer, review_id).review
    standing = corrections.withdraw(session, viewer, draft)
    return _as_out(queries.find_visible(session, viewer, standing.public_id))


@router.post("/{review_id}/contests", status_code=201)
def contest_finding(session: WriteSession, viewer: Reviewer, review_id: str, body: ContestIn) -> dict[str, str]:
    review = queries.find_visible(session, viewer, review_id).review
    contest = service.contest_finding(
        session, viewer, review, code=body.code, reason=body.reason, workload=body.workload
    )
    return {"id": contest.public_id}


def _as_out(seen: SeenReview, *, superseded_by: str | None = None) -> ReviewOut:
    review, version = seen.review, seen.review.rubric_version
    is_in = review.state == ReviewState.SUBMITTED
    return ReviewOut(
        id=review.public_id, revision=review.revision,
        supersedes=review.supersedes.public_id if review.supersedes else None, superseded_by=superseded_by,
        is_first_answer=review.revision == 1, what_changed=review.what_changed,
        subject=review.subject.public_id, reviewer=seen.label,
        rubric=version.rubric.key if version else None, rubric_version=version.public_id if version else None,
        evaluation=review.evaluation.public_id if review.evaluation else None, state=review.state,
        scores=review.scores, comments=review.comments, links=review.links, ranking=review.ranking,
        feedback=review.feedback,
        decision=Decision(review.decision) if is_in and review.decision else None, confidence=review.confidence,
        is_extra=review.is_extra, submitted_at=review.submitted_at,
    )  # fmt: skip
