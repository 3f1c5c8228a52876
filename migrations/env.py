"""Runs the migrations on the database that the settings name, or on a connection handed in by a test."""

from __future__ import annotations

from alembic import context
from sqlalchemy import JSON, Connection

from app.config import load_settings
from app.kit.db import make_engine
from app.models import Base
from app.models.base import UtcDateTime


def render_item(kind, value, autogen_context):
    """Our types are spelled as what they are underneath, so that an old migration needs no code of ours."""
    if kind == "type" and isinstance(value, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(value, JSON):
        return "JSON"
    return False


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        compare_type=True,
        render_item=render_item,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def main() -> None:
    given = context.config.attributes.get("connection")
    if given is not None:
        run(given)
        return
    engine = make_engine(context.config.attributes.get("settings") or load_settings())
    with engine.connect() as connection:
        # A batch copies tables; with foreign keys enforced, dropping the old one would empty its children.
        if connection.dialect.name == "sqlite":
            connection.connection.driver_connection.execute("PRAGMA foreign_keys=OFF")
        run(connection)
        connection.commit()
    engine.dispose()


main()
