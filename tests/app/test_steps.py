"""A request's step: one thread, one transaction, and a line of writers that nobody holds up."""

from __future__ import annotations

import multiprocessing
import threading

import anyio.to_thread
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from app.kit import queue
from app.kit.line import Line
from app.kit.steps import ReadSession, Step, WriteSession, steps
from app.main import _API_ROUTERS, _PAGE_ROUTERS
from app.models import AuditEntry

router = steps()
careless = APIRouter()


@router.post("/note")
def note(session: WriteSession) -> dict[str, int]:
    """Writes, then has its answer checked by the framework."""
    session.add(AuditEntry(action="noted", target="x", detail={}))
    session.flush()
    return {"thread": threading.get_ident()}


@router.post("/fail")
def fail(session: WriteSession) -> None:
    session.add(AuditEntry(action="noted", target="x", detail={}))
    session.flush()
    raise ZeroDivisionError


@router.get("/count")
def count(session: ReadSession) -> int:
    return session.scalar(select(func.count()).select_from(AuditEntry)) or 0


@careless.get("/careless")
def without_a_step(session: ReadSession) -> int:
    return session.scalar(select(1)) or 0


@pytest.fixture
def client(each_database):
    app = FastAPI(on_startup=[_two_threads])
    app.state.database = each_database
    app.include_router(router)
    app.include_router(careless)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


async def _two_threads():
    anyio.to_thread.current_default_thread_limiter().total_tokens = 2


class TestStep:
    def test_more_writers_than_threads_all_get_through(self, client):
        """With the commit waiting for a thread, two that wait for the first one's lock would be all there are."""
        statuses = []
        people = [threading.Thread(target=lambda: statuses.append(client.post("/note").status_code)) for _ in range(12)]
        for person in people:
            person.start()
        for person in people:
            person.join()
        assert statuses == [200] * 12
        assert client.get("/count").json() == 12

    def test_an_error_leaves_nothing_behind(self, client):
        assert client.post("/fail").status_code == 500
        assert client.get("/count").json() == 0

    def test_no_session_is_had_without_a_step(self, client):
        assert client.get("/careless").status_code == 500

    def test_every_handler_of_the_house_is_a_step(self):
        routes = [route for router in (*_API_ROUTERS, *_PAGE_ROUTERS) for route in router.routes]
        assert [route.path for route in routes if not isinstance(route, Step)] == []


class TestWriting:
    def test_messages_are_sent_with_the_lock_let_go(self, each_database, sender):
        """A broker that is slow or away must not keep other writers waiting."""

        def send(job, arguments, queue):
            with each_database.write() as session:
                session.add(AuditEntry(action=job, target="x", detail={}))

        sender.send = send
        with each_database.write() as session:
            queue.enqueue(session, "evaluate", queue=queue.EVALUATIONS)
        with each_database.read() as session:
            assert session.scalars(select(AuditEntry.action)).all() == ["evaluate"]


def _sign_in_line(folder, begun):
    begun.set()
    with Line(folder / "line"):
        _sign(folder, "second")


def _sign(folder, name):
    with (folder / "book").open("a") as book:
        book.write(f"{name}\n")


class TestLine:
    def test_another_process_waits_for_its_turn(self, tmp_path):
        context = multiprocessing.get_context("spawn")
        begun = context.Event()
        other = context.Process(target=_sign_in_line, args=(tmp_path, begun))
        with Line(tmp_path / "line"):
            other.start()
            begun.wait()
            _sign(tmp_path, "first")
        other.join()
        assert (tmp_path / "book").read_text().split() == ["first", "second"]

    def test_whoever_fails_to_enter_leaves_the_line(self, tmp_path):
        line = Line(tmp_path / "no-such-folder" / "line")
        with pytest.raises(FileNotFoundError):
            line.__enter__()
        (tmp_path / "no-such-folder").mkdir()
        with line:
            pass
