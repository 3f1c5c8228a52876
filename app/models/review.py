"""Reviews, their drafts, contested findings, and the decision that closes a subject."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.ranking import LETTERS
from app.domain.review import ReviewState
from app.errors import NotFound
from app.models.account import User
from app.models.base import Base, Row, utc_now
from app.models.evaluation import Evaluation
from app.models.rubric import RubricVersion
from app.models.subject import ReviewSlot, ReviewSubject
from app.models.submission import Submission


class Review(Row):
    """One reviewer's scores and words.  Pins the rubric version and the evaluation it was written from.

    `scores` maps a criterion's key to {level, state, rationale, evidence[]}; `comments` is a list of
    {path, line, end_line, body, criterion}, `links` of {left_path, left_start, left_end, right_path, ...}.
    `is_extra` marks one that came too late for its slot.  A correction is a row of its own: the next `revision`,
    which `supersedes` the one before and says in a line `what_changed`.  The one before stays as it was submitted.
    `health` is of a task version under review: its record when the review was submitted (`TaskHealth`).

    Of a comparison it has no rubric and no evaluation of its own: a `ReviewMember` has one for each, and `ranking` is
    {places, strengths, reason, notes} in the letters under which this reviewer saw them (`app.domain.ranking`); a note
    is for the author of its letter alone.
    """

    __tablename__ = "reviews"
    __table_args__ = (UniqueConstraint("subject_id", "reviewer_id", "revision"),)
    prefix = "rev"

    subject_id: Mapped[int] = mapped_column(ForeignKey("review_subjects.id"))
    slot_id: Mapped[int | None] = mapped_column(ForeignKey("review_slots.id"), index=True)
    reviewer_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    rubric_version_id: Mapped[int | None] = mapped_column(ForeignKey("rubric_versions.id"), index=True)
    evaluation_id: Mapped[int | None] = mapped_column(ForeignKey("evaluations.id"))
    # Without an index: nearly all are submitted, and SQLite would look for those of one item among all there are.
    state: Mapped[str] = mapped_column(String(10), default=ReviewState.DRAFT.value)
    scores: Mapped[dict[str, Any]] = mapped_column(default=dict)
    comments: Mapped[list[dict[str, Any]]] = mapped_column(default=list)
    links: Mapped[list[dict[str, Any]]] = mapped_column(default=list, server_default="[]")
    ranking: Mapped[dict[str, Any] | None]
    feedback: Mapped[str] = mapped_column(default="")
    decision: Mapped[str | None] = mapped_column(String(20))
    confidence: Mapped[int | None]
    is_extra: Mapped[bool] = mapped_column(default=False)
    health: Mapped[dict[str, Any] | None]
    suggestions_shown: Mapped[bool] = mapped_column(default=True)
    active_seconds: Mapped[int] = mapped_column(default=0)
    wall_seconds: Mapped[int] = mapped_column(default=0)
    submitted_at: Mapped[dt.datetime | None]
    revision: Mapped[int] = mapped_column(default=1, server_default="1")
    supersedes_id: Mapped[int | None] = mapped_column(ForeignKey("reviews.id"), unique=True)
    what_changed: Mapped[str] = mapped_column(String(300), default="", server_default="")

    subject: Mapped[ReviewSubject] = relationship(lazy="raise")
    slot: Mapped[ReviewSlot | None] = relationship(lazy="raise")
    reviewer: Mapped[User] = relationship(lazy="raise")
    rubric_version: Mapped[RubricVersion | None] = relationship(lazy="raise")
    evaluation: Mapped[Evaluation | None] = relationship(lazy="raise")
    supersedes: Mapped[Review | None] = relationship(lazy="raise", remote_side="Review.id")

    @property
    def is_ranking(self) -> bool:
        return self.rubric_version_id is None

    @property
    def rubric(self) -> RubricVersion:
        """The version that it is scored with; whatever asks a ranking for one finds nothing."""
        if self.rubric_version is None:
            raise NotFound("this review ranks, and has no rubric")
        return self.rubric_version


class ReviewMember(Base):
    """A member of a comparison as one review saw it: at which place it was shown, from which evidence."""

    __tablename__ = "review_members"
    __table_args__ = (UniqueConstraint("review_id", "place"),)

    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), primary_key=True, index=True)
    place: Mapped[int]
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id"))

    submission: Mapped[Submission] = relationship(lazy="raise")
    evaluation: Mapped[Evaluation] = relationship(lazy="raise")

    @property
    def letter(self) -> str:
        return LETTERS[self.place]


class ReviewDraft(Base):
    """What the reviewer has typed so far.  `version` counts saves, so that two open pages notice each other."""

    __tablename__ = "review_drafts"

    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"), primary_key=True)
    version: Mapped[int] = mapped_column(default=0)
    content: Mapped[dict[str, Any]] = mapped_column(default=dict)
    saved_at: Mapped[dt.datetime] = mapped_column(default=utc_now)


class OwnSnippet(Row):
    """A text that a reviewer inserts often; `kind` is the kind of task that it is for, none for all."""

    __tablename__ = "own_snippets"
    prefix = "snp"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    position: Mapped[int]
    title: Mapped[str] = mapped_column(String(80))
    text: Mapped[str]
    kind: Mapped[str | None] = mapped_column(String(20))


class Contest(Row):
    """A reviewer says that a finding or the verdict is wrong; it is run again and shown to an adjudicator."""

    __tablename__ = "contests"
    prefix = "cts"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id"), index=True)
    review_id: Mapped[int | None] = mapped_column(ForeignKey("reviews.id"))
    raised_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    finding_code: Mapped[str] = mapped_column(String(80))
    workload: Mapped[str | None] = mapped_column(String(120))
    reason: Mapped[str]
    rerun_id: Mapped[int | None] = mapped_column(ForeignKey("evaluations.id"))
    upheld: Mapped[bool | None]
    settled_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    settled_at: Mapped[dt.datetime | None]
    settled_because: Mapped[str] = mapped_column(default="")

    evaluation: Mapped[Evaluation] = relationship(lazy="raise", foreign_keys=[evaluation_id])
    rerun: Mapped[Evaluation | None] = relationship(lazy="raise", foreign_keys=[rerun_id])
    review: Mapped[Review | None] = relationship(lazy="raise")
    raised_by: Mapped[User] = relationship(lazy="raise", foreign_keys=[raised_by_id])
    settled_by: Mapped[User | None] = relationship(lazy="raise", foreign_keys=[settled_by_id])


class SubjectDecision(Row):
    """What people concluded about a subject, by whom and why.  A later row supersedes an earlier one."""

    __tablename__ = "subject_decisions"
    prefix = "dec"

    subject_id: Mapped[int] = mapped_column(ForeignKey("review_subjects.id"), index=True)
    decided_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    decision: Mapped[str] = mapped_column(String(20))
    confidence: Mapped[int]
    reason: Mapped[str] = mapped_column(default="")

    decided_by: Mapped[User] = relationship(lazy="raise")
