"""The demo: one of each kind of person, three tasks, and submissions good and bad.

Everything goes through the services, so evaluations are asked for and run like anybody's.
Seeding again changes nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.accounts import queries as account_queries
from app.accounts import service as accounts
from app.accounts.policy import viewer_of
from app.config import Settings
from app.domain.review import Role
from app.kit.db import Database
from app.models import User
from app.rubrics import service as rubrics
from app.submissions import service as submissions
from app.submissions.service import NewSubmission
from app.tasks import service as tasks

HERE = Path(__file__).parent
TASKS, SUBMISSIONS = HERE / "demo_tasks", HERE / "demo_submissions"


class Person(NamedTuple):
    login: str
    name: str
    role: Role
    team: str = ""


PEOPLE = (
    Person("submitter", "Sana Submitter", Role.SUBMITTER, "kernels"),
    Person("reviewer", "Rita Reviewer", Role.REVIEWER),
    Person("reviewer2", "Ravi Reviewer", Role.REVIEWER),
    Person("adjudicator", "Ada Adjudicator", Role.ADJUDICATOR),
    Person("admin", "Adam Admin", Role.ADMIN),
)

_EXPLANATIONS = {
    "masked": "One program a row. The row's maximum is taken off first, so that large values do not overflow.",
    "overflows": "Skips the pass for the maximum: one read less.",
    "remembers": "Caches the result, which makes repeated calls faster.",
    "wide_sum": "Accumulates in float32 and rounds once at the end.",
}


def seed(settings: Settings) -> list[tuple[str, str, str]]:
    """Seed the demo and say who can sign in: login, password, role."""
    database = Database(settings)
    try:
        with database.write() as session:
            seed_into(session, settings)
    finally:
        database.close()
    return [(person.login, password_of(settings, person.login), person.role.value) for person in PEOPLE]


def seed_into(session: Session, settings: Settings) -> None:
    """Make what is missing, in the session's transaction."""
    rubrics.seed(session)
    people = {person.login: _person(session, settings, person) for person in PEOPLE}
    for folder in sorted(TASKS.iterdir()):
        tasks.upload_folder(session, settings, folder, actor_id=people["admin"].id)
    for path in sorted(SUBMISSIONS.glob("*/*.py")):
        _submit(session, settings, people["submitter"], path)


def password_of(settings: Settings, login: str) -> str:
    """Each installation has its own demo passwords, and can print them again without keeping them."""
    return hmac.new(settings.signing_key.encode(), f"demo:{login}".encode(), hashlib.sha256).hexdigest()[:12]


def _person(session: Session, settings: Settings, person: Person) -> User:
    there = account_queries.user_by_login(session, person.login)
    if there is not None:
        return there
    return accounts.create_user(
        session, login=person.login, name=person.name, roles=[person.role], team=person.team,
        password=password_of(settings, person.login),
    )  # fmt: skip


def _submit(session: Session, settings: Settings, author: User, path: Path) -> None:
    new = NewSubmission(
        files={path.name: path.read_bytes()}, task=path.parent.name, title=path.stem.replace("_", " ").capitalize(),
        explanation=_EXPLANATIONS.get(path.stem, ""), model={"name": "demo"},
    )  # fmt: skip
    submissions.submit(session, settings, viewer_of(author), new)
