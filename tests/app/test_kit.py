"""The plumbing: sessions, the queue after commit, blobs, cursors, leases, settings."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, StatementError

from app.config import Settings
from app.errors import Gone, Invalid
from app.kit import leases, queue
from app.kit.blobs import BlobStore
from app.kit.db import Database
from app.kit.pagination import decode_cursor, encode_cursor, newest_first
from app.models import AuditEntry, Lease, Task, User, utc_now
from tests import factories
from tests.conftest import make_settings


class TestSessions:
    def test_a_read_session_cannot_write(self, each_database):
        with each_database.read() as session, pytest.raises(DBAPIError):
            session.add(Task(name="x"))
            session.flush()

    def test_writers_queue_up_instead_of_failing(self, each_database):
        with each_database.write() as session:
            user_id = factories.make_user(session).id

        def rename():
            for _ in range(10):
                with each_database.write() as session:
                    user = session.scalars(select(User).where(User.id == user_id).with_for_update()).one()
                    user.team = str(int(user.team or 0) + 1)

        threads = [threading.Thread(target=rename) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with each_database.read() as session:
            assert session.get(User, user_id).team == "40"

    def test_an_error_undoes_everything(self, each_database):
        with pytest.raises(ZeroDivisionError), each_database.write() as session:
            factories.make_user(session)
            raise ZeroDivisionError
        with each_database.read() as session:
            assert session.scalars(select(User)).all() == []

    def test_times_come_back_aware_and_in_utc(self, each_database):
        east = dt.datetime(2026, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=5)))
        with each_database.write() as session:
            session.add(Lease(name="x", holder="y", until=east))
        with each_database.read() as session:
            until = session.scalars(select(Lease.until)).one()
        assert until == east and until.utcoffset() == dt.timedelta(0)

    def test_a_naive_time_is_refused(self, database):
        with pytest.raises(StatementError, match="naive"), database.write() as session:
            session.add(Lease(name="x", holder="y", until=dt.datetime(2026, 1, 1)))  # noqa: DTZ001

    def test_the_pool_holds_a_connection_for_every_thread(self, settings):
        database = Database(settings)
        assert database.engine.pool.size() >= settings.web_threads
        database.close()


class TestEnqueue:
    def test_a_released_savepoint_is_no_commit(self, database, sender):
        with database.write() as session:
            queue.enqueue(session, "evaluate", queue=queue.EVALUATIONS, n=1)
            with session.begin_nested():
                session.add(AuditEntry(action="x", target="y", detail={}))
            assert sender.jobs == []
        assert sender.jobs == [("evaluate", {"n": 1})]

    def test_a_rolled_back_savepoint_forgets_nothing_before_it(self, database, sender):
        with database.write() as session:
            queue.enqueue(session, "evaluate", queue=queue.EVALUATIONS, n=1)
            with pytest.raises(ZeroDivisionError), session.begin_nested():
                raise ZeroDivisionError
        assert len(sender.jobs) == 1

    def test_a_broker_that_is_away_is_logged_and_no_error(self, settings, tmp_path):
        away = make_settings(settings.data_dir, broker_url=f"redis+socket://{tmp_path}/nobody")
        database = Database(away)
        start = time.monotonic()
        with database.write() as session:
            queue.enqueue(session, "evaluate", queue=queue.EVALUATIONS, n=1)
            queue.announce(session, "x")
        assert time.monotonic() - start < 3  # a page waits for this
        assert database.sender.depth() is None
        database.close()


class TestBlobs:
    def test_the_same_bytes_are_kept_once(self, tmp_path):
        blobs = BlobStore(tmp_path)
        assert blobs.put(b"a") == blobs.put_stream(iter([b"", b"a"]))
        assert [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()] == [b"a"]

    def test_half_a_stream_leaves_nothing(self, tmp_path):
        def broken():
            yield b"half"
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            BlobStore(tmp_path).put_stream(broken())
        assert [p for p in tmp_path.rglob("*") if p.is_file()] == []

    def test_a_lost_blob_is_said_so(self, tmp_path):
        with pytest.raises(Gone):
            BlobStore(tmp_path).get("0" * 64)


class TestCursors:
    def test_pages_join_without_gap_or_overlap_while_rows_are_added(self, database):
        with database.write() as session:
            for n in range(5):
                session.add(Task(name=f"t{n}"))
        seen, cursor = [], None
        for n in range(3):
            with database.write() as session:
                page = newest_first(session, select(Task), Task.id, cursor=cursor, limit=2)
                session.add(Task(name=f"later{n}"))
            seen += [t.name for t in page.items]
            cursor = page.next_cursor
        assert seen == ["t4", "t3", "t2", "t1", "t0"] and cursor is None

    @given(st.integers(0, 2**62))
    def test_a_cursor_reads_back(self, number):
        assert decode_cursor(encode_cursor(number)) == number

    @given(st.text(max_size=30))
    def test_any_other_text_is_refused_and_no_crash(self, text):
        with contextlib.suppress(Invalid):
            decode_cursor(text)


class TestLeases:
    def test_one_holder_at_a_time(self, each_database):
        def hold(holder, seconds=60.0):
            with each_database.write() as session:
                return leases.hold(session, "scheduler", holder, seconds)

        assert hold("a") and hold("a") and not hold("b")
        with each_database.write() as session:
            leases.give_up(session, "scheduler", "a")
        assert hold("b", seconds=-1) and hold("c")

    def test_of_many_at_once_one_gets_it(self, each_database):
        won, start = [], threading.Barrier(5)

        def hold(holder):
            start.wait()
            with each_database.write() as session:
                won.append(leases.hold(session, "scheduler", holder, 60))

        threads = [threading.Thread(target=hold, args=(str(n),)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert won.count(True) == 1


class TestSettings:
    def test_every_setting_is_described(self):
        assert [name for name, field in Settings.model_fields.items() if not field.description] == []

    def test_are_frozen(self, settings):
        with pytest.raises(ValueError, match="frozen"):
            settings.warm = False

    def test_the_secret_is_made_once_and_is_private(self, tmp_path):
        first, second = make_settings(tmp_path, secret_key=""), make_settings(tmp_path, secret_key="")
        assert first.signing_key == second.signing_key and len(first.signing_key) == 64
        assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0

    def test_the_engine_is_overridden_only_when_that_is_allowed(self, tmp_path):
        from tests.fakes import fake_engine
        from workers.jobs import resources

        named = {"engine": "tests.fakes:fake_engine"}
        assert resources.engine_of(make_settings(tmp_path, engine_override=True, **named)) is fake_engine
        assert resources.engine_of(make_settings(tmp_path, **named)) is not fake_engine


def test_now_is_utc():
    assert utc_now().tzinfo is dt.UTC
