"""What is reviewed, and the slots through which it is: state sits on the slot, never on the item."""

from __future__ import annotations

import datetime as dt
import secrets
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.review import SlotState
from app.models.account import User
from app.models.base import Base, Row, utc_now
from app.models.submission import Submission
from app.models.task import TaskVersion

# `ReviewSubject.shuffle` is below 2 ** SHUFFLE_BITS, so that small multiples of it still are 64-bit integers.
SHUFFLE_BITS = 53


class ReviewSubject(Row):
    """A submission revision, a task version, or a comparison of two to four submissions.

    What the queue needs stands here, so that a page of it is one walk along an index: `is_open`, `reviews_done` and
    `rank` follow from the slots and `priority` (`assignments.service` keeps them so), `verdict`, `why` and `summary`
    from the newest evidence, and `shuffle` is drawn once.
    """

    __tablename__ = "review_subjects"
    __table_args__ = (
        Index("ix_review_subjects_is_open_rank_shuffle", "is_open", "rank", "shuffle"),
        Index("ix_review_subjects_is_open_id", "is_open", "id"),
        Index("ix_review_subjects_is_open_due_at", "is_open", "due_at"),
        # A version is reviewed as one item, however many people ask for it.
        Index(
            "uq_review_subjects_design", "task_version_id", unique=True,
            sqlite_where=text("kind = 'task_version'"), postgresql_where=text("kind = 'task_version'"),
        ),
    )  # fmt: skip
    prefix = "sbj"

    kind: Mapped[str] = mapped_column(String(20))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"), unique=True)
    task_version_id: Mapped[int] = mapped_column(ForeignKey("task_versions.id"), index=True)
    framework: Mapped[str] = mapped_column(String(20), default="")
    verdict: Mapped[str | None] = mapped_column(String(20))
    summary: Mapped[dict[str, Any] | None]
    priority: Mapped[int] = mapped_column(default=0)
    why: Mapped[str] = mapped_column(String(300), default="")
    due_at: Mapped[dt.datetime | None]
    is_open: Mapped[bool] = mapped_column(default=False)
    reviews_done: Mapped[int] = mapped_column(default=0)
    rank: Mapped[int] = mapped_column(default=0)
    shuffle: Mapped[int] = mapped_column(BigInteger, default=lambda: secrets.randbits(SHUFFLE_BITS))

    submission: Mapped[Submission | None] = relationship(lazy="raise")
    task_version: Mapped[TaskVersion] = relationship(lazy="raise")


class SubjectAuthor(Base):
    """Who made what is under review: they, their team and their declared conflicts may not review it."""

    __tablename__ = "subject_authors"

    subject_id: Mapped[int] = mapped_column(ForeignKey("review_subjects.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)


class ComparisonMember(Base):
    """A submission that takes part in a comparison; each reviewer sees the members in an order of their own."""

    __tablename__ = "comparison_members"
    __table_args__ = (UniqueConstraint("subject_id", "position"),)

    subject_id: Mapped[int] = mapped_column(ForeignKey("review_subjects.id"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    position: Mapped[int]

    submission: Mapped[Submission] = relationship(lazy="raise")


class ReviewSlot(Row):
    """One place for one reviewer.  A free slot has no holder, so the constraint is one live slot each.

    `reserved_for` is whom an admin gave it to: nobody else can claim it.  `why` is what was reported of a broken one.
    """

    __tablename__ = "review_slots"
    __table_args__ = (
        UniqueConstraint("subject_id", "number"),
        UniqueConstraint("subject_id", "holder_id"),
        Index("ix_review_slots_state_lease_until", "state", "lease_until"),
        # What a person holds is found whatever they have done before.
        Index("ix_review_slots_holder_id_state_lease_until", "holder_id", "state", "lease_until"),
    )
    prefix = "slt"

    subject_id: Mapped[int] = mapped_column(ForeignKey("review_subjects.id"))
    number: Mapped[int]
    state: Mapped[str] = mapped_column(String(10), default=SlotState.WAITING.value)
    why: Mapped[str] = mapped_column(String(300), default="")
    reserved_for_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    holder_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    token: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[dt.datetime | None]
    claimed_at: Mapped[dt.datetime | None]
    done_at: Mapped[dt.datetime | None]

    subject: Mapped[ReviewSubject] = relationship(lazy="raise")
    holder: Mapped[User | None] = relationship(lazy="raise", foreign_keys=[holder_id])
    reserved_for: Mapped[User | None] = relationship(lazy="raise", foreign_keys=[reserved_for_id])


class Skip(Base):
    """`later` puts an item at this person's end, `not_me` hides it from them, `broken_item` goes to an admin."""

    __tablename__ = "skips"
    __table_args__ = (UniqueConstraint("subject_id", "user_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    subject_id: Mapped[int] = mapped_column(ForeignKey("review_subjects.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(String(1000), default="")
    at: Mapped[dt.datetime] = mapped_column(default=utc_now)


class SavedView(Base):
    """A name that a person gave to filters and an order of the queue: `query` is what follows `/queue?`."""

    __tablename__ = "saved_views"
    __table_args__ = (UniqueConstraint("user_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(String(60))
    query: Mapped[str] = mapped_column(String(400))
