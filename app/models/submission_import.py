"""Imports: many submissions that came as one file, and what became of each of its rows."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.review import ImportState
from app.models.account import User
from app.models.base import Base, Row, utc_now
from app.models.submission import Submission


class Import(Row):
    """One file of JSON Lines, kept by its hash.

    `next_line` and `next_byte` say where the next row begins, so that a turn goes on where the last one ended,
    whoever takes it; `attempts` counts the turns that have tried the row there.  The counts are rows by status.
    """

    __tablename__ = "imports"
    __table_args__ = (
        Index("ix_imports_state_lease_until", "state", "lease_until"),
        Index("ix_imports_requested_by_id_id", "requested_by_id", "id"),
    )
    prefix = "imp"

    requested_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    is_dry_run: Mapped[bool] = mapped_column(default=False)
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int]
    rows: Mapped[int]
    created: Mapped[int] = mapped_column(default=0)
    existing: Mapped[int] = mapped_column(default=0)
    valid: Mapped[int] = mapped_column(default=0)
    refused: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    next_line: Mapped[int] = mapped_column(default=1)
    next_byte: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(String(10), default=ImportState.QUEUED.value)
    sent_at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    attempts: Mapped[int] = mapped_column(default=0)
    attempt_id: Mapped[str | None] = mapped_column(String(40))
    lease_until: Mapped[dt.datetime | None]
    failure: Mapped[str | None]
    ended_at: Mapped[dt.datetime | None]

    requested_by: Mapped[User] = relationship(lazy="raise")

    @property
    def rows_done(self) -> int:
        return self.created + self.existing + self.valid + self.refused + self.failed


class ImportRow(Base):
    """What became of one row: `number` is its line in the file, `problem` what a single upload would have answered."""

    __tablename__ = "import_rows"
    __table_args__ = (UniqueConstraint("import_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"))
    number: Mapped[int]
    key: Mapped[str | None] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(10))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))
    problem: Mapped[dict[str, Any] | None]

    submission: Mapped[Submission | None] = relationship(lazy="raise")
