"""Every evaluation ends exactly once: workers killed, the web killed, the broker emptied."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.assignments import queries as slots
from app.domain.review import EvaluationState
from app.evaluations import queries
from app.evaluations import service as evaluations
from app.models import Evaluation
from tests import factories
from tests.jobs.conftest import wait_for

pytestmark = pytest.mark.slow

KILLED_BETWEEN_COMMIT_AND_SEND = """
import os, signal
from app.config import load_settings
from app.kit.db import Database
from app.kit.queue import Sender
from tests import factories

class Killed(Sender):
    def send(self, job, arguments, queue):
        os.kill(os.getpid(), signal.SIGKILL)

settings = load_settings()
with Database(settings, Killed(settings)).write() as session:
    author = factories.make_viewer(session, login="the-web")
    factories.make_submission(session, settings, author=author, source="import triton  # sent late")
"""


def _submit(database, settings, source="import triton\n"):
    with database.write() as session:
        submission = factories.make_submission(session, settings, source=source)
        return queries.latest_of(session, submission.id).public_id


def _state(database, evaluation_id):
    with database.read() as session:
        return queries.find(session, evaluation_id).state


def _events(database, evaluation_id):
    with database.read() as session:
        return [e.kind for e in queries.events_of(session, queries.find(session, evaluation_id).id)]


def _newest(database):
    with database.read() as session:
        return session.scalars(select(Evaluation.public_id).order_by(Evaluation.id.desc())).first()


def test_a_message_that_comes_three_times_is_one_evaluation_and_opens_its_slots(house):
    found = _submit(house.database, house.settings, "import triton\n# sleep 1\n")
    for _ in range(2):
        house.database.sender.send(evaluations.JOB, {"evaluation_id": found}, "evaluations")
    last = _submit(house.database, house.settings)
    wait_for(lambda: _state(house.database, last) == EvaluationState.DONE)

    assert _events(house.database, found) == ["queued", "claimed", "recorded"]
    with house.database.read() as session:
        assert slots.count_states(session)["open"] == 2 * house.settings.slots_per_subject


def test_a_worker_killed_in_the_middle_is_recovered_by_another(live_database, live_settings, processes):
    first = processes.worker()
    processes.scheduler()
    found = _submit(live_database, live_settings, "import triton\n# sleep 4\n")
    wait_for(lambda: _state(live_database, found) == EvaluationState.RUNNING)
    processes.kill(first)
    processes.worker()
    wait_for(lambda: _state(live_database, found) == EvaluationState.DONE, 60)

    events = _events(live_database, found)
    assert events.count("recorded") == 1 and events.count("claimed") == 2 and "attempt_failed" in events


def test_an_engine_that_kills_its_own_process_is_given_up(house):
    found = _submit(house.database, house.settings, "import triton\n# die\n")
    wait_for(lambda: _state(house.database, found) == EvaluationState.FAILED, 90)

    assert _events(house.database, found).count("claimed") == house.settings.attempts_max
    healthy = _submit(house.database, house.settings)
    wait_for(lambda: _state(house.database, healthy) == EvaluationState.DONE)


def test_an_engine_that_breaks_is_tried_again_and_then_given_up(house):
    found = _submit(house.database, house.settings, "import triton\n# fault\n")
    wait_for(lambda: _state(house.database, found) == EvaluationState.FAILED)

    with house.database.read() as session:
        assert queries.find(session, found).failure == "RuntimeError: the engine broke"
    assert _events(house.database, found).count("attempt_failed") == house.settings.attempts_max - 1


def test_the_web_killed_between_commit_and_send_loses_nothing(house):
    killed = house.processes.start("-c", KILLED_BETWEEN_COMMIT_AND_SEND)
    assert killed.wait(timeout=60) == -9
    found = _newest(house.database)
    wait_for(lambda: _state(house.database, found) == EvaluationState.DONE)
    assert "sent_again" in _events(house.database, found)


def test_a_broker_that_comes_back_empty_loses_nothing(live_database, live_settings, processes, broker):
    processes.worker()
    warm_up = _submit(live_database, live_settings)
    wait_for(lambda: _state(live_database, warm_up) == EvaluationState.DONE)
    busy = _submit(live_database, live_settings, "import triton\n# sleep 3\n")
    wait_for(lambda: _state(live_database, busy) == EvaluationState.RUNNING)
    waiting = [_submit(live_database, live_settings) for _ in range(3)]
    broker.kill()
    broker.start()
    assert broker.client().llen("evaluations") == 0
    processes.scheduler()

    for found in (busy, *waiting):
        wait_for(lambda found=found: _state(live_database, found) == EvaluationState.DONE, 60)
        assert _events(live_database, found).count("recorded") == 1


def test_without_a_broker_a_submission_is_kept_and_sent_later(live_database, live_settings, processes, broker):
    broker.kill()
    found = _submit(live_database, live_settings)
    assert _state(live_database, found) == EvaluationState.QUEUED
    broker.start()
    processes.worker()
    processes.scheduler()

    wait_for(lambda: _state(live_database, found) == EvaluationState.DONE)
