"""Imports over REST: send many submissions at once, and see what became of each."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request, Response
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.domain.review import RowStatus
from app.imports import queries, service
from app.imports.incoming import OPENAPI, read_body
from app.imports.service import Upload
from app.kit import idempotency
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Import, ImportRow

router = steps(tags=["imports"])
Reader = Annotated[Viewer, Depends(scope("read"))]
Submitter = Annotated[Viewer, Depends(scope("submit"))]
IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]


class ImportOut(BaseModel):
    """`counts` are rows by status; an import goes on until `rows_done` is `rows`."""

    id: str
    state: str
    dry_run: bool
    rows: int
    rows_done: int
    counts: dict[str, int]
    failure: str | None
    created_at: dt.datetime
    ended_at: dt.datetime | None
    url: str


class ImportPage(BaseModel):
    items: list[ImportOut]
    next_cursor: str | None


class ResultOut(BaseModel):
    """`row` is the line in the file; `problem` is what a single upload would have been answered with."""

    row: int
    key: str | None
    status: RowStatus
    submission: str | None
    problem: dict[str, Any] | None


class ImportWithResults(ImportOut):
    """With one page of the rows that are done, in the order of the file."""

    results: list[ResultOut]
    next_cursor: str | None


@router.post("/submissions/bulk", status_code=202, openapi_extra=OPENAPI)
def submit_many(
    request: Request,
    response: Response,
    session: WriteSession,
    viewer: Submitter,
    upload: Annotated[Upload, Depends(read_body)],
    dry_run: bool = False,
    idempotency_key: IdempotencyKey = None,
) -> ImportOut:
    """Submit many at once as JSON Lines: each line is what a single upload sends, and may have a `key`.

    The rows are taken one by one, after the answer; a row that is refused holds no other up.
    A dry run checks everything and keeps nothing.
    """
    fingerprint = hashlib.sha256(f"bulk:{upload.sha256}:{dry_run}".encode()).hexdigest()
    before = idempotency.recall(session, viewer.id, idempotency_key, fingerprint)
    if before is not None:
        row = queries.find(session, before.body["id"])
    else:
        row = service.request_import(session, viewer, upload, is_dry_run=dry_run)
        idempotency.remember(session, viewer.id, idempotency_key, fingerprint, 202, {"id": row.public_id})
    response.headers["Location"] = f"/api/v1/imports/{row.public_id}"
    return ImportOut(**as_out(request, row))


@router.get("/imports")
def list_imports(
    request: Request,
    session: ReadSession,
    viewer: Reader,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ImportPage:
    """One's own, newest first."""
    page = queries.list_of(session, viewer, cursor=cursor, limit=limit)
    return ImportPage(items=[ImportOut(**as_out(request, row)) for row in page.items], next_cursor=page.next_cursor)


@router.get("/imports/{import_id}")
def show_import(
    request: Request,
    session: ReadSession,
    viewer: Reader,
    import_id: str,
    status: RowStatus | None = None,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ImportWithResults:
    """How far it is, and what became of each row; while it runs, ask again for the rows to come."""
    row = queries.find(session, import_id, viewer)
    page = queries.results(session, row, status=status, cursor=cursor, limit=limit)
    results = [ResultOut(**result_out(result)) for result in page.items]
    return ImportWithResults(**as_out(request, row), results=results, next_cursor=page.next_cursor)


def as_out(request: Request, row: Import) -> dict[str, Any]:
    return {
        "id": row.public_id, "state": row.state, "dry_run": row.is_dry_run, "rows": row.rows,
        "rows_done": row.rows_done, "counts": {status.value: getattr(row, status.value) for status in RowStatus},
        "failure": row.failure if row.state == "failed" else None, "created_at": row.created_at,
        "ended_at": row.ended_at, "url": f"{request.app.state.settings.base_url}/imports/{row.public_id}",
    }  # fmt: skip


def result_out(result: ImportRow) -> dict[str, Any]:
    """One result as the API, the page's file and the command write it."""
    return {
        "row": result.number, "key": result.key, "status": result.status,
        "submission": result.submission.public_id if result.submission else None, "problem": result.problem,
    }  # fmt: skip
