"""The rows of an import: where each lies in the file, what it says, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.config import Settings
from app.domain.review import RowStatus
from app.errors import WorkbenchError, problem_body
from app.kit import idempotency, strict_json
from app.models import Submission
from app.submissions import fields, service
from app.submissions.service import NewSubmission

# No header can hold a line feed, so that a row's key never meets a request's.
_NAMESPACE = "row\n"
_CREATED = 201


@dataclass(frozen=True)
class Line:
    """One line that is not blank; `number` counts from 1 as an editor does, `end` is in bytes."""

    number: int
    end: int
    data: bytes


@dataclass(frozen=True)
class Asked:
    """A row that could be read."""

    new: NewSubmission
    key: str | None


@dataclass(frozen=True)
class Result:
    status: RowStatus
    key: str | None = None
    submission_id: int | None = None
    problem: dict[str, Any] | None = None


def lines(file: BinaryIO, *, number: int, byte: int) -> Iterator[Line]:
    """From there on; what lies before is not read again."""
    file.seek(byte)
    for data in file:
        byte += len(data)
        if data.strip():
            yield Line(number, byte, data)
        number += 1


def read(line: Line) -> Asked | Result:
    """What the line asks for, or its refusal; no database, so that nobody waits for it."""
    key = None
    try:
        said = strict_json.read(line.data, "the row")
        key = _key_in(said)
        row = fields.checked_row(said)
        return Asked(row.new(row.tree()), row.key)
    except WorkbenchError as error:
        return refused(error, key)


def submit(session: Session, settings: Settings, viewer: Viewer, asked: Asked, *, is_dry_run: bool) -> Result:
    """As if it had been sent alone; a refusal takes back what the row did, and nothing of the others."""
    key = _NAMESPACE + asked.key if asked.key else None
    try:
        with session.begin_nested():
            before = idempotency.recall(session, viewer.id, key, asked.new.fingerprint())
            if before is not None:
                return Result(RowStatus.EXISTING, asked.key, before.body["submission_id"])
            if is_dry_run:
                return _tried(service.try_out(session, settings, viewer, asked.new), asked.key)
            done = service.submit(session, settings, viewer, asked.new)
            body = {"submission_id": done.submission.id}
            idempotency.remember(session, viewer.id, key, asked.new.fingerprint(), _CREATED, body)
            status = RowStatus.CREATED if done.is_new else RowStatus.EXISTING
            return Result(status, asked.key, done.submission.id)
    except WorkbenchError as error:
        return refused(error, asked.key)


def refused(error: WorkbenchError, key: str | None) -> Result:
    """With the same body that a single upload would have been answered with."""
    body = problem_body(error.status, error.title, error.message, what_to_do=error.what_to_do, **error.details)
    return Result(RowStatus.REFUSED, key, problem=strict_json.scrubbed(body))


def given_up(reason: str) -> Result:
    """A row that broke something of ours every time; the others go on without it."""
    body = problem_body(
        500, "Our fault", f"something went wrong on our side: {reason}", what_to_do="Send this row again later."
    )
    return Result(RowStatus.FAILED, problem=strict_json.scrubbed(body))


def _tried(earlier: Submission | None, key: str | None) -> Result:
    return Result(RowStatus.EXISTING, key, earlier.id) if earlier else Result(RowStatus.VALID, key)


def _key_in(said: Any) -> str | None:
    """A refused row's key, so that its sender finds it again."""
    key = said.get("key") if isinstance(said, dict) else None
    return key if isinstance(key, str) and len(key) <= fields.KEY_LENGTH_MAX else None
