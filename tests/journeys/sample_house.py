"""A house of sample reports behind a real address, in this process: no worker and no broker, so it starts at once.

Pictures (`docs/looks/take.py`) and tests of every page show the same states.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from sqlalchemy.orm import Session

from app.accounts import service as accounts
from app.accounts.policy import Viewer, viewer_of
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.config import Settings
from app.evaluations import queries as evaluation_queries
from app.evaluations import service as evaluations
from app.kit.db import Database
from app.main import create_app
from app.models import Review, utc_now
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from app.submissions import queries as submission_queries
from tests import factories
from tests.fakes import FakeSender
from tests.pages import sample_reports
from tests.pages.conftest import PASSWORD, PEOPLE

TITLES = {
    "accepted": "one program a row",
    "wrong_result": "blocks of 32, floor grid",
    "suspect": "memoised by address",
    "measured": "two rows a program",
}


@dataclass
class SampleHouse:
    """`submissions` maps a sample report's name to the submission that has it; `live` is being evaluated."""

    app: FastAPI
    settings: Settings
    database: Database
    people: dict[str, Viewer]
    submissions: dict[str, str]
    live: str
    url: str = ""


@contextmanager
def open_house(settings: Settings) -> Iterator[SampleHouse]:
    """The house, answering on a free port of the loopback address."""
    app = create_app(settings)
    app.state.database.close()
    app.state.database = Database(settings, FakeSender())
    house = _furnish(app, settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    house.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield house
    finally:
        server.should_exit = True
        thread.join(10)


def claimed_review(session: Session, house: SampleHouse, reviewer: Viewer, submission_id: str) -> Review:
    """This person's draft of a submission, claimed for it."""
    subject = submission_queries.subject_of(session, submission_queries.find(session, submission_id).id)
    free = assignment_queries.free_slots(session, reviewer, [subject.id], utc_now())[subject.id]
    return reviews.open_review(session, reviewer, assignments.claim_slot(session, house.settings, reviewer, free).slot)


def _furnish(app: FastAPI, settings: Settings) -> SampleHouse:
    """People, a task, a submission for each title, and one that is being evaluated."""
    database = app.state.database
    with database.write() as session:
        rubrics.seed(session)
        people = {
            login: viewer_of(
                accounts.create_user(session, login=login, name=login.title(), roles=roles, password=PASSWORD)
            )
            for login, roles in PEOPLE.items()
        }
        common = {"author": people["sue"], "task": factories.make_task(session, settings)}
        submissions = {}
        for name, title in TITLES.items():
            made, source = sample_reports.ALL[name](), f"{sample_reports.SOURCE}# {title}\n"
            submission, _, _ = factories.make_evaluated(
                session, settings, report=made, source=source, title=title, **common
            )
            submissions[name] = submission.public_id
        live = factories.make_submission(session, settings, source=sample_reports.SOURCE, title="autotuned", **common)
        attempt = evaluations.claim(
            session, settings, evaluation_queries.latest_of(session, live.id).public_id, "worker-1"
        )
        ended = [{"name": name, "status": "passed", "seconds": 0.8} for name in ("inspect", "compile")]
        evaluations.heartbeat(session, settings, attempt, ended)
        return SampleHouse(app, settings, database, people, submissions, live.public_id)
