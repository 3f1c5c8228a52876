"""What of reviews is told to webhooks: that they are in, and of what; neither whose they are nor what they say."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.events import Event
from app.domain.review import SlotState, SubjectKind
from app.models import Review, ReviewSlot, ReviewSubject, Submission, Task, TaskVersion
from app.webhooks import outbox


def tell_of_review(session: Session, review: Review) -> None:
    """And, where it was the last that was wanted, that the item is complete."""
    if not outbox.is_heard(session, Event.REVIEW_SUBMITTED, Event.SUBJECT_COMPLETED):
        return
    path, ids = _named(session, review.subject_id)
    outbox.emit(session, Event.REVIEW_SUBMITTED, path=f"/reviews/{review.public_id}", review=review.public_id, **ids)
    if not review.is_extra and review.supersedes_id is None and _is_complete(session, review.subject_id):
        outbox.emit(session, Event.SUBJECT_COMPLETED, path=path, **ids)


def tell_of_decision(session: Session, subject_id: int) -> None:
    path, ids = _named(session, subject_id)
    outbox.emit(session, Event.SUBJECT_DECIDED, path=path, **ids)


def _is_complete(session: Session, subject_id: int) -> bool:
    """Asked of the database: another reviewer may have handed in a moment ago."""
    left = select(ReviewSlot.id).where(ReviewSlot.subject_id == subject_id, ReviewSlot.state != SlotState.DONE)
    return session.scalars(left.limit(1)).first() is None


def _named(session: Session, subject_id: int) -> tuple[str, dict[str, str]]:
    """The page of a subject's reviews, and its ids."""
    query = (
        select(ReviewSubject.public_id, ReviewSubject.kind, Submission.public_id, Task.name)
        .join(TaskVersion, TaskVersion.id == ReviewSubject.task_version_id)
        .join(Task, Task.id == TaskVersion.task_id)
        .outerjoin(Submission, Submission.id == ReviewSubject.submission_id)
        .where(ReviewSubject.id == subject_id)
    )
    subject, kind, submission, task = session.execute(query).one()
    ids = {"subject": subject}
    if kind == SubjectKind.SUBMISSION:
        return f"/submissions/{submission}/reviews", ids | {"submission": submission}
    if kind == SubjectKind.TASK_VERSION:
        return f"/tasks/{task}/reviews", ids | {"task": task}
    return f"/comparisons/{subject}", ids
