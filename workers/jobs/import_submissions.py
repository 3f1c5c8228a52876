"""The import job: one turn of an import's rows, each in a transaction of its own."""

from __future__ import annotations

from itertools import islice

import structlog

from app.config import Settings, load_settings
from app.imports import rows, service
from app.imports.rows import Asked, Line
from app.imports.service import Turn, TurnLost
from app.kit.db import Database
from workers.celery_app import app
from workers.jobs import resources

log = structlog.get_logger(__name__)


@app.task(name="workbench.import_submissions")
def import_submissions(import_id: str) -> None:
    run(resources.database(), load_settings(), import_id)


def run(database: Database, settings: Settings, import_id: str) -> None:
    with database.write() as session:
        turn = service.claim(session, settings, import_id)
    if turn is None:
        return
    try:
        is_over = _take_rows(database, settings, turn)
        with database.write() as session:
            (service.finish if is_over else service.end_turn)(session, turn)
    except TurnLost:
        log.warning("turn_lost", import_id=import_id)
    except FileNotFoundError:
        with database.write() as session:
            service.give_up(session, turn, "the file that was sent is missing from the blob store")
    except Exception as error:  # our fault, whatever it is: the row is tried again until it has cost every attempt
        log.exception("import_interrupted", import_id=import_id)
        with database.write() as session:
            service.fail(session, turn, f"{type(error).__name__}: {error}")


def _take_rows(database: Database, settings: Settings, turn: Turn) -> bool:
    """True when the file is at its end."""
    with turn.file.open("rb") as file:
        found = rows.lines(file, number=turn.next_line, byte=turn.next_byte)
        for number, line in enumerate(islice(found, service.ROWS_A_TURN)):
            _take_row(database, settings, turn, line, gives_up=turn.gives_up and number == 0)
        return next(found, None) is None


def _take_row(database: Database, settings: Settings, turn: Turn, line: Line, *, gives_up: bool) -> None:
    read = rows.given_up("it broke every attempt") if gives_up else rows.read(line)
    with database.write() as session:
        if isinstance(read, Asked):
            read = rows.submit(session, settings, turn.viewer, read, is_dry_run=turn.is_dry_run)
        service.keep_result(session, turn, line, read)
