"""The database and the broker that the settings name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.config import Settings
from app.doctor.result import Result, answer


def services(settings: Settings) -> Iterator[Result]:
    yield _database(settings)
    yield _broker(settings)
    yield _web(settings)


def _database(settings: Settings) -> Result:
    from sqlalchemy import text
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    from app.kit.db import Database

    url = make_url(settings.database_url)
    shown = url.render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return Result("services", "database", works=True, detail=f"{shown}, made at the first start", required=True)
    database = Database(settings)
    try:
        with database.read() as session:
            session.execute(text("select 1"))
    except SQLAlchemyError as error:
        first_line = str(error).splitlines()[0]
        how = "Check WORKBENCH_DATABASE_URL and that the server runs."
        return Result("services", "database", works=False, detail=f"{shown}: {first_line}", how=how, required=True)
    finally:
        database.close()
    return Result("services", "database", works=True, detail=shown, required=True)


def _web(settings: Settings) -> Result:
    count = settings.web_processes
    processes = f"{count} process{'es' if count > 1 else ''} of {settings.threads_per_process} threads"
    return Result("services", "web", works=True, detail=f"{processes}, set by WORKBENCH_WEB_PROCESSES", required=False)


def _broker(settings: Settings) -> Result:
    from app.supervisor import broker
    from app.supervisor.errors import ServeError

    if not broker.is_embedded(settings):
        works = broker.is_answering(settings.broker_url)
        detail = "answers" if works else "does not answer"
        how = "Check WORKBENCH_BROKER_URL and that the server runs."
        return Result(
            "services", "broker", works, f"{broker.without_password(settings.broker_url)} {detail}", how, required=True
        )
    how = "Run a Redis or Valkey server and set WORKBENCH_BROKER_URL."
    try:
        works, detail = answer((str(broker.binary()), "--version"))
    except ServeError as error:
        works, detail = False, str(error)
    return Result("services", "embedded broker", works, detail, how, required=True)
