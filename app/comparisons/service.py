"""Comparisons: opened by whoever runs the house, of evaluated submissions that can be told apart."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import service as assignments
from app.assignments.policy import Priority
from app.comparisons import queries
from app.config import Settings
from app.domain.ranking import LETTERS, MEMBERS_MAX, MEMBERS_MIN
from app.domain.review import Role, SubjectKind
from app.errors import Conflict, Invalid, NotPermitted
from app.evaluations import queries as evaluation_queries
from app.kit import audit
from app.models import ComparisonMember, ReviewSubject, SubjectAuthor, Submission, TaskVersion
from app.submissions import queries as submission_queries

WANTED = Priority(15, "somebody has to say which of these is the best")


def open_comparison(
    session: Session, settings: Settings, viewer: Viewer, version: TaskVersion, submission_ids: Sequence[str]
) -> ReviewSubject:
    """Open places for people to rank these submissions (public ids) to this version of a task."""
    require_role(viewer, Role.ADJUDICATOR)
    members = _members(session, viewer, version, submission_ids)
    keys = [submission.id for submission in members]
    queries.lock(session, version.id)
    if (there := queries.open_with(session, version.id, keys)) is not None:
        raise Conflict(
            f"these are compared already, in {there.public_id}", what_to_do="Wait until its last review is in."
        )
    frameworks = {submission.framework for submission in members}
    subject = ReviewSubject(
        kind=SubjectKind.COMPARISON.value, task_version_id=version.id,
        framework=frameworks.pop() if len(frameworks) == 1 else "",
        summary={"scope": _scope(len(members)), "top": None, "is_hard": False, "more": 0},
    )  # fmt: skip
    session.add(subject)
    session.flush()
    session.add_all(
        ComparisonMember(subject_id=subject.id, submission_id=key, position=position)
        for position, key in enumerate(keys)
    )
    authors = queries.authors_of(session, keys)
    session.add_all(SubjectAuthor(subject_id=subject.id, user_id=author) for author in authors)
    assignments.open_places(session, settings, subject, WANTED)
    names = [submission.public_id for submission in members]
    audit.note(session, viewer.id, "comparison.open", subject.public_id, task=version.public_id, members=names)
    return subject


def _members(session: Session, viewer: Viewer, version: TaskVersion, submission_ids: Sequence[str]) -> list[Submission]:
    """In the order in which they were submitted; raises where they are no two to four that can be compared."""
    named = list(dict.fromkeys(submission_ids))
    if len(named) < len(submission_ids):
        raise Invalid("the same submission is named twice", what_to_do="Name each once.")
    if not MEMBERS_MIN <= len(named) <= MEMBERS_MAX:
        raise Invalid(
            f"a comparison is of {MEMBERS_MIN} to {MEMBERS_MAX} submissions, and here are {len(named)}",
            what_to_do="Choose two, three or four.",
        )
    members = [submission_queries.find(session, public_id, viewer) for public_id in named]
    for submission in members:
        _must_be_ready(session, version, submission)
    _must_differ(members)
    if queries.is_too_close(session, viewer, [submission.id for submission in members]):
        raise NotPermitted(
            "nobody has their own work compared, their team's, or where they declared a conflict",
            what_to_do="Ask another adjudicator.",
        )
    return sorted(members, key=lambda submission: submission.id)


def _must_be_ready(session: Session, version: TaskVersion, submission: Submission) -> None:
    name = submission.public_id
    if submission.task_version_id != version.id:
        whose = f"version {submission.task_version.version} of {submission.task_version.task.name!r}"
        raise Invalid(
            f"{name} is for {whose}, and this compares version {version.version} of {version.task.name!r}",
            what_to_do="Choose submissions to one version of one task: another version asks for something else.",
        )
    if evaluation_queries.evidence_of(session, submission.id) is None:
        raise Conflict(
            f"{name} is not evaluated yet", what_to_do="Wait for its report: nobody ranks what was not looked at."
        )


def _must_differ(members: Sequence[Submission]) -> None:
    seen: dict[str, str] = {}
    for submission in members:
        if (other := seen.setdefault(submission.sha256, submission.public_id)) != submission.public_id:
            raise Invalid(
                f"{other} and {submission.public_id} are the same bytes", what_to_do="Leave one of the two out."
            )


def _scope(count: int) -> str:
    return f"{count} submissions to one task, shown as A to {LETTERS[count - 1]}"
