"""The export job: claim, stream the rows into a blob, finish."""

from __future__ import annotations

import structlog

from app.config import Settings, load_settings
from app.exports import queries, service
from app.kit.db import Database
from workers.celery_app import app
from workers.jobs import resources

log = structlog.get_logger(__name__)


@app.task(name="workbench.export")
def write_export(export_id: str) -> None:
    run(resources.database(), load_settings(), export_id)


def run(database: Database, settings: Settings, export_id: str) -> None:
    with database.write() as session:
        if service.claim(session, export_id) is None:
            return
    try:
        with database.read() as session:
            manifest = service.write(session, settings, queries.find(session, export_id))
        with database.write() as session:
            service.finish(session, export_id, manifest)
    except Exception as error:  # our fault, whatever it is: tried again until the attempts are spent
        log.exception("export_failed", export=export_id)
        with database.write() as session:
            service.fail(session, settings, export_id, f"{type(error).__name__}: {error}")
