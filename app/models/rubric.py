"""Rubrics and their versions: a published version never changes and carries its hash."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CheckConstraint, Connection, ForeignKey, String, UniqueConstraint, event, inspect
from sqlalchemy.orm import Mapped, Mapper, mapped_column, relationship

from app.models.base import Row


class Rubric(Row):
    __tablename__ = "rubrics"
    prefix = "rub"

    key: Mapped[str] = mapped_column(String(60), unique=True)
    title: Mapped[str] = mapped_column(String(200))
    # The public id of the version that this one began as.
    cloned_from: Mapped[str | None] = mapped_column(String(40))


class RubricVersion(Row):
    """`content` is the rubric as `app.rubrics.content` reads it; `sha256` is of its canonical JSON."""

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

    rubric: Mapped[Rubric] = relationship(lazy="raise", foreign_keys=[rubric_id])


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
