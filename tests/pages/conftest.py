"""A house with people in every role, a task, and submissions in every state that a page has to show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.accounts import service as accounts
from app.accounts.policy import Viewer, viewer_of
from app.config import Settings
from app.domain.review import Role
from app.kit import auth
from app.kit.db import Database
from app.main import create_app
from app.rubrics import content as rubric_content
from app.rubrics import service as rubrics
from tests import factories
from tests.fakes import FakeSender
from tests.pages import sample_reports

PASSWORD = "correct horse battery"
RUBRIC = Path(__file__).with_name("rubric.yaml")
PEOPLE = {
    "sue": (Role.SUBMITTER,),
    "rob": (Role.REVIEWER,),
    "ria": (Role.REVIEWER,),
    "ada": (Role.ADJUDICATOR,),
    "max": (Role.ADMIN,),
    "vera": (Role.SUBMITTER, Role.REVIEWER),
}


@dataclass
class House:
    """`submissions` maps a sample report's name to the submission that has it."""

    app: FastAPI
    settings: Settings
    database: Database
    viewers: dict[str, Viewer] = field(default_factory=dict)
    submissions: dict[str, str] = field(default_factory=dict)

    def browser(self, login: str | None = None) -> Browser:
        browser = Browser(TestClient(self.app, follow_redirects=True))
        if login:
            browser.sign_in(login)
        return browser


class Browser:
    """A client that sends the CSRF token of the last page with each form, as a person's browser does."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.token = ""

    def get(self, path: str, **options: object):
        answer = self.client.get(path, **options)
        self._keep_token(answer.text)
        return answer

    def post(self, path: str, data: dict | None = None, **options: object):
        answer = self.client.post(path, data={"csrf_token": self.token, **(data or {})}, **options)
        self._keep_token(answer.text)
        return answer

    def sign_in(self, login: str) -> None:
        self.get("/sign-in")
        answer = self.post("/sign-in", {"login": login, "password": PASSWORD})
        assert answer.status_code == 200, answer.text[:300]

    def _keep_token(self, text: str) -> None:
        found = re.search(r'name="csrf_token" value="([^"]+)"', text) or re.search(r'X-CSRF-Token": "([^"]+)"', text)
        self.token = found[1] if found else self.token


@pytest.fixture(scope="session")
def password_hash() -> str:
    """Hashing is slow on purpose, so everybody here has one password."""
    return auth.hash_password(PASSWORD)


@pytest.fixture
def house(settings: Settings, sender: FakeSender, password_hash: str) -> Iterator[House]:
    app = create_app(settings)
    app.state.database.close()
    app.state.database = Database(settings, sender)
    made = House(app, settings, app.state.database)
    with made.database.write() as session:
        for login, roles in PEOPLE.items():
            user = accounts.create_user(session, login=login, name=login.title(), roles=roles)
            user.password_hash = password_hash
            made.viewers[login] = viewer_of(user)
        data = rubric_content.read_yaml(RUBRIC.read_text()).model_dump(mode="json")
        rubrics.publish(session, None, rubrics.create_draft(session, None, data))
    yield made
    made.database.close()


@pytest.fixture
def full_house(house: House) -> House:
    """The same, with one submission for each sample report, open for review."""
    with house.database.write() as session:
        task = factories.make_task(session, house.settings)
        for name, make in sample_reports.ALL.items():
            source = (
                sample_reports.SOURCE
                + f"# {name}\n"
                + ("# " + sample_reports.HOSTILE.replace("\x1b", "ESC") if name == "hostile" else "")
            )
            submission, _, _ = factories.make_evaluated(
                session,
                house.settings,
                report=make(),
                author=house.viewers["sue"],
                task=task,
                source=source,
                title=sample_reports.HOSTILE if name == "hostile" else f"Softmax, {name.replace('_', ' ')}",
                explanation=f"{sample_reports.HOSTILE}\n\n[a link](javascript:alert(3))"
                if name == "hostile"
                else "One program a **row**.",
            )
            house.submissions[name] = submission.public_id
    return house
