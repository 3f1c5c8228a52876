"""The house's own books: audit entries, exports, idempotency keys and named leases."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Row, utc_now


class AuditEntry(Base):
    """Who did what to which row; written in the same transaction as the deed."""

    __tablename__ = "audit_entries"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[dt.datetime] = mapped_column(default=utc_now, index=True)
    actor_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    action: Mapped[str] = mapped_column(String(60))
    target: Mapped[str] = mapped_column(String(60), index=True)
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)


class Export(Row):
    """An export job.  `cutoff_at` bounds what it may contain, so that it can be made again byte for byte."""

    __tablename__ = "exports"
    prefix = "exp"

    requested_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    shape: Mapped[str] = mapped_column(String(20), default="review")
    filters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    cutoff_at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    state: Mapped[str] = mapped_column(String(10), default="queued", index=True)
    sent_at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    attempts: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[dt.datetime | None]
    sha256: Mapped[str | None] = mapped_column(String(64))
    size_bytes: Mapped[int | None]
    manifest: Mapped[dict[str, Any] | None]
    failure: Mapped[str | None]
    ended_at: Mapped[dt.datetime | None]


class IdempotencyKey(Base):
    """The answer once given to a keyed request, so that the same request again gets the same answer."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (UniqueConstraint("user_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    key: Mapped[str] = mapped_column(String(200))
    request_sha256: Mapped[str] = mapped_column(String(64))
    status: Mapped[int]
    body: Mapped[dict[str, Any]]
    created_at: Mapped[dt.datetime] = mapped_column(default=utc_now, index=True)


class Lease(Base):
    """A named right that one process holds for a while, such as being the scheduler."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    holder: Mapped[str] = mapped_column(String(120))
    until: Mapped[dt.datetime]
