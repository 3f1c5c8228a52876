"""Every select about people, their sign-ins, tokens and conflicts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session, joinedload

from app.domain.review import Role
from app.models import ApiToken, Conflict, SignInFailure, User, UserSession


def user_by_login(session: Session, login: str) -> User | None:
    return session.scalar(select(User).where(User.login == login.strip().lower()))


def user_by_public_id(session: Session, public_id: str) -> User | None:
    return session.scalar(select(User).where(User.public_id == public_id))


def has_other_admin(session: Session, user: User) -> bool:
    others = session.scalars(select(User).where(User.id != user.id, User.is_active))
    return any(Role.ADMIN.value in other.roles for other in others)


def keys_of(session: Session, user_id: int) -> dict[str, str]:
    """The person's own keys, by action."""
    return session.scalar(select(User.keys).where(User.id == user_id)) or {}


def list_users(session: Session) -> Sequence[User]:
    return session.scalars(select(User).order_by(User.login)).all()


def live_session(session: Session, token_hash: str, now: dt.datetime) -> UserSession | None:
    return session.scalar(_LIVE_SESSION, {"hash": token_hash, "moment": now})


def live_sessions(session: Session, user_id: int, now: dt.datetime) -> Sequence[UserSession]:
    query = select(UserSession).where(
        UserSession.user_id == user_id, UserSession.revoked_at.is_(None), UserSession.expires_at > now
    )  # fmt: skip
    return session.scalars(query.order_by(UserSession.id.desc())).all()


def live_token(session: Session, token_hash: str) -> ApiToken | None:
    return session.scalar(_LIVE_TOKEN, {"hash": token_hash})


def list_tokens(session: Session, user_id: int) -> Sequence[ApiToken]:
    return session.scalars(select(ApiToken).where(ApiToken.user_id == user_id).order_by(ApiToken.id.desc())).all()


def failures_since(session: Session, key: str, since: dt.datetime) -> tuple[int, dt.datetime | None]:
    """How many refused sign-ins `key` has since then, and when the oldest of them was."""
    query = select(func.count(), func.min(SignInFailure.at)).where(SignInFailure.key == key, SignInFailure.at > since)
    count, oldest = session.execute(query).one()
    return count, oldest


def conflicts_of(session: Session, user_id: int) -> Sequence[Conflict]:
    return session.scalars(select(Conflict).where(Conflict.user_id == user_id).order_by(Conflict.id)).all()


# Every request asks one of these two; building them anew would take longer than asking.
_LIVE_SESSION = (
    select(UserSession)
    .options(joinedload(UserSession.user, innerjoin=True))
    .where(
        UserSession.token_hash == bindparam("hash"), UserSession.revoked_at.is_(None),
        UserSession.expires_at > bindparam("moment"),
    )
)  # fmt: skip
_LIVE_TOKEN = (
    select(ApiToken).options(joinedload(ApiToken.user, innerjoin=True)).where(ApiToken.token_hash == bindparam("hash"))
)
