"""Every select about submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ScalarSelect, Select, exists, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from app.accounts.policy import Viewer
from app.errors import NotFound
from app.kit.pagination import LIMIT_DEFAULT, Page, newest_first
from app.models import Evaluation, ReviewSubject, Submission, Task, TaskVersion
from app.submissions import policy

# A revision of a revision of a revision: as far back as a page looks.
ANCESTORS_MAX = 20


def find(session: Session, public_id: str, viewer: Viewer | None = None) -> Submission:
    """With its task and author; what `viewer` may not see is not found, so that ids tell nothing."""
    found = session.scalar(_whole().where(Submission.public_id == public_id))
    if found is None or (viewer is not None and not policy.may_see(viewer, found)):
        raise NotFound(f"there is no submission {public_id!r}")
    return found


def same_bytes(session: Session, *, author_id: int, task_version_id: int, sha256: str) -> Submission | None:
    query = _whole().where(
        Submission.author_id == author_id, Submission.task_version_id == task_version_id, Submission.sha256 == sha256
    )
    return session.scalar(query)


@dataclass(frozen=True)
class SubmissionFilters:
    """Each is left out when empty.  `state` and `verdict` are of the newest evaluation; `task` is a name."""

    task: str = ""
    framework: str = ""
    state: str = ""
    verdict: str = ""


def list_of_author(
    session: Session,
    author_id: int,
    filters: SubmissionFilters | None = None,
    *,
    cursor: str | None = None,
    limit: int = LIMIT_DEFAULT,
) -> Page[Submission]:
    query = _filtered(filters).where(Submission.author_id == author_id)
    return newest_first(session, query, Submission.id, cursor=cursor, limit=limit)


def list_all(
    session: Session,
    filters: SubmissionFilters | None = None,
    *,
    cursor: str | None = None,
    limit: int = LIMIT_DEFAULT,
) -> Page[Submission]:
    return newest_first(session, _filtered(filters), Submission.id, cursor=cursor, limit=limit)


def revisions_of(session: Session, submission: Submission) -> Sequence[Submission]:
    """Every submission by this author to this task version, oldest first."""
    query = select(Submission).where(
        Submission.author_id == submission.author_id, Submission.task_version_id == submission.task_version_id
    )
    return session.scalars(query.order_by(Submission.id)).all()


def ancestors_of(session: Session, submission: Submission) -> list[Submission]:
    """The revisions that this one was made from, nearest first."""
    found: list[Submission] = []
    parent_id = submission.parent_id
    while parent_id is not None and len(found) < ANCESTORS_MAX:
        found.append(session.get_one(Submission, parent_id))
        parent_id = found[-1].parent_id
    return found


def subject_of(session: Session, submission_id: int) -> ReviewSubject | None:
    return session.scalar(select(ReviewSubject).where(ReviewSubject.submission_id == submission_id))


def _filtered(filters: SubmissionFilters | None) -> Select[Submission]:
    wanted = filters or SubmissionFilters()
    query = _whole()
    if wanted.task:
        query = query.where(Submission.task_version.has(TaskVersion.task.has(Task.name == wanted.task)))
    if wanted.framework:
        query = query.where(Submission.framework == wanted.framework)
    for column, value in ((Evaluation.state, wanted.state), (Evaluation.verdict, wanted.verdict)):
        if value:
            query = query.where(exists().where(Evaluation.id == _newest_evaluation(), column == value))
    return query


def _newest_evaluation() -> ScalarSelect[int]:
    of_this = aliased(Evaluation)
    newest = select(func.max(of_this.id)).where(of_this.submission_id == Submission.id)
    return newest.correlate(Submission).scalar_subquery()


def _whole() -> Select[Submission]:
    return select(Submission).options(
        joinedload(Submission.task_version).joinedload(TaskVersion.task),
        joinedload(Submission.author),
        joinedload(Submission.parent),
    )
