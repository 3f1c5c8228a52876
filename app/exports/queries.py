"""Every select about exports, and the rows that go into one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session, joinedload

from app.domain.review import ReviewState
from app.errors import NotFound
from app.models import Export, Review, ReviewSubject, RubricVersion, Ruling, SubjectDecision, TaskVersion, utc_now
from app.reviews import queries as review_queries
from app.rubrics import queries as rubric_queries

BATCH = 50
REVIEW, RANKING = "review", "ranking"  # shapes
CURRENT, FIRST, ALL = REVISIONS = ("current", "first", "all")


def find(session: Session, public_id: str) -> Export:
    found = session.scalar(select(Export).where(Export.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no export {public_id!r}")
    return found


def list_exports(session: Session, limit: int = 50) -> Sequence[Export]:
    return session.scalars(select(Export).order_by(Export.id.desc()).limit(limit)).all()


def unfinished(session: Session, now: dt.datetime, sent_before: dt.datetime) -> Sequence[Export]:
    """Sent and never taken, or taken by a worker whose lease ran out."""
    query = select(Export).where(
        ((Export.state == "queued") & (Export.sent_at < sent_before))
        | ((Export.state == "running") & (Export.lease_until < now))
    )
    return session.scalars(query.order_by(Export.id)).all()


def reviews_for(session: Session, export: Export) -> Iterator[Review]:
    """Submitted reviews as they stood at the cutoff, in the order of their ids, a batch at a time."""
    last = 0
    while True:
        query = _reviews(export).where(Review.id > last, Review.submitted_at <= export.cutoff_at)
        batch = session.scalars(query.order_by(Review.id).limit(BATCH)).all()
        if not batch:
            return
        yield from batch
        last = batch[-1].id
        session.expunge_all()  # a long export must not keep every source in memory


def decision_at(session: Session, subject_id: int, cutoff: dt.datetime) -> SubjectDecision | None:
    query = select(SubjectDecision).where(
        SubjectDecision.subject_id == subject_id, SubjectDecision.created_at <= cutoff
    )
    return session.scalars(query.order_by(SubjectDecision.id.desc()).limit(1)).first()


def rulings_at_submit(session: Session, review: Review) -> list[tuple[Ruling, dt.datetime | None]]:
    """The rulings in force when the review was submitted, each with when the reviewer had acknowledged it."""
    submitted_at = review.submitted_at or utc_now()
    standing = rubric_queries.rulings_of(session, review.rubric, at=submitted_at)
    read_at = rubric_queries.acknowledged(session, review.reviewer_id, [ruling.id for ruling in standing])
    # Only what was read by then: a row has to come out the same whenever it is written again.
    read_at = {ruling_id: at for ruling_id, at in read_at.items() if at <= submitted_at}
    return [(ruling, read_at.get(ruling.id)) for ruling in standing]


def _revisions(export: Export) -> list[ColumnElement[bool]]:
    """Each review once, as it stood or as it was first; or every revision of it."""
    wanted = export.filters.get("revisions", CURRENT)
    if wanted == ALL:
        return []
    return [Review.revision == 1] if wanted == FIRST else [~review_queries.superseded(by=export.cutoff_at)]


def _reviews(export: Export) -> Select[Review]:
    filters, subject = export.filters, joinedload(Review.subject)
    query = select(Review).options(
        subject.joinedload(ReviewSubject.submission),
        subject.joinedload(ReviewSubject.task_version).joinedload(TaskVersion.task),
        joinedload(Review.rubric_version).joinedload(RubricVersion.rubric),
        joinedload(Review.reviewer),
        joinedload(Review.evaluation),
        joinedload(Review.supersedes).load_only(Review.public_id),
    )
    is_ranking = Review.rubric_version_id.is_(None)
    of_shape = is_ranking if export.shape == RANKING else ~is_ranking
    query = query.where(Review.state == ReviewState.SUBMITTED, of_shape, *_revisions(export))
    if since := filters.get("since"):
        query = query.where(Review.submitted_at > dt.datetime.fromisoformat(since))
    if task := filters.get("task"):
        query = query.where(Review.subject.has(ReviewSubject.task_version.has(TaskVersion.task.has(name=task))))
    return query
