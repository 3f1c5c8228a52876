"""`python -m workers.scheduler`: sweeps every few seconds, in one process at a time.

Several may run; the one that holds the lease in the database sweeps, the others stand by.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading

import structlog

from app.config import Settings, load_settings
from app.kit import leases
from app.kit.db import Database
from workers.jobs import sweep

log = structlog.get_logger(__name__)
LEASE = "scheduler"


def main() -> None:
    settings, stop = load_settings(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    database = Database(settings)
    holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    try:
        while not stop.is_set():
            tick(database, settings, holder)
            stop.wait(settings.sweep_every_seconds)
        with database.write() as session:
            leases.give_up(session, LEASE, holder)
    finally:
        database.close()


def tick(database: Database, settings: Settings, holder: str) -> sweep.Swept | None:
    """One sweep, if the lease is ours.  A database that is away for a moment is no reason to end."""
    try:
        with database.write() as session:
            if not leases.hold(session, LEASE, holder, seconds=settings.sweep_every_seconds * 3 + 30):
                return None
        return sweep.run(database, settings)
    except Exception:
        log.exception("sweep_failed")
        return None


if __name__ == "__main__":
    main()
