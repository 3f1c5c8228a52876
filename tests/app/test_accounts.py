"""Letting people in: passwords, cookies, limits, tokens."""

from __future__ import annotations

import datetime as dt

import pytest
from sqlalchemy import update

from app.accounts import queries, service
from app.accounts.policy import viewer_of
from app.domain.review import Role
from app.errors import Conflict, Invalid, NotFound, NotPermitted, NotSignedIn
from app.models import ApiToken, SignInFailure, UserSession, utc_now
from tests import factories

PASSWORD = "correct horse battery"


@pytest.fixture
def ada(database):
    with database.write() as session:
        return service.create_user(
            session, login="Ada@example.org ", name="Ada", roles=[Role.REVIEWER], password=PASSWORD
        )


def _sign_in(database, settings, password=PASSWORD, login="ada@example.org", address="10.0.0.1"):
    with database.write() as session:
        return service.sign_in(session, settings, login=login, password=password, address=address)


def _viewer(database, settings, cookie):
    with database.read() as session:
        return service.viewer_by_cookie(session, settings, cookie)


class TestSignIn:
    def test_opens_a_session_that_the_cookie_finds(self, database, settings, ada):
        viewer, _ = _viewer(database, settings, _sign_in(database, settings).cookie)
        assert viewer.id == ada.id and viewer.has(Role.REVIEWER) and not viewer.has(Role.ADMIN)

    @pytest.mark.parametrize("cookie", [None, "", "x", "x.y", "é"])
    def test_no_other_cookie_does(self, database, settings, ada, cookie):
        assert _viewer(database, settings, cookie) is None

    def test_a_cookie_signed_by_another_key_does_not(self, database, settings, ada, tmp_path):
        from tests.conftest import make_settings

        cookie = _sign_in(database, settings).cookie
        assert _viewer(database, make_settings(tmp_path, secret_key="another"), cookie) is None

    def test_a_wrong_password_and_an_unknown_login_look_the_same(self, database, settings, ada):
        wrong = _sign_in(database, settings, "wrong")
        unknown = _sign_in(database, settings, login="nobody")
        assert wrong.problem == unknown.problem and wrong.cookie is None

    def test_too_many_attempts_are_told_to_wait_even_with_the_right_password(self, database, settings, ada):
        for n in range(settings.sign_in_attempts_max):
            _sign_in(database, settings, "wrong", address=f"10.0.1.{n}")
        refused = _sign_in(database, settings)
        assert refused.cookie is None and 0 < refused.retry_after_seconds <= settings.sign_in_window_minutes * 60 + 1

        with database.write() as session:
            session.execute(update(SignInFailure).values(at=utc_now() - dt.timedelta(hours=1)))
        assert _sign_in(database, settings).cookie

    def test_one_address_cannot_try_many_logins(self, database, settings, ada):
        for n in range(settings.sign_in_attempts_max):
            _sign_in(database, settings, "wrong", login=f"nobody{n}")
        assert _sign_in(database, settings).cookie, "an office shares an address"
        with database.write() as session:
            session.add_all(SignInFailure(key="address:10.0.0.1", at=utc_now()) for _ in range(100))
        assert _sign_in(database, settings).retry_after_seconds
        assert _sign_in(database, settings, address="10.9.9.9").cookie

    def test_ends_by_sign_out_by_expiry_and_by_a_new_password(self, database, settings, ada):
        cookies = [_sign_in(database, settings).cookie for _ in range(3)]
        with database.write() as session:
            service.sign_out(session, service.viewer_by_cookie(session, settings, cookies[0])[1])
        assert _viewer(database, settings, cookies[0]) is None
        with database.write() as session:
            service.set_password(session, queries.user_by_login(session, "ada@example.org"), "another long one")
        assert _viewer(database, settings, cookies[1]) is None
        late = _sign_in(database, settings, "another long one").cookie
        with database.write() as session:
            session.execute(update(UserSession).values(expires_at=utc_now() - dt.timedelta(seconds=1)))
        assert _viewer(database, settings, late) is None

    def test_nobody_ends_anothers_session(self, database, settings, ada):
        cookie = _sign_in(database, settings).cookie
        _, session_id = _viewer(database, settings, cookie)
        with database.write() as session, pytest.raises(NotFound):
            service.revoke_session(session, factories.make_viewer(session), session_id)

    def test_neither_password_nor_token_is_kept(self, database, settings, ada):
        cookie = _sign_in(database, settings).cookie
        dump = settings.database_url.removeprefix("sqlite:///")
        with database.write() as session:
            _, secret = service.create_token(session, settings, viewer_of(ada), name="t", scopes=["read"])
        database.close()
        from pathlib import Path

        kept = b"".join(p.read_bytes() for p in Path(dump).parent.glob("workbench.db*"))
        assert PASSWORD.encode() not in kept and secret.encode() not in kept
        assert cookie.rpartition(".")[0].encode() not in kept


class TestCreateUser:
    def test_logins_are_unique_whatever_their_case(self, database, ada):
        with database.write() as session, pytest.raises(Conflict):
            service.create_user(session, login="ADA@example.org", name="x", roles=[])

    @pytest.mark.parametrize("login", ["", "a", "with space", "-x", "x" * 200])
    def test_odd_logins_are_refused(self, database, login):
        with database.write() as session, pytest.raises(Invalid):
            service.create_user(session, login=login, name="x", roles=[])

    def test_short_passwords_are_refused(self, database):
        with database.write() as session, pytest.raises(Invalid, match="too short"):
            service.create_user(session, login="bob", name="x", roles=[], password="short")


class TestTokens:
    def test_ends_with_its_expiry(self, database, settings, ada):
        with database.write() as session:
            _, secret = service.create_token(session, settings, viewer_of(ada), name="t", scopes=["read"], days=1)
            session.execute(update(ApiToken).values(expires_at=utc_now()))
        with database.read() as session, pytest.raises(NotSignedIn, match="expired"):
            service.viewer_by_token(session, secret)

    def test_roles_bound_the_scopes(self, database, settings, ada):
        with database.write() as session, pytest.raises(NotPermitted, match="submit"):
            service.create_token(session, settings, viewer_of(ada), name="t", scopes=["submit"])

    @pytest.mark.parametrize("scopes", [[], ["everything"]])
    def test_scopes_are_named_from_the_list(self, database, settings, ada, scopes):
        with database.write() as session, pytest.raises(Invalid):
            service.create_token(session, settings, viewer_of(ada), name="t", scopes=scopes)
