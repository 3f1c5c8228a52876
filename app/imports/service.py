"""Imports: a file of many submissions, taken row by row in jobs.

A job takes a turn of some rows and asks for the next one, so that a large import holds nobody up.  Each row is a
transaction of its own: what it submits, its result, and the place where the next one begins are kept together or not
at all, so that a turn which is cut short neither loses nor doubles a row.
"""

from __future__ import annotations

import datetime as dt
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role, viewer_of
from app.config import MEBIBYTE, Settings
from app.domain.events import Event
from app.domain.review import ImportState, Role
from app.errors import Conflict, Invalid, TooLarge
from app.imports import queries
from app.imports.rows import Line, Result
from app.kit import audit, queue
from app.kit.blobs import BlobStore
from app.models import Import, ImportRow, User, new_public_id, utc_now
from app.webhooks import outbox

JOB = "import_submissions"
LEASE_MINUTES = 5
ROWS_A_TURN = 100


@dataclass(frozen=True)
class Upload:
    """A file of JSON Lines that is kept already; `rows` are its lines that are not blank."""

    sha256: str
    size_bytes: int
    rows: int


@dataclass(frozen=True)
class Turn:
    """One worker's right to take rows, from this line on.  `gives_up`: the row there has cost every attempt."""

    import_id: int
    public_id: str
    attempt_id: str
    viewer: Viewer
    is_dry_run: bool
    file: Path
    next_line: int
    next_byte: int
    gives_up: bool


class TurnLost(Conflict):
    """The import went on without this turn."""


def keep_upload(settings: Settings, data: bytes) -> Upload:
    """Refuse what is too large, and keep the rest; no row is looked into yet."""
    if len(data) > settings.import_bytes_max:
        raise TooLarge(
            f"the file has more than {settings.import_bytes_max / MEBIBYTE:g} MiB", what_to_do="Send it in parts."
        )
    rows = sum(1 for line in io.BytesIO(data) if line.strip())
    if not rows:
        raise Invalid("there is no row in it", what_to_do="Send JSON Lines: one submission on each line.")
    if rows > settings.import_rows_max:
        raise TooLarge(
            f"there are {rows} rows, and an import takes {settings.import_rows_max}", what_to_do="Send it in parts."
        )
    return Upload(BlobStore(settings.blobs_dir).put(data), len(data), rows)


def request_import(session: Session, viewer: Viewer, upload: Upload, *, is_dry_run: bool = False) -> Import:
    """Queue the rows; the message goes out after commit."""
    require_role(viewer, Role.SUBMITTER)
    row = Import(
        requested_by_id=viewer.id, is_dry_run=is_dry_run, sha256=upload.sha256, size_bytes=upload.size_bytes,
        rows=upload.rows, state=ImportState.QUEUED.value, sent_at=utc_now(), created=0, existing=0, valid=0, refused=0,
        failed=0, next_line=1, next_byte=0, attempts=0,
    )  # fmt: skip
    session.add(row)
    session.flush()
    audit.note(session, viewer.id, "import.request", row.public_id, rows=row.rows, dry_run=is_dry_run)
    _send(session, row.public_id)
    return row


def claim(session: Session, settings: Settings, import_id: str) -> Turn | None:
    """Take the next turn, or that of a worker who died; None when somebody else has it or it has ended."""
    now, attempt_id = utc_now(), new_public_id("att")
    free = (Import.state == ImportState.QUEUED) | ((Import.state == ImportState.RUNNING) & (Import.lease_until < now))
    taken = _changed(
        session, (Import.public_id == import_id, free), state=ImportState.RUNNING.value, attempt_id=attempt_id,
        attempts=Import.attempts + 1, lease_until=now + dt.timedelta(minutes=LEASE_MINUTES),
    )  # fmt: skip
    if not taken:
        return None
    row = queries.find(session, import_id)
    sender = session.get_one(User, row.requested_by_id)
    if not sender.is_active:
        _end(row, ImportState.FAILED, "whoever sent it is no longer here")
        return None
    if row.attempts > settings.attempts_max + 1:
        _end(row, ImportState.FAILED, row.failure or "its worker died every time")
        return None
    return Turn(
        row.id, row.public_id, attempt_id, viewer_of(sender), row.is_dry_run,
        BlobStore(settings.blobs_dir).path(row.sha256), row.next_line, row.next_byte,
        gives_up=row.attempts > settings.attempts_max,
    )  # fmt: skip


