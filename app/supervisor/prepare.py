"""What is done once, before the children start: the schema, and the demo's people and tasks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from app.config import REPOSITORY, Settings
from app.errors import WorkbenchError
from app.supervisor.children import say
from app.supervisor.errors import ChildFailed

_DEMO_LOOK_EVERY_SECONDS, _DEMO_LOOKS_MAX = 2.0, 600


class DemoLogin(NamedTuple):
    login: str
    password: str
    role: str


def migrate(settings: Settings) -> None:
    """Bring the database to the newest schema; raises `ChildFailed` with the database's own words."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy.exc import SQLAlchemyError

    alembic = Config()
    alembic.set_main_option("script_location", str(REPOSITORY / "migrations"))
    alembic.attributes["settings"] = settings
    try:
        command.upgrade(alembic, "head")
    except SQLAlchemyError as error:
        raise ChildFailed(f"The database at WORKBENCH_DATABASE_URL cannot be brought up to date: {error}") from error


def seed_demo(settings: Settings) -> tuple[DemoLogin, ...]:
    """Make the demo's people, tasks and submissions unless they exist; who can sign in, and how."""
    from app.admin import demo

    return tuple(DemoLogin(*login) for login in demo.seed(settings))


def review_demo(settings: Settings, *, is_stopping: Callable[[], bool]) -> None:
    """Write the demo's reviews as its evaluations end; for a thread of its own."""
    from sqlalchemy.exc import SQLAlchemyError

    from app.admin import demo

    for _ in range(_DEMO_LOOKS_MAX):
        if is_stopping():
            return
        try:
            if demo.review(settings):
                return
        except (WorkbenchError, SQLAlchemyError) as error:
            say("serve", f"the demo's reviews are not written: {error}")
            return
        time.sleep(_DEMO_LOOK_EVERY_SECONDS)
