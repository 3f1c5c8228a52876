"""Migrations run up, down and up again, and agree with the models, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import inspect

from app.config import REPOSITORY, Settings
from app.kit.db import make_engine
from tests.conftest import make_settings, migrate, postgres_execute


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request, tmp_path: Path) -> Settings:
    if request.param == "sqlite":
        return make_settings(tmp_path)
    server = request.getfixturevalue("postgres_server")
    postgres_execute(server, "DROP DATABASE IF EXISTS wb_migrations")
    postgres_execute(server, "CREATE DATABASE wb_migrations")
    return make_settings(tmp_path, database_url=server.replace("/postgres?", "/wb_migrations?"))


def _tables(settings: Settings) -> set[str]:
    engine = make_engine(settings)
    with engine.connect() as connection:
        names = set(inspect(connection).get_table_names())
    engine.dispose()
    return names - {"alembic_version"}


def test_up_down_and_up_again(empty):
    migrate(empty)
    full = _tables(empty)
    migrate(empty, "base")
    assert _tables(empty) == set()
    migrate(empty)
    assert _tables(empty) == full


def test_the_models_need_no_further_migration(empty):
    migrate(empty)
    alembic = Config()
    alembic.set_main_option("script_location", str(REPOSITORY / "migrations"))
    alembic.attributes["settings"] = empty
    command.check(alembic)  # raises on drift


def test_files_are_dated_and_say_why():
    for path in (REPOSITORY / "migrations" / "versions").glob("*.py"):
        assert path.name[:10].replace("-", "").isdigit(), path.name
        assert path.read_text().startswith('"""'), path.name
