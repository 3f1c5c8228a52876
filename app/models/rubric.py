"""Rubrics, their versions and rulings: what is published never changes, a later row takes its place."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CheckConstraint, Connection, ForeignKey, String, UniqueConstraint, event, inspect
from sqlalchemy.orm import Mapped, Mapper, mapped_column, relationship

from app.models.account import User
from app.models.base import Base, Row, utc_now


class Rubric(Row):
    __tablename__ = "rubrics"
    prefix = "rub"

    key: Mapped[str] = mapped_column(String(60), unique=True)
    title: Mapped[str] = mapped_column(String(200))
    # The public id of the version that this one began as.
    cloned_from: Mapped[str | None] = mapped_column(String(40))


class RubricVersion(Row):
    """`content` is the rubric as `app.rubrics.content` reads it; `sha256` is of its canonical JSON.

    `change_class` says how far it goes beyond the version published before it; None for the first.
    """

    __tablename__ = "rubric_versions"
    __table_args__ = (
        UniqueConstraint("rubric_id", "version"),
        CheckConstraint("state = 'draft' OR sha256 IS NOT NULL", name="published_has_hash"),
    )
    prefix = "rbv"

    rubric_id: Mapped[int] = mapped_column(ForeignKey("rubrics.id"))
    version: Mapped[int]
    state: Mapped[str] = mapped_column(String(10), default="draft")
    content: Mapped[dict[str, Any]]
    sha256: Mapped[str | None] = mapped_column(String(64))
    published_at: Mapped[dt.datetime | None]
    published_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    retired_at: Mapped[dt.datetime | None]
    change_class: Mapped[str | None] = mapped_column(String(12))

    rubric: Mapped[Rubric] = relationship(lazy="raise", foreign_keys=[rubric_id])


class Ruling(Row):
    """A lead's interpretation of a criterion, with an example.  It holds until withdrawn and is never rewritten."""

    __tablename__ = "rulings"
    prefix = "rul"

    rubric_id: Mapped[int] = mapped_column(ForeignKey("rubrics.id"), index=True)
    criterion: Mapped[str] = mapped_column(String(40))
    body: Mapped[str]
    example: Mapped[str]
    made_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    withdrawn_at: Mapped[dt.datetime | None]
    withdrawn_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))

    made_by: Mapped[User] = relationship(lazy="raise", foreign_keys=[made_by_id])


class RulingAcknowledgement(Base):
    """A reviewer has read a ruling."""

    __tablename__ = "ruling_acknowledgements"

    ruling_id: Mapped[int] = mapped_column(ForeignKey("rulings.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True)
    at: Mapped[dt.datetime] = mapped_column(default=utc_now)


class RubricMove(Row):
    """Drafts moved to another version at once; `moved` keeps each as it was before."""

    __tablename__ = "rubric_moves"
    prefix = "rbm"

    to_version_id: Mapped[int] = mapped_column(ForeignKey("rubric_versions.id"), index=True)
    moved_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    mapping: Mapped[dict[str, Any]] = mapped_column(default=dict)
    moved: Mapped[list[dict[str, Any]]] = mapped_column(default=list)


@event.listens_for(RubricVersion, "before_update")
def _never_change_what_is_published(
    _mapper: Mapper[RubricVersion], _connection: Connection, row: RubricVersion
) -> None:
    """The last guard, whoever writes: content and hash change only together with a draft's publishing."""
    attributes = inspect(row).attrs
    before = attributes.state.history.deleted or [row.state]
    changed = attributes.content.history.has_changes() or attributes.sha256.history.has_changes()
    if changed and before[0] != "draft":
        raise RuntimeError(f"rubric version {row.public_id} is {before[0]} and never changes")
