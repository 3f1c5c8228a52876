"""What is taken as an import: JSON Lines as the body of a call, or as a file in a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from app.accounts.access import role, scope
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import Invalid, WorkbenchError
from app.imports import service
from app.imports.service import Upload
from app.submissions.fields import RowIn

# There is no registered name; these are in use.
CONTENT_TYPES = ("application/jsonl", "application/x-ndjson", "application/x-jsonlines", "application/json-lines")
PATHS = ("/api/v1/submissions/bulk", "/imports")

OPENAPI = {
    "requestBody": {
        "required": True,
        "description": "One JSON object on each line, with the fields below.",
        "content": {CONTENT_TYPES[0]: {"schema": RowIn.model_json_schema()}},
    }
}


@dataclass(frozen=True)
class ImportForm:
    """A kept file, or why there is none."""

    upload: Upload | None
    is_dry_run: bool
    error: WorkbenchError | None = None


async def read_body(request: Request, viewer: Annotated[Viewer, Depends(scope("submit"))]) -> Upload:  # noqa: ARG001 - who may not send is refused before anything is read
    """A dependency: the body, kept before the transaction begins."""
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind not in CONTENT_TYPES:
        raise Invalid(f"the content type {kind or '(none)'!r} is not taken", what_to_do=f"Send {CONTENT_TYPES[0]}.")
    data = await request.body()
    return await run_in_threadpool(service.keep_upload, request.app.state.settings, data)


async def read_form(request: Request, viewer: Annotated[Viewer, Depends(role(Role.SUBMITTER))]) -> ImportForm:  # noqa: ARG001 - as above
    """A dependency: the form's file, kept before the transaction begins."""
    form = await request.form()
    file, is_dry_run = form.get("file"), bool(form.get("dry_run"))
    data = await file.read() if isinstance(file, UploadFile) else b""
    await form.close()
    try:
        kept = await run_in_threadpool(service.keep_upload, request.app.state.settings, data)
    except WorkbenchError as error:
        return ImportForm(None, is_dry_run, error)
    return ImportForm(kept, is_dry_run)
