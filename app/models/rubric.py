"""Rubrics and their versions: a published version never changes and carries its hash."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

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
