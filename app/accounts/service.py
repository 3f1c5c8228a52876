"""Accounts: making people, signing in and out, tokens, conflicts of interest."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.accounts import keys, queries
from app.accounts.policy import SCOPES, Viewer, scopes_allowed, viewer_of
from app.config import Settings
from app.domain.review import Role
from app.errors import Conflict as ConflictError
from app.errors import Invalid, NotFound, NotPermitted, NotSignedIn
from app.kit import audit, auth
from app.models import ApiToken, Conflict, SignInFailure, User, UserSession, new_public_id, utc_now

PASSWORD_LENGTH_MIN = 10
_ADDRESS_FACTOR = 5
_LAST_USE_GRAIN = dt.timedelta(minutes=1)
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._@-]{1,79}")


@dataclass(frozen=True)
class SignIn:
    """How an attempt to sign in ended: a cookie value, or why not.

    It is a value and not an exception, so that the refusal it records is committed.
    """

    cookie: str | None = None
    user: User | None = None
    problem: str = ""
    retry_after_seconds: int | None = None


def create_user(
    session: Session, *, login: str, name: str, roles: Iterable[Role], password: str | None = None, team: str = ""
) -> User:
    login = login.strip().lower()
    if not _LOGIN.fullmatch(login):
        raise Invalid(f"{login!r} is no login", what_to_do="Use 2 to 80 letters, digits, dots, dashes or an address.")
    if queries.user_by_login(session, login) is not None:
        raise ConflictError(f"there is already a {login!r}", what_to_do="Choose another login.")
    user = User(
        login=login, name=name, roles=sorted(Role(r).value for r in roles), team=team.strip(), expertise=[],
        pseudonym="author-" + new_public_id("x")[-6:].lower(), password_hash=_hashed(password),
        is_active=True, is_paused=False,
    )  # fmt: skip
    session.add(user)
    session.flush()
    audit.note(session, None, "user.create", user.public_id, login=login, roles=user.roles)
    return user


def set_password(session: Session, user: User, password: str) -> None:
    """A new password ends every sign-in that the old one opened."""
    user.password_hash = _hashed(password)
    for signed_in in queries.live_sessions(session, user.id, utc_now()):
        signed_in.revoked_at = utc_now()
    audit.note(session, user.id, "user.set_password", user.public_id)


def set_roles(session: Session, actor: Viewer, user: User, roles: Iterable[Role]) -> None:
    wanted = sorted(Role(r).value for r in roles)
    if Role.ADMIN.value in user.roles and Role.ADMIN.value not in wanted and not queries.has_other_admin(session, user):
        raise ConflictError("this is the last admin", what_to_do="Make somebody else an admin first.")
    user.roles = wanted
    audit.note(session, actor.id, "user.set_roles", user.public_id, roles=user.roles)


def sign_in(
    session: Session, settings: Settings, *, login: str, password: str, user_agent: str = "", address: str = ""
) -> SignIn:
    """Open a session for the right password; refused attempts are counted per login and per address."""
    keys = [f"login:{login.strip().lower()[:80]}"] + ([f"address:{address}"] if address else [])
    wait = _seconds_to_wait(session, settings, keys)
    if wait is not None:
        return SignIn(problem="Too many attempts; please wait.", retry_after_seconds=wait)
    user = queries.user_by_login(session, login)
    if not auth.verify_password(password, user.password_hash if user else None) or user is None or not user.is_active:
        session.add_all(SignInFailure(key=key, at=utc_now()) for key in keys)
        return SignIn(problem="Login or password is wrong.")
    session.execute(delete(SignInFailure).where(SignInFailure.key == keys[0]))
    return SignIn(cookie=_open_session(session, settings, user, user_agent, address), user=user)


def sign_out(session: Session, session_public_id: str) -> None:
    _revoke(session, UserSession, session_public_id, owner_id=None)


def revoke_session(session: Session, viewer: Viewer, public_id: str) -> None:
    _revoke(session, UserSession, public_id, owner_id=viewer.id)


def viewer_by_cookie(session: Session, settings: Settings, cookie: str | None) -> tuple[Viewer, str] | None:
    """The person a session cookie belongs to, with the session's id; None when it is not live."""
    token = auth.unsign(cookie, settings.signing_key, "session")
    found = queries.live_session(session, auth.hash_token(token), utc_now()) if token else None
    if found is None or not found.user.is_active:
        return None
    return viewer_of(found.user), found.public_id


