"""The database: one engine, and two kinds of session.

A read session cannot write, and a write session takes the write lock first (SQLite's BEGIN
IMMEDIATE), so that two writers queue up instead of failing half-way.  One request or job step
is one transaction, committed at the edge.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DataError, DisconnectionError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from app.config import Settings
from app.errors import WorkbenchError
from app.kit import queue, strict_json
from app.kit.line import Line

BUSY_TIMEOUT_MS = 30_000
# A connection used this lately is taken to be alive without asking.
_FRESH_SECONDS = 5.0


class Database:
    """An engine with its two doors: `read()` and `write()`."""

    def __init__(self, settings: Settings, sender: queue.Sender | None = None) -> None:
        self.engine = make_engine(settings)
        self.sender = sender or queue.Sender(settings)
        self._readers = self.engine.execution_options(workbench_writes=False, postgresql_readonly=True)
        self._writers = self.engine.execution_options(workbench_writes=True)
        path = self.engine.url.database
        self._line = Line(Path(f"{path}-line")) if path and self.engine.dialect.name == "sqlite" else nullcontext()

    @contextmanager
    def read(self) -> Iterator[Session]:
        with Session(self._readers, expire_on_commit=False, autoflush=False) as session:
            # Closing ends the snapshot; a rollback would also empty the rows that were read.
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """One transaction: committed when the block ends, rolled back when it raises.  Then its messages are sent."""
        with self._line, Session(self._writers, expire_on_commit=False) as session, session.begin():
            yield session
        queue.send_waiting(session, self.sender)

    def close(self) -> None:
        self.sender.close()
        self.engine.dispose()


def make_engine(settings: Settings) -> Engine:
    """An engine for the settings' database, with SQLite's habits corrected."""
    # Every thread may hold a connection; a smaller pool can deadlock against the thread pool.  The one that came
    # back last goes out first: the server has the statements of a busy connection prepared.
    options: dict[str, Any] = {
        "pool_size": settings.web_threads + 5, "max_overflow": 10, "pool_use_lifo": True,
        "json_serializer": strict_json.dump,
    }  # fmt: skip
    if not settings.database_url.startswith("sqlite"):
        engine = create_engine(_psycopg(settings.database_url), isolation_level="READ COMMITTED", **options)
        event.listen(engine, "checkin", _remember_use)
        event.listen(engine, "checkout", _ask_after_a_pause)
        event.listen(engine, "handle_error", _say_what_cannot_be_kept)
        return engine
    path = settings.database_url.partition(":///")[2]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(settings.database_url, **options)
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "handle_error", _say_what_cannot_be_kept)
    return engine


def _remember_use(_connection: object, entry: ConnectionPoolEntry) -> None:
    entry.info["used_at"] = time.monotonic()


def _ask_after_a_pause(connection: Any, entry: ConnectionPoolEntry, _fairy: object) -> None:
    """What the server has closed in a pause is found here, and the pool makes another."""
    if time.monotonic() - entry.info.get("used_at", time.monotonic()) < _FRESH_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except Exception as error:  # whatever the driver says of it
        raise DisconnectionError("the server has closed this connection") from error


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
    """By the driver itself where nothing can fail: this is done for every request."""
    driver: Any = connection.connection.dbapi_connection
    if connection.get_execution_options().get("workbench_writes", True):
        driver.execute("PRAGMA query_only=OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        driver.execute("PRAGMA query_only=ON")
        driver.execute("BEGIN")
