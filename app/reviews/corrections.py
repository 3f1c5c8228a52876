"""Corrections: a submitted review stays as it is, and its reviewer writes the next revision from a copy of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.assignments import queries as assignment_queries
from app.domain.review import ReviewState, Role
from app.domain.task_health import TaskHealth
from app.errors import Conflict, NotPermitted, WorkbenchError
from app.evaluations import queries as evaluation_queries
from app.kit import audit
from app.models import Review, ReviewDraft, utc_now
from app.reviews import differing, queries, ranking
from app.reviews.scoring import ReviewContent

_COPIED = ("scores", "comments", "links", "feedback", "decision", "confidence")


def content_of(review: Review) -> dict[str, Any]:
    """What a submitted review says, in the shape of a draft."""
    said = {name: getattr(review, name) for name in _COPIED}
    return said if review.ranking is None else said | ranking.as_typed(review.ranking)


def why_not(session: Session, viewer: Viewer, review: Review) -> WorkbenchError | None:
    """What keeps the viewer from correcting this review; `None` where they may."""
    if review.reviewer_id != viewer.id:
        return NotPermitted("this is another person's review", what_to_do="Only who wrote a review corrects it.")
    if review.state != ReviewState.SUBMITTED:
        return Conflict("only a submitted review is corrected", what_to_do="Go on with the draft.")
    later = queries.correction_of(session, review)
    if later is not None:
        return Conflict("this revision is corrected already", what_to_do=f"Correct revision {later.revision} instead.")
    decided = queries.decision_of(session, review.subject_id)
    if decided is not None:
        return Conflict(
            f"an adjudicator decided on {decided.created_at:%d %b %Y}, from the reviews as they are",
            what_to_do="Tell an adjudicator what is wrong in yours: they can decide again.",
        )
    if not viewer.has(Role.REVIEWER) and not viewer.has(Role.ADJUDICATOR):
        return NotPermitted("you no longer review", what_to_do="Ask an admin.")
    if assignment_queries.is_too_close(session, viewer, review.subject_id):
        return NotPermitted("you are too close to its author by now", what_to_do="Your review stays as it is.")
    return None


def open_correction(session: Session, viewer: Viewer, review: Review) -> Review:
    """The draft of the next revision: a copy to start from, beside the evidence as it is now; or the one there is."""
    queries.lock(session, review)
    refused = why_not(session, viewer, review)
    if refused is not None:
        raise refused
    draft = queries.next_revision(session, review)
    if draft is not None and draft.state == ReviewState.DRAFT:
        return draft
    draft = _begun(session, review) if draft is None else draft
    draft.state, draft.evaluation_id = ReviewState.DRAFT.value, _evidence_now(session, review)
    if review.is_ranking:
        ranking.copy_members(session, review, draft)
    _fill(session, draft, content_of(review))
    audit.note(session, viewer.id, "review.correct", draft.public_id, supersedes=review.public_id)
    session.flush()
    session.expire(draft, ["evaluation"])
    return queries.find(session, draft.public_id)


def withdraw(session: Session, viewer: Viewer, draft: Review) -> Review:
    """Let a correction go before it is submitted; the review that it would have corrected, which stands."""
    state, _ = queries.lock(session, draft)
    if draft.reviewer_id != viewer.id:
        raise NotPermitted("this is another person's review")
    if draft.supersedes is None or state != ReviewState.DRAFT:
        raise Conflict("this is no correction in the making", what_to_do="Only a correction is withdrawn.")
    draft.state = ReviewState.WITHDRAWN.value
    audit.note(session, viewer.id, "review.withdraw", draft.public_id, supersedes=draft.supersedes.public_id)
    session.flush()
    return draft.supersedes


def must_still_be_allowed(session: Session, viewer: Viewer, review: Review) -> None:
    """Asked again on submit: much may have happened since the correction was begun."""
    before = review.supersedes
    if before is None:
        return
    # Whoever decides holds the same lock, so that the decision is seen here or made from this revision.
    assignment_queries.lock_subject(session, review.subject_id)
    refused = why_not(session, viewer, before)
    if refused is not None:
        raise refused


def is_same_evidence(review: Review, health: TaskHealth | None) -> bool:
    """Whether it is written from what its review was written from; `health` is the record of a task as it is now."""
    before = review.supersedes
    now = (review.evaluation_id, health.to_json() if health else None)
    return before is not None and (before.evaluation_id, before.health) == now


def problems(review: Review, given: ReviewContent, *, is_same_evidence: bool) -> dict[str, str]:
    """What a correction lacks besides what every review needs."""
    before = review.supersedes
    if before is None:
        return {}
    said = given.model_dump(mode="json", include={*_COPIED, "ranking", "notes"}, exclude_none=True)
    is_same = differing.are_the_same(content_of(before), said)
    if is_same and is_same_evidence:
        return {"what_changed": f"nothing is changed: this is revision {before.revision} word for word"}
    if not given.what_changed.strip():
        return {"what_changed": "say in a line what you changed, and why: it is read beside both revisions"}
    return {}


def as_audited(review: Review) -> dict[str, Any]:
    """What the books say of a submitted correction beyond what they say of any review."""
    if review.supersedes is None:
        return {}
    return {
        "revision": review.revision, "supersedes": review.supersedes.public_id, "what_changed": review.what_changed,
    }  # fmt: skip


def _begun(session: Session, review: Review) -> Review:
    draft = Review(
        subject_id=review.subject_id, slot_id=review.slot_id, reviewer_id=review.reviewer_id,
        rubric_version_id=review.rubric_version_id, revision=review.revision + 1, supersedes_id=review.id, scores={},
        comments=[], feedback="", is_extra=review.is_extra,
    )  # fmt: skip
    session.add(draft)
    session.flush()
    return draft


def _fill(session: Session, draft: Review, content: dict[str, Any]) -> None:
    """One version on where there was a text: a page that still shows what was withdrawn may not save over the copy."""
    kept = session.get(ReviewDraft, draft.id)
    if kept is None:
        session.add(ReviewDraft(review_id=draft.id, version=0, content=content, saved_at=utc_now()))
    else:
        kept.version, kept.content, kept.saved_at = kept.version + 1, content, utc_now()


def _evidence_now(session: Session, review: Review) -> int | None:
    submission_id = review.subject.submission_id
    newest = evaluation_queries.evidence_of(session, submission_id) if submission_id else None
    return newest.id if newest is not None else review.evaluation_id
