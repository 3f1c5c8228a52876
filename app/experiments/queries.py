"""Every select about experiments."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session, defer, joinedload

from app.accounts.policy import Viewer
from app.domain.review import EvaluationState
from app.errors import NotFound
from app.experiments import policy
from app.models import Experiment, Review, ReviewSubject, Submission, TaskVersion
from app.reviews import queries as review_queries
from app.submissions import policy as submission_policy

HISTORY_MAX = 100


def find(session: Session, public_id: str) -> Experiment:
    found = session.scalar(_whole().where(Experiment.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no experiment {public_id!r}")
    return found


def find_visible(session: Session, viewer: Viewer, public_id: str) -> Experiment:
    """The same, but what the viewer may not see is not found."""
    experiment = find(session, public_id)
    if not may_see(session, viewer, experiment.review):
        raise NotFound(f"there is no experiment {public_id!r}")
    return experiment


def review_with_bench(session: Session, viewer: Viewer, public_id: str) -> Review:
    """A review whose experiments the viewer may see."""
    review = review_queries.find(session, public_id)
    if not may_see(session, viewer, review):
        raise NotFound(f"there is no review {public_id!r}")
    return review


def may_see(session: Session, viewer: Viewer, review: Review) -> bool:
    submission = review.subject.submission
    visible = review_queries.visible_reviews(session, viewer, review.subject_id)
    return policy.may_see(
        viewer, review,
        is_author=review_queries.is_author(session, viewer, review.subject_id),
        sees_review=any(seen.review.id == review.id for seen in visible),
        sees_hidden=submission is not None and submission_policy.sees_hidden(viewer, submission),
    )  # fmt: skip


def history(session: Session, review: Review) -> Sequence[Experiment]:
    """The newest first, without their reports."""
    query = _whole().options(defer(Experiment.report)).where(_cited_in(review))
    return session.scalars(query.order_by(Experiment.id.desc()).limit(HISTORY_MAX)).all()


def in_flight(session: Session, user_id: int) -> int:
    waiting = (EvaluationState.QUEUED.value, EvaluationState.RUNNING.value)
    query = select(func.count()).where(Experiment.requested_by_id == user_id, Experiment.state.in_(waiting))
    return session.scalar(query) or 0


def proposed(session: Session) -> Sequence[Experiment]:
    query = _whole().options(defer(Experiment.report)).where(Experiment.proposed_at.is_not(None))
    return session.scalars(query.order_by(Experiment.proposed_at.desc()).limit(HISTORY_MAX)).all()


def seen_when_submitted(session: Session, review: Review) -> Sequence[Experiment]:
    """What a submitted review rests on: what had ended by then, in order."""
    query = select(Experiment).where(
        _cited_in(review),
        Experiment.state == EvaluationState.DONE,
        Experiment.ended_at <= review.submitted_at,
    )
    return session.scalars(query.order_by(Experiment.id)).all()


def lost(session: Session, now: dt.datetime, sent_before: dt.datetime) -> Sequence[Experiment]:
    """Sent and never taken, or taken by a worker whose lease ran out."""
    query = select(Experiment).where(
        ((Experiment.state == EvaluationState.QUEUED) & (Experiment.sent_at < sent_before))
        | ((Experiment.state == EvaluationState.RUNNING) & (Experiment.lease_until < now))
    )
    return session.scalars(query.order_by(Experiment.id)).all()


def submission_of(session: Session, review: Review) -> Submission | None:
    """What the review is about, with its parent and its task."""
    query = select(Submission).options(
        joinedload(Submission.parent), joinedload(Submission.task_version).joinedload(TaskVersion.task)
    )
    return session.scalar(query.where(Submission.id == review.subject.submission_id))


def _cited_in(review: Review) -> ColumnElement[bool]:
    """Of this review or of what it corrects: a correction starts from a copy, and cites what that cited."""
    whose = (Review.subject_id == review.subject_id, Review.reviewer_id == review.reviewer_id)
    return Experiment.review_id.in_(select(Review.id).where(*whose, Review.revision <= review.revision))


def _whole() -> Select[Experiment]:
    review = joinedload(Experiment.review)
    submission = joinedload(Experiment.submission)
    return select(Experiment).options(
        joinedload(Experiment.requested_by),
        review.joinedload(Review.subject).joinedload(ReviewSubject.submission),
        submission.joinedload(Submission.parent),
        submission.joinedload(Submission.task_version).joinedload(TaskVersion.task),
    )
