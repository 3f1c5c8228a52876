"""Pages of exports: ask for one, see how it goes, fetch the file."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import WorkbenchError
from app.exports import queries, service
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.tasks import queries as task_queries

router = steps(include_in_schema=False)
Exporter = Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]


@router.get("/exports")
def exports(request: Request, session: ReadSession, viewer: Exporter) -> Response:
    return _page(request, session)


@router.post("/exports")
def request_export(
    request: Request,
    session: WriteSession,
    viewer: Exporter,
    task: Annotated[str, Form()] = "",
    since: Annotated[str, Form()] = "",
    shape: Annotated[str, Form()] = "review",
    revisions: Annotated[str, Form()] = "",
) -> Response:
    # A date field gives a day without a zone; days here are UTC days.
    moment = f"{since}T00:00:00+00:00" if since and "T" not in since else since
    try:
        service.request_export(
            session, viewer, shape=shape, filters={"task": task, "since": moment, "revisions": revisions}
        )
    except WorkbenchError as error:
        return _page(request, session, error)
    return RedirectResponse("/exports", 303)


@router.get("/exports/{public_id}/file")
def download(request: Request, session: ReadSession, viewer: Exporter, public_id: str) -> Response:
    export = queries.find(session, public_id)
    path = service.file_of(request.app.state.settings, export)
    return FileResponse(path, media_type="application/jsonl", filename=f"{export.public_id}.jsonl")


def _page(request: Request, session: ReadSession, error: WorkbenchError | None = None) -> Response:
    found = queries.list_exports(session)
    context = {
        "exports": found, "tasks": task_queries.list_current(session), "shapes": service.SHAPES, "error": error,
        "is_live": any(e.state in ("queued", "running") for e in found),
    }  # fmt: skip
    return pages.render(request, "exports/list.html", context, block="list", status=error.status if error else 200)
