"""Who runs experiments, and who sees them: they are as blind as the review that they belong to."""

from __future__ import annotations

from app.accounts.policy import Viewer
from app.domain.review import ReviewState
from app.models import Review


def may_run(viewer: Viewer, review: Review) -> bool:
    """A submitted review is frozen with its evidence."""
    return review.reviewer_id == viewer.id and review.state == ReviewState.DRAFT


def may_see(viewer: Viewer, review: Review, *, is_author: bool, sees_review: bool, sees_hidden: bool) -> bool:
    """One's own, and staff at any time; others once they may read the review.

    Whoever could submit to the task sees none of others': an experiment may become a hidden workload.
    """
    if review.reviewer_id == viewer.id:
        return True
    if is_author:
        return False
    return viewer.is_staff or (sees_review and sees_hidden)
