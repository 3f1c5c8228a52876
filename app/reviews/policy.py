"""Blindness, in one place: who may see which review, under which name, and when."""

from __future__ import annotations

from collections.abc import Sequence

from app.accounts.policy import Viewer
from app.domain.review import ReviewState
from app.models import Review, Submission


def may_see(viewer: Viewer, review: Review, *, own: Review | None, is_author: bool, all_in: bool) -> bool:
    """Reviewers see others' reviews once their own is in; authors once every wanted review is in.

    A ranking speaks of others' work beside theirs: the authors of its members never see it, only what is written to
    them.  `own` is the viewer's first review of the same subject, `all_in` whether no slot of it is outstanding.
    """
    if review.reviewer_id == viewer.id:
        return True
    if review.state != ReviewState.SUBMITTED:
        return False
    if is_author:  # also for staff: nobody looks behind the blind on their own work
        return all_in and not review.is_ranking
    return viewer.is_staff or (own is not None and own.state == ReviewState.SUBMITTED)


def knows_members(viewer: Viewer, review: Review) -> bool:
    """Which submission stands behind which letter: staff who did not rank them; whoever did stays blind for good."""
    return viewer.is_staff and review.reviewer_id != viewer.id


def reads_notes(viewer: Viewer, submission: Submission) -> bool:
    """What was written to the author of a submission that was ranked beside others: they, and staff."""
    return viewer.is_staff or submission.author_id == viewer.id


def sees_decision(viewer: Viewer, own: Review | None, *, is_author: bool) -> bool:
    """A decision tells what the others said: whoever has still to review sees it as late as them."""
    return viewer.is_staff or is_author or (own is not None and own.state == ReviewState.SUBMITTED)


def reviewer_label(viewer: Viewer, review: Review, order: Sequence[int], *, is_author: bool) -> str:
    """`you`, the name for staff, else "Reviewer 2".  `order` are the reviewers, by whose first answers came first."""
    if review.reviewer_id == viewer.id:
        return "you"
    if viewer.is_staff and not is_author:
        return review.reviewer.name
    return f"Reviewer {order.index(review.reviewer_id) + 1}"
