"""Pages of imports: send a file, see how it goes, and what became of each row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.domain.review import ImportState, Role, RowStatus
from app.errors import WorkbenchError
from app.imports import queries, service
from app.imports.api import result_out
from app.imports.incoming import ImportForm, read_form
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, database_of, steps

router = steps(include_in_schema=False)
Submitter = Annotated[Viewer, Depends(role(Role.SUBMITTER))]
_LIVE = (ImportState.QUEUED, ImportState.RUNNING)
RESULTS_SHOWN = 100


@router.get("/imports")
def imports(request: Request, session: ReadSession, viewer: Submitter, cursor: str | None = None) -> Response:
    return _list(request, session, viewer, cursor)


@router.post("/imports")
def send(
    request: Request, session: WriteSession, viewer: Submitter, form: Annotated[ImportForm, Depends(read_form)]
) -> Response:
    if form.upload is None:
        return _list(request, session, viewer, error=form.error)
    row = service.request_import(session, viewer, form.upload, is_dry_run=form.is_dry_run)
    return RedirectResponse(f"/imports/{row.public_id}", 303)


@router.get("/imports/{public_id}")
def import_page(
    request: Request,
    session: ReadSession,
    viewer: Submitter,
    public_id: str,
    status: str = "",
    cursor: str | None = None,
) -> Response:
    row = queries.find(session, public_id, viewer)
    chosen = RowStatus(status) if status in set(RowStatus) else None
    page = queries.results(session, row, status=chosen, cursor=cursor, limit=RESULTS_SHOWN)
    context = {
        "row": row, "page": page, "status": chosen, "counts": {s: getattr(row, s.value) for s in RowStatus},
        "is_live": row.state in _LIVE, "cursor": cursor, "query": f"status={chosen.value}" if chosen else "",
    }  # fmt: skip
    return pages.render(request, "imports/page.html", context, block="live")


@router.get("/imports/{public_id}/results")
def download(request: Request, session: ReadSession, viewer: Submitter, public_id: str) -> Response:
    row = queries.find(session, public_id, viewer)
    name = f'attachment; filename="{row.public_id}.jsonl"'
    return StreamingResponse(
        _lines(request, row.public_id), media_type="application/jsonl", headers={"Content-Disposition": name}
    )


def _lines(request: Request, public_id: str) -> Iterator[str]:
    """In a session of its own: the handler's has ended before the first line leaves."""
    with database_of(request).read() as session:
        for result in queries.every_result(session, queries.find(session, public_id)):
            yield json.dumps(result_out(result), ensure_ascii=False) + "\n"


def _list(
    request: Request,
    session: ReadSession,
    viewer: Viewer,
    cursor: str | None = None,
    error: WorkbenchError | None = None,
) -> Response:
    page = queries.list_of(session, viewer, cursor=cursor)
    context = {"page": page, "error": error, "is_live": any(row.state in _LIVE for row in page.items)}
    return pages.render(request, "imports/list.html", context, block="list", status=error.status if error else 200)
