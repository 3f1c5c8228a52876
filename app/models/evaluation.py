"""An evaluation: one judging of a submission, with its attempts, its progress and its report."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.review import EvaluationState
from app.models.base import Base, Row, utc_now
from app.models.submission import Submission


class Evaluation(Row):
    """`state` drives the machine.  Only the attempt named by `attempt_id` may beat, record or fail it."""

    __tablename__ = "evaluations"
    __table_args__ = (
        CheckConstraint("state <> 'done' OR report IS NOT NULL", name="done_has_report"),
        Index("ix_evaluations_state_lease_until", "state", "lease_until"),
    )
    prefix = "evl"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), index=True)
    requested_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    reason: Mapped[str] = mapped_column(String(40), default="submission")
    state: Mapped[str] = mapped_column(String(10), default=EvaluationState.QUEUED.value)
    # When a message for it was last handed to the broker, or should have been.
    sent_at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    attempts: Mapped[int] = mapped_column(default=0)
    attempt_id: Mapped[str | None] = mapped_column(String(40))
    worker: Mapped[str | None] = mapped_column(String(120))
    lease_until: Mapped[dt.datetime | None]
    heartbeat_at: Mapped[dt.datetime | None]
    started_at: Mapped[dt.datetime | None]
    ended_at: Mapped[dt.datetime | None]
    progress: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    report: Mapped[dict[str, Any] | None]
    verdict: Mapped[str | None] = mapped_column(String(20), index=True)
    failure: Mapped[str | None]

    submission: Mapped[Submission] = relationship(lazy="raise")


class EvaluationEvent(Base):
    """What happened to an evaluation, in order: queued, sent again, claimed, failed, recorded."""

    __tablename__ = "evaluation_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id"), index=True)
    at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    kind: Mapped[str] = mapped_column(String(30))
    attempt_id: Mapped[str | None] = mapped_column(String(40))
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)
