"""Every select about submissions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, joinedload

from app.accounts.policy import Viewer
from app.errors import NotFound
from app.kit.pagination import LIMIT_DEFAULT, Page, newest_first
from app.models import ReviewSubject, Submission, TaskVersion
from app.submissions import policy


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


def list_of_author(
    session: Session, author_id: int, *, cursor: str | None = None, limit: int = LIMIT_DEFAULT
) -> Page[Submission]:
    return newest_first(
        session, _whole().where(Submission.author_id == author_id), Submission.id, cursor=cursor, limit=limit
    )


def list_all(
    session: Session, *, task_version_id: int | None = None, cursor: str | None = None, limit: int = LIMIT_DEFAULT
) -> Page[Submission]:
    query = _whole()
    if task_version_id is not None:
        query = query.where(Submission.task_version_id == task_version_id)
    return newest_first(session, query, Submission.id, cursor=cursor, limit=limit)


def revisions_of(session: Session, submission: Submission) -> Sequence[Submission]:
    """Every submission by this author to this task version, oldest first."""
    query = select(Submission).where(
        Submission.author_id == submission.author_id, Submission.task_version_id == submission.task_version_id
    )
    return session.scalars(query.order_by(Submission.id)).all()


def subject_of(session: Session, submission_id: int) -> ReviewSubject | None:
    return session.scalar(select(ReviewSubject).where(ReviewSubject.submission_id == submission_id))


def _whole() -> Select[Submission]:
    return select(Submission).options(
        joinedload(Submission.task_version).joinedload(TaskVersion.task),
        joinedload(Submission.author),
        joinedload(Submission.parent),
    )
