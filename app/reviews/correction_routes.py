"""Pages of a correction: begun from a submitted review, withdrawn, and beside what it corrects."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from app.accounts.access import SignedIn
from app.domain.review import ReviewState
from app.errors import NotFound
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Review
from app.reviews import corrections, page, queries, revisions, showing
from app.reviews.source_routes import evidence_for

router = steps(include_in_schema=False)


@router.post("/reviews/{public_id}/correct")
def correct(session: WriteSession, viewer: SignedIn, public_id: str) -> Response:
    review = queries.find_visible(session, viewer, public_id).review
    return RedirectResponse(f"/reviews/{corrections.open_correction(session, viewer, review).public_id}", 303)


@router.post("/reviews/{public_id}/withdraw")
def withdraw(session: WriteSession, viewer: SignedIn, public_id: str) -> Response:
    draft = queries.find_visible(session, viewer, public_id).review
    return RedirectResponse(f"/reviews/{corrections.withdraw(session, viewer, draft).public_id}", 303)


@router.get("/reviews/{public_id}/changes")
def changes_page(request: Request, session: ReadSession, viewer: SignedIn, public_id: str) -> Response:
    """What differs between a revision and the one before; of one's own draft, so far."""
    seen = queries.find_visible(session, viewer, public_id)
    review, version = seen.review, seen.review.rubric_version
    if review.supersedes is None:
        raise NotFound("this is the first revision of its review", what_to_do="There is none to compare it with.")
    before = queries.find_visible(session, viewer, review.supersedes.public_id).review
    is_draft = review.state == ReviewState.DRAFT
    content = dict(queries.draft_of(session, review).content) if is_draft else corrections.content_of(review)
    evidence = [showing.design_as_reviewed(viewer, one) or evidence_for(viewer, one) for one in (before, review)]
    context = {
        "review": review, "before": before, "label": seen.label, "is_draft": is_draft,
        "submission": review.subject.submission, "task": review.subject.task_version,
        "what_changed": content.get("what_changed", "") if is_draft else review.what_changed,
        "beside": [_beside(one) for one in (before, review)],
        "differences": revisions.changes(
            corrections.content_of(before), content, page.titles_of(version) if version else {}, evidence
        ),
    }  # fmt: skip
    return pages.render(request, "reviews/changes.html", context)


def _beside(review: Review) -> str:
    """What the answers stood beside, in words; of the draft of a task's design, nothing is kept yet."""
    if review.health is not None:
        return f"its record (evaluations: {review.health['evaluations']})"
    verdict = review.evaluation.verdict if review.evaluation else None
    return f"the verdict {verdict.replace('_', ' ')}" if verdict else ""