def keep_result(session: Session, turn: Turn, line: Line, result: Result) -> None:
    """Keep what became of a row and step on to the next; raises `TurnLost`, and keeps nothing, when it is not ours."""
    session.add(
        ImportRow(
            import_id=turn.import_id, number=line.number, key=result.key, status=result.status.value,
            submission_id=result.submission_id, problem=result.problem,
        )
    )  # fmt: skip
    session.flush()
    count = getattr(Import, result.status.value)
    _must_be_ours(
        session, turn, next_line=line.number + 1, next_byte=line.end, attempts=1, failure=None,
        lease_until=utc_now() + dt.timedelta(minutes=LEASE_MINUTES), **{result.status.value: count + 1},
    )  # fmt: skip


def end_turn(session: Session, turn: Turn) -> None:
    """Let other jobs through, and ask for the next turn."""
    _must_be_ours(session, turn, **_QUEUED, attempts=0, sent_at=utc_now())
    _send(session, turn.public_id)


def finish(session: Session, turn: Turn) -> None:
    _must_be_ours(session, turn, state=ImportState.DONE.value, ended_at=utc_now(), **_NOBODYS)
    outbox.emit(session, Event.IMPORT_FINISHED, path=f"/imports/{turn.public_id}", **{"import": turn.public_id})


def fail(session: Session, turn: Turn, reason: str) -> None:
    """Our own fault: the row is tried again, until it has cost every attempt."""
    if _changed(session, _held_by(turn), **_QUEUED, sent_at=utc_now(), failure=reason):
        _send(session, turn.public_id)


def give_up(session: Session, turn: Turn, reason: str) -> None:
    """The rest cannot be read any more; the rows that were done stay done."""
    _changed(session, _held_by(turn), state=ImportState.FAILED.value, ended_at=utc_now(), failure=reason, **_NOBODYS)


def sweep(session: Session, settings: Settings) -> int:
    """Send again what no worker took; how many."""
    now = utc_now()
    lost = queries.unfinished(session, now, now - dt.timedelta(seconds=settings.resend_after_seconds))
    for row in lost:
        row.sent_at = now
        _send(session, row.public_id)
    return len(lost)


_NOBODYS: dict[str, Any] = {"attempt_id": None, "lease_until": None}
_QUEUED: dict[str, Any] = {"state": ImportState.QUEUED.value, **_NOBODYS}


def _send(session: Session, public_id: str) -> None:
    queue.enqueue(session, JOB, queue=queue.HOUSE, import_id=public_id)


def _end(row: Import, state: ImportState, failure: str | None = None) -> None:
    row.state, row.ended_at, row.failure, row.attempt_id, row.lease_until = state.value, utc_now(), failure, None, None


def _held_by(turn: Turn) -> tuple[Any, ...]:
    return (Import.id == turn.import_id, Import.attempt_id == turn.attempt_id)


def _must_be_ours(session: Session, turn: Turn, **values: Any) -> None:
    if not _changed(session, _held_by(turn), **values):
        raise TurnLost(f"another worker has gone on with {turn.public_id}")


def _changed(session: Session, conditions: tuple[Any, ...], **values: Any) -> bool:
    statement = update(Import).where(*conditions).values(**values).returning(Import.id)
    return session.execute(statement, execution_options={"synchronize_session": "fetch"}).scalar() is not None
