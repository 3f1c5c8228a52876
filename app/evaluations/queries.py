"""Every select about evaluations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from app.domain.review import EvaluationState
from app.errors import NotFound
from app.kit.among import among
from app.models import Evaluation, EvaluationEvent, Submission, TaskVersion


def find(session: Session, public_id: str) -> Evaluation:
    found = session.scalar(_whole().where(Evaluation.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no evaluation {public_id!r}")
    return found


def latest_of(session: Session, submission_id: int) -> Evaluation | None:
    """The newest evaluation, whatever its state."""
    return session.scalars(_of(submission_id).limit(1)).first()


def evidence_of(session: Session, submission_id: int) -> Evaluation | None:
    """The newest evaluation that has a report: what reviewers look at."""
    return session.scalars(_of(submission_id).where(Evaluation.state == EvaluationState.DONE).limit(1)).first()


def list_of(session: Session, submission_id: int) -> Sequence[Evaluation]:
    return session.scalars(_of(submission_id)).all()


def latest_by_submission(session: Session, submission_ids: Sequence[int]) -> dict[int, Evaluation]:
    """The newest evaluation of each submission, in one select."""
    newest = select(func.max(Evaluation.id)).where(Evaluation.submission_id.in_(submission_ids))
    rows = session.scalars(select(Evaluation).where(Evaluation.id.in_(newest.group_by(Evaluation.submission_id))))
    return {row.submission_id: row for row in rows}


def latest_states(session: Session, submission_ids: Sequence[int]) -> dict[int, str]:
    """The state of each submission's newest evaluation, without its report."""
    return dict(session.execute(_LATEST_STATES, {"submissions": submission_ids}).all())


@dataclass(frozen=True)
class Judged:
    """A submission, by what a list needs, and the codes of its newest report's findings."""

    submission_id: str
    title: str
    task_title: str
    codes: tuple[str, ...]


def newest_judged(session: Session, *, author_id: int | None, limit: int) -> list[Judged]:
    """The submissions last judged, newest first, of one author or of all.  A report's findings alone are read."""
    later = aliased(Evaluation)
    is_later = (later.submission_id == Evaluation.submission_id) & (later.id > Evaluation.id)
    query = (
        select(Submission.public_id, Submission.title, TaskVersion.title, Evaluation.report["findings"])
        .join(Submission, Evaluation.submission_id == Submission.id)
        .join(TaskVersion, Submission.task_version_id == TaskVersion.id)
        .where(Evaluation.state == EvaluationState.DONE)
        .where(~exists().where(is_later, later.state == EvaluationState.DONE))
        .order_by(Evaluation.id.desc())
        .limit(limit)
    )
    if author_id is not None:
        query = query.where(Submission.author_id == author_id)
    return [
        Judged(submission_id, title, task_title, tuple(f["code"] for f in findings or ()))
        for submission_id, title, task_title, findings in session.execute(query)
    ]


def events_of(session: Session, evaluation_id: int) -> Sequence[EvaluationEvent]:
    query = select(EvaluationEvent).where(EvaluationEvent.evaluation_id == evaluation_id)
    return session.scalars(query.order_by(EvaluationEvent.id)).all()


def expired(session: Session, now: dt.datetime) -> Sequence[Evaluation]:
    """Running without a sign of life since their lease ended."""
    query = select(Evaluation).where(Evaluation.state == EvaluationState.RUNNING, Evaluation.lease_until < now)
    return session.scalars(query.order_by(Evaluation.id)).all()


def unclaimed(session: Session, sent_before: dt.datetime) -> Sequence[Evaluation]:
    """Queued, and not sent since then, oldest first."""
    query = select(Evaluation).where(Evaluation.state == EvaluationState.QUEUED, Evaluation.sent_at < sent_before)
    return session.scalars(query.order_by(Evaluation.id)).all()


def count_by_state(session: Session) -> dict[str, int]:
    rows = session.execute(select(Evaluation.state, func.count()).group_by(Evaluation.state)).all()
    return {state.value: 0 for state in EvaluationState} | dict(rows)


def failed(session: Session, limit: int = 50) -> Sequence[Evaluation]:
    """Our own faults, newest first, for the admin's page."""
    query = select(Evaluation).options(joinedload(Evaluation.submission))
    return session.scalars(
        query.where(Evaluation.state == EvaluationState.FAILED).order_by(Evaluation.id.desc()).limit(limit)
    ).all()


# Built once: every page of the queue asks it.
_NEWEST = select(func.max(Evaluation.id)).where(among(Evaluation.submission_id, "submissions"))
_LATEST_STATES = select(Evaluation.submission_id, Evaluation.state).where(
    Evaluation.id.in_(_NEWEST.group_by(Evaluation.submission_id))
)


def _of(submission_id: int) -> Select[Evaluation]:
    return select(Evaluation).where(Evaluation.submission_id == submission_id).order_by(Evaluation.id.desc())


def _whole() -> Select[Evaluation]:
    submission = joinedload(Evaluation.submission)
    return select(Evaluation).options(
        submission.joinedload(Submission.task_version).joinedload(TaskVersion.task),
        submission.joinedload(Submission.author),
    )
