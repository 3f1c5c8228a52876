"""What each step of a reviewer's round costs, counted and not timed: statements, and what SQLite does for them."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from app.main import create_app
from bench.web import STEPS, one_review
from bench.web_seed import Reviewer, seed
from tests.conftest import make_settings

FEW, MANY = 100, 1000
STATEMENTS_MAX = {"queue page": 20, "deep page": 16, "claim": 24, "open": 10, "autosave": 4, "submit": 11}
GROWTH_MAX = 1.2
_TICK = 10  # SQLite's instructions between two calls of a progress handler


class _Client:
    def __init__(self, client: TestClient, reviewer: Reviewer) -> None:
        self._client, self._reviewer = client, reviewer
        self.rubrics = {}

    def page(self, path: str) -> str:
        return self._ask("GET", path, {"Cookie": f"workbench_session={self._reviewer.cookie}"}).text

    def api(self, method: str, path: str, body: object = None):
        return self._ask(method, f"/api/v1{path}", {"Authorization": f"Bearer {self._reviewer.token}"}, body).json()

    def _ask(self, method: str, path: str, headers: dict[str, str], body: object = None):
        answer = self._client.request(method, path, headers=headers, json=body)
        assert answer.status_code < 400, answer.text[:500]
        return answer


class _Counted:
    """In place of the bench's deployment: counts where that takes the time."""

    def __init__(self, folder: Path, subjects: int) -> None:
        settings = make_settings(folder, held_items_max=1000)
        reviewers = seed(settings, subjects)
        self.statements, self.instructions = Counter(), Counter()
        self._step = ""
        app = create_app(settings)
        event.listen(app.state.database.engine, "before_cursor_execute", self._count)
        with TestClient(app) as client:
            people = [_Client(client, reviewer) for reviewer in reviewers[:4]]
            self.deep = people[0].api("GET", "/queue?limit=20")["next_cursor"]
            one_review(self, people[0], "")  # what is read once is read
            self.statements.clear()
            self.instructions.clear()
            for person in people:
                one_review(self, person, "")
        self.rounds = len(people)

    def timed(self, step: str, _how: str, do):
        self._step = step
        answer = do()
        self._step = ""
        return answer

    def _count(self, connection, _cursor, _statement, _values, _context, _is_many) -> None:
        connection.connection.dbapi_connection.set_progress_handler(self._tick, _TICK)
        self.statements[self._step] += 1

    def _tick(self) -> int:
        self.instructions[self._step] += _TICK
        return 0


@pytest.fixture(scope="module")
def few_and_many(tmp_path_factory, sqlite_template) -> list[_Counted]:
    counted = []
    for subjects in (FEW, MANY):
        folder = tmp_path_factory.mktemp(f"subjects-{subjects}")
        shutil.copy(sqlite_template, folder / "workbench.db")
        counted.append(_Counted(folder, subjects))
    return counted


@pytest.mark.parametrize("step", STEPS)
def test_a_step_asks_no_more_than_so_many_statements(few_and_many, step):
    for counted in few_and_many:
        assert 0 < counted.statements[step] / counted.rounds <= STATEMENTS_MAX[step]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_costs_the_database_the_same_among_ten_times_as_many(few_and_many, step):
    few, many = (counted.instructions[step] for counted in few_and_many)

    assert 0 < many <= few * GROWTH_MAX
