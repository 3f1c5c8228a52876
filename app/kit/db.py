"""The database: one engine, and two kinds of session.

A read session cannot write, and a write session takes the write lock first (SQLite's BEGIN
IMMEDIATE), so that two writers queue up instead of failing half-way.  One request or job step
is one transaction, committed at the edge.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DataError
from sqlalchemy.orm import Session

from app.config import Settings
from app.errors import WorkbenchError
from app.kit import queue, strict_json

BUSY_TIMEOUT_MS = 30_000


class Database:
    """An engine with its two doors: `read()` and `write()`."""

    def __init__(self, settings: Settings, sender: queue.Sender | None = None) -> None:
        self.engine = make_engine(settings)
        self.sender = sender or queue.Sender(settings)
        self._readers = self.engine.execution_options(workbench_writes=False, postgresql_readonly=True)
        self._writers = self.engine.execution_options(workbench_writes=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        with Session(self._readers, expire_on_commit=False, autoflush=False) as session:
            # Closing ends the snapshot; a rollback would also empty the rows that were read.
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """One transaction: committed when the block ends, rolled back when it raises."""
        with Session(self._writers, expire_on_commit=False) as session:
            queue.attach(session, self.sender)
            with session.begin():
                yield session

    def close(self) -> None:
        self.sender.close()
        self.engine.dispose()


def make_engine(settings: Settings) -> Engine:
    """An engine for the settings' database, with SQLite's habits corrected."""
    # Every thread may hold a connection; a smaller pool can deadlock against the thread pool.
    options: dict[str, Any] = {
        "pool_size": settings.web_threads + 5, "max_overflow": 10, "pool_pre_ping": True,
        "json_serializer": strict_json.dump,
    }  # fmt: skip
    if not settings.database_url.startswith("sqlite"):
        engine = create_engine(_psycopg(settings.database_url), isolation_level="READ COMMITTED", **options)
        event.listen(engine, "handle_error", _say_what_cannot_be_kept)
        return engine
    options["pool_pre_ping"] = False
    path = settings.database_url.partition(":///")[2]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(settings.database_url, **options)
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "handle_error", _say_what_cannot_be_kept)
    return engine


def _say_what_cannot_be_kept(context: ExceptionContext) -> None:
    """A value that the database cannot hold is its sender's fault, whichever field and table it was for."""
    error = context.original_exception
    if isinstance(error, WorkbenchError):
        raise error
    if isinstance(error, UnicodeEncodeError):
        raise strict_json.unstorable("half of a character (a lone surrogate)")
    if isinstance(error, OverflowError):
        raise strict_json.unstorable("a number that is too large")
    if isinstance(context.sqlalchemy_exception, DataError):
        reason = str(error).partition("\n")[0]
        raise strict_json.unstorable(f"something the database refuses ({reason})")


def _psycopg(url: str) -> str:
    """`postgresql://` as people write it means psycopg 3, the driver that is installed."""
    head, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if head in ("postgres", "postgresql") else url


def _configure_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # The driver would begin transactions by itself, too late and of the wrong kind.
    connection.isolation_level = None
    for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("workbench_writes", True)
    connection.exec_driver_sql(f"PRAGMA query_only={'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def database_of(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


def _read_session(request: Request) -> Iterator[Session]:
    with database_of(request).read() as session:
        yield session


def _write_session(request: Request) -> Iterator[Session]:
    with database_of(request).write() as session:
        yield session


# scope="function": the commit happens before the answer goes out, so that a failing one is a 500 and not a 200.
ReadSession = Annotated[Session, Depends(_read_session, scope="function")]
WriteSession = Annotated[Session, Depends(_write_session, scope="function")]
