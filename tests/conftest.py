"""Fixtures that every test may ask for: settings of their own, and a database that is migrated and empty."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from sqlalchemy import Engine, create_engine, text

from app.config import REPOSITORY, Settings
from app.kit.db import Database, make_engine
from app.models import Base
from tests import postgres
from tests.fakes import FakeSender

# A property is right or wrong at any speed; the machine is shared, so no example has a time limit.
hypothesis_settings.register_profile("workbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("workbench")


def make_settings(data_dir: Path, **overrides: object) -> Settings:
    values = {"data_dir": data_dir, "secret_key": "not-a-secret", "runtimes": {"none": Path("/nowhere")}} | overrides
    return Settings(_env_file=None, **values)


def migrate(settings: Settings, target: str = "head") -> None:
    alembic = Config()
    alembic.set_main_option("script_location", str(REPOSITORY / "migrations"))
    alembic.attributes["settings"] = settings
    (command.upgrade if target == "head" else command.downgrade)(alembic, target)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [n for n in os.environ if n.startswith("WORKBENCH_") and n != "WORKBENCH_TEST_BROWSER"]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def compiled_once() -> Iterator[dict[str, Engine]]:
    """Engines, by dialect, that have been connected: later ones of the dialect share what these have compiled.

    Each test has an engine of its own, and compiling its statements anew would take half of the tests' time.
    """
    first: dict[str, Engine] = {}

    def sharing(url: str, **options: object) -> Engine:
        engine = create_engine(url, **options)
        if (known := first.get(engine.dialect.name)) is not None:
            engine.dialect, engine._compiled_cache = known.dialect, known._compiled_cache
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.kit.db.create_engine", sharing)
        yield first


def connected(settings: Settings) -> Engine:
    engine = make_engine(settings)
    engine.connect().close()  # now its dialect knows the driver
    engine.dispose()
    return engine


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory, compiled_once: dict[str, Engine]) -> Path:
    """A migrated SQLite file, to be copied."""
    folder = tmp_path_factory.mktemp("sqlite")
    settings = make_settings(folder)
    migrate(settings)
    compiled_once["sqlite"] = connected(settings)
    return folder / "workbench.db"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    try:
        with postgres.server() as url:
            yield url
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def postgres_url(
    postgres_server: str, tmp_path_factory: pytest.TempPathFactory, compiled_once: dict[str, Engine]
) -> str:
    """One migrated database; making one for each test would take most of the tests' time."""
    postgres_execute(postgres_server, "CREATE DATABASE wb_tests")
    url = postgres_server.replace("/postgres?", "/wb_tests?")
    settings = make_settings(tmp_path_factory.mktemp("pg"), database_url=url)
    migrate(settings)
    compiled_once["postgresql"] = connected(settings)
    return url


def postgres_execute(url: str, statement: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.fixture
def settings(tmp_path: Path, sqlite_template: Path) -> Settings:
    """Settings over a fresh SQLite database."""
    shutil.copy(sqlite_template, tmp_path / "workbench.db")
    return make_settings(tmp_path)


@pytest.fixture
def sender() -> FakeSender:
    return FakeSender()


@pytest.fixture
def database(settings: Settings, sender: FakeSender) -> Iterator[Database]:
    made = Database(settings, sender)
    yield made
    made.close()


@pytest.fixture
def postgres_settings(tmp_path: Path, postgres_url: str) -> Iterator[Settings]:
    """Settings over the PostgreSQL database, emptied afterwards."""
    yield make_settings(tmp_path, database_url=postgres_url)
    tables = ", ".join(table.name for table in Base.metadata.sorted_tables)
    postgres_execute(postgres_url, f"TRUNCATE {tables} RESTART IDENTITY CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def each_settings(request: pytest.FixtureRequest) -> Settings:
    """Settings over SQLite, then over PostgreSQL: for what touches locks and claims."""
    return request.getfixturevalue("settings" if request.param == "sqlite" else "postgres_settings")


@pytest.fixture
def each_database(each_settings: Settings, sender: FakeSender) -> Iterator[Database]:
    made = Database(each_settings, sender)
    yield made
    made.close()