def create_token(
    session: Session,
    settings: Settings,
    viewer: Viewer,
    *,
    name: str,
    scopes: Iterable[str],
    days: int | None = None,
) -> tuple[ApiToken, str]:
    """Make a token; the second value is the secret, which is shown now and never again."""
    wanted = frozenset(scopes)
    if not wanted or not wanted <= frozenset(SCOPES):
        raise Invalid("unknown scope", what_to_do=f"Choose from {', '.join(SCOPES)}.")
    if not wanted <= scopes_allowed(viewer.roles):
        raise NotPermitted(f"your roles do not allow {', '.join(sorted(wanted - scopes_allowed(viewer.roles)))}")
    secret = auth.new_token(auth.TOKEN_PREFIX)
    token = ApiToken(
        user_id=viewer.id, name=name.strip()[:80] or "token", token_hash=auth.hash_token(secret), hint=secret[-4:],
        scopes=sorted(wanted), expires_at=utc_now() + dt.timedelta(days=days or settings.token_days),
    )  # fmt: skip
    session.add(token)
    session.flush()
    audit.note(session, viewer.id, "token.create", token.public_id, scopes=token.scopes)
    return token, secret


def revoke_token(session: Session, viewer: Viewer, public_id: str) -> None:
    _revoke(session, ApiToken, public_id, owner_id=None if viewer.has(Role.ADMIN) else viewer.id)
    audit.note(session, viewer.id, "token.revoke", public_id)


def viewer_by_token(session: Session, secret: str) -> tuple[Viewer, int | None]:
    """The person of a bearer token, and its row where its last use is worth noting again."""
    token = queries.live_token(session, auth.hash_token(secret))
    if token is None or token.revoked_at is not None or not token.user.is_active:
        raise NotSignedIn("this token is unknown or revoked", what_to_do="Make a new one on your account page.")
    if token.expires_at is not None and token.expires_at <= utc_now():
        raise NotSignedIn("this token has expired", what_to_do="Make a new one on your account page.")
    # A token outlives no role: scopes that the person's roles no longer allow are dropped.
    scopes = frozenset(token.scopes) & scopes_allowed(frozenset(Role(r) for r in token.user.roles))
    is_fresh = token.last_used_at is not None and token.last_used_at > utc_now() - _LAST_USE_GRAIN
    return viewer_of(token.user, scopes), None if is_fresh else token.id


def mark_token_used(session: Session, token_id: int) -> None:
    token = session.get(ApiToken, token_id)
    if token is not None:
        token.last_used_at = utc_now()


def set_keys(session: Session, viewer: Viewer, typed: Mapping[str, str]) -> None:
    """Keys of one's own on the review page, by action; an empty one is the usual key again."""
    user = session.get_one(User, viewer.id)
    user.keys = keys.chosen(typed)
    audit.note(session, viewer.id, "user.set_keys", user.public_id, keys=user.keys)


def declare_conflict(
    session: Session, user: User, *, other: User | None = None, team: str | None = None, reason: str = ""
) -> Conflict:
    if (other is None) == (not team):
        raise Invalid("a conflict is with one person or with one team")
    row = Conflict(user_id=user.id, other_user_id=other.id if other else None, other_team=team or None, reason=reason)
    session.add(row)
    session.flush()
    audit.note(session, user.id, "conflict.declare", user.public_id, other=other.login if other else team)
    return row


def forget_old_failures(session: Session, settings: Settings) -> None:
    window = dt.timedelta(minutes=settings.sign_in_window_minutes)
    session.execute(delete(SignInFailure).where(SignInFailure.at < utc_now() - window))


def _hashed(password: str | None) -> str | None:
    if password is None:
        return None
    if len(password) < PASSWORD_LENGTH_MIN:
        raise Invalid("the password is too short", what_to_do=f"Use at least {PASSWORD_LENGTH_MIN} characters.")
    return auth.hash_password(password)


def _open_session(session: Session, settings: Settings, user: User, user_agent: str, address: str) -> str:
    token = auth.new_token()
    session.add(
        UserSession(
            user_id=user.id, token_hash=auth.hash_token(token), user_agent=user_agent[:200], address=address[:64],
            expires_at=utc_now() + dt.timedelta(days=settings.session_days),
        )
    )  # fmt: skip
    audit.note(session, user.id, "user.sign_in", user.public_id)
    return auth.sign(token, settings.signing_key, "session")


def _seconds_to_wait(session: Session, settings: Settings, keys: list[str]) -> int | None:
    window = dt.timedelta(minutes=settings.sign_in_window_minutes)
    waits = []
    for key in keys:
        count, oldest = queries.failures_since(session, key, utc_now() - window)
        # A whole office may share an address: one person's typing errors must not lock the others out.
        allowed = settings.sign_in_attempts_max * (_ADDRESS_FACTOR if key.startswith("address:") else 1)
        if count >= allowed and oldest is not None:
            waits.append((oldest + window - utc_now()).total_seconds())
    return max(1, int(max(waits)) + 1) if waits else None


def _revoke(session: Session, kind: type[UserSession | ApiToken], public_id: str, *, owner_id: int | None) -> None:
    row = cast("UserSession | ApiToken | None", session.scalar(select(kind).where(kind.public_id == public_id)))
    if row is None or (owner_id is not None and row.user_id != owner_id):
        raise NotFound("no such sign-in or token")
    row.revoked_at = row.revoked_at or utc_now()
