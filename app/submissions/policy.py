"""Who may see a submission, and who may know whose it is."""

from __future__ import annotations

from app.accounts.policy import Viewer
from app.domain.review import Role
from app.models import Submission
from app.tasks import policy as task_policy


def may_see(viewer: Viewer, submission: Submission) -> bool:
    """Its author and everybody who reviews; other submitters see nothing of it."""
    return submission.author_id == viewer.id or viewer.has(Role.REVIEWER, Role.ADJUDICATOR)


def knows_author(viewer: Viewer, submission: Submission) -> bool:
    """Reviewers are blind to the author, before and after they have reviewed."""
    return submission.author_id == viewer.id or viewer.is_staff


def author_label(viewer: Viewer, submission: Submission, author_name: str | None = None) -> str:
    """The only way a page or an answer names an author."""
    return author_name or submission.pseudonym if knows_author(viewer, submission) else submission.pseudonym


def sees_hidden(viewer: Viewer, submission: Submission) -> bool:
    """Hidden workloads stay hidden from whoever could still submit; an author who reviews is an author here."""
    return submission.author_id != viewer.id and task_policy.sees_hidden(viewer)
