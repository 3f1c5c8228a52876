"""The revisions of one review, as whoever reads one of them sees the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.domain.review import ReviewState
from app.errors import WorkbenchError
from app.evaluations.panels import Evidence
from app.models import Review
from app.reviews import corrections, differing
from app.reviews.designs import Design
from app.reviews.queries import SeenReview


@dataclass(frozen=True)
class Revisions:
    """`before` are the earlier ones, newest first; `later` corrects this one; `draft` is the viewer's own correction.

    `why_not` is what keeps the viewer from correcting it: said to its reviewer alone, nobody else expects to.
    """

    before: list[Review]
    later: Review | None
    draft: Review | None
    may_correct: bool
    why_not: WorkbenchError | None


def around(session: Session, viewer: Viewer, review: Review, seen: Sequence[SeenReview]) -> Revisions:
    """`seen` is what the viewer may see of the subject."""
    others = [s.review for s in seen if s.review.reviewer_id == review.reviewer_id]
    submitted = [one for one in others if one.state == ReviewState.SUBMITTED]
    later = [one for one in submitted if one.revision > review.revision]
    is_own_and_stands = review.reviewer_id == viewer.id and not later
    refused = corrections.why_not(session, viewer, review) if is_own_and_stands else None
    return Revisions(
        before=[one for one in reversed(submitted) if one.revision < review.revision],
        later=later[-1] if later else None,
        draft=next((one for one in others if one.supersedes_id == review.id and one.state == ReviewState.DRAFT), None),
        may_correct=is_own_and_stands and refused is None,
        why_not=refused,
    )


def changes(
    before: dict[str, Any], after: dict[str, Any], titles: dict[str, str], evidence: Sequence[Evidence | Design | None]
) -> list[differing.Difference]:
    """What differs from one revision to the next, naming only such evidence as the viewer may know of."""
    texts = [as_cited(text, cited_from) for text, cited_from in zip((before, after), evidence, strict=True)]
    left, right = ({**text, "what_changed": "", "acknowledged": []} for text in texts)
    return differing.differences(left, right, titles, {})


def as_cited(content: dict[str, Any], evidence: Evidence | Design | None) -> dict[str, Any]:
    """What a review says, citing only such cells as the viewer of `evidence` may know of."""
    if evidence is None:
        return content

    def cited(one: dict[str, Any]) -> dict[str, Any]:
        return {**one, "evidence": [evidence.citation(cell) for cell in one.get("evidence", [])]}

    scores = {key: cited(score) for key, score in content.get("scores", {}).items()}
    return {**content, "scores": scores, "comments": [cited(comment) for comment in content.get("comments", [])]}
