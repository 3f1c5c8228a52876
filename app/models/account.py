"""People and how they are let in: users, sign-ins, bearer tokens, conflicts of interest."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.models.base import Base, Row, utc_now


class User(Row):
    """A person. `pseudonym` is the name under which their work is shown to reviewers and exported."""

    __tablename__ = "users"
    prefix = "usr"

    login: Mapped[str] = mapped_column(String(80), unique=True)
    name: Mapped[str] = mapped_column(String(120))
    pseudonym: Mapped[str] = mapped_column(String(80), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    roles: Mapped[list[str]]
    team: Mapped[str] = mapped_column(String(80), default="")
    expertise: Mapped[list[str]] = mapped_column(default=list)
    is_active: Mapped[bool] = mapped_column(default=True)
    is_paused: Mapped[bool] = mapped_column(default=False)
    # Reviews that they may hand in in a day (UTC), held items counted; none: as many as they like.
    reviews_per_day_max: Mapped[int | None]
    # Action -> key, where it is another than the usual one: see `app.accounts.keys`.
    keys: Mapped[dict[str, Any]] = mapped_column(default=dict)


class UserSession(Row):
    """One signed-in browser.  Only the hash of the cookie's token is kept."""

    __tablename__ = "user_sessions"
    prefix = "ses"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    user_agent: Mapped[str] = mapped_column(String(200), default="")
    address: Mapped[str] = mapped_column(String(64), default="")
    expires_at: Mapped[dt.datetime]
    revoked_at: Mapped[dt.datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class ApiToken(Row):
    """A bearer token: shown once, kept as a hash, with scopes and an expiry."""

    __tablename__ = "api_tokens"
    prefix = "tok"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(String(8))
    scopes: Mapped[list[str]]
    expires_at: Mapped[dt.datetime | None]
    last_used_at: Mapped[dt.datetime | None]
    revoked_at: Mapped[dt.datetime | None]

    user: Mapped[User] = relationship(lazy="raise")


class Conflict(Base):
    """A declared conflict of interest with a person or with a whole team."""

    __tablename__ = "conflicts"
    __table_args__ = (
        CheckConstraint("(other_user_id IS NULL) <> (other_team IS NULL)", name="person_or_team"),
        UniqueConstraint("user_id", "other_user_id"),
        UniqueConstraint("user_id", "other_team"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    other_user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    other_team: Mapped[str | None] = mapped_column(String(80))
    reason: Mapped[str] = mapped_column(String(500), default="")
    created_at: Mapped[dt.datetime] = mapped_column(default=utc_now)


class SignInFailure(Base):
    """A refused sign-in, counted per login and per address; old rows are swept."""

    __tablename__ = "sign_in_failures"
    __table_args__ = (Index("ix_sign_in_failures_key_at", "key", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(120))
    at: Mapped[dt.datetime] = mapped_column(default=utc_now)
