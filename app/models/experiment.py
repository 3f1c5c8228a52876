"""A reviewer's own run beside a review: what was asked for, and what came of it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.review import EvaluationState
from app.models.account import User
from app.models.base import Row, utc_now
from app.models.review import Review
from app.models.submission import Submission


class Experiment(Row):
    """Evidence, and never a verdict on the submission: `verdict` is what the judge says of this run alone.

    It goes through the states of an evaluation; `attempts` tells a late worker from the one that counts.  `tolerance`
    holds the fields that differ from the task's, `patch` the files that differ from the submission's, `outcome` what
    a list of experiments shows without the report.
    """

    __tablename__ = "experiments"
    __table_args__ = (
        CheckConstraint("state <> 'done' OR report IS NOT NULL", name="done_has_report"),
        Index("ix_experiments_state_lease_until", "state", "lease_until"),
    )
    prefix = "xpr"

    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), index=True)
    requested_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), index=True)
    target: Mapped[str] = mapped_column(String(20))
    params: Mapped[dict[str, Any]]
    seed: Mapped[int]
    family: Mapped[str] = mapped_column(String(20), default="")
    tolerance: Mapped[dict[str, Any]] = mapped_column(default=dict)
    patch: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    state: Mapped[str] = mapped_column(String(10), default=EvaluationState.QUEUED.value)
    sent_at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    attempts: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[dt.datetime | None]
    started_at: Mapped[dt.datetime | None]
    ended_at: Mapped[dt.datetime | None]
    report: Mapped[dict[str, Any] | None]
    outcome: Mapped[dict[str, Any] | None]
    verdict: Mapped[str | None] = mapped_column(String(20))
    failure: Mapped[str | None]
    proposed_at: Mapped[dt.datetime | None] = mapped_column(index=True)
    proposal: Mapped[str] = mapped_column(default="")

    review: Mapped[Review] = relationship(lazy="raise")
    requested_by: Mapped[User] = relationship(lazy="raise")
    submission: Mapped[Submission] = relationship(lazy="raise")
