"""Exports over REST: ask, look, download."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer, require_role
from app.domain.review import Role
from app.exports import queries, service
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Export

router = steps(prefix="/exports", tags=["exports"])
Exporter = Annotated[Viewer, Depends(scope("export"))]


class ExportIn(BaseModel):
    """`revisions` of corrected reviews: `current` (if nothing is said), `first` or `all`."""

    shape: str = "review"
    task: str | None = None
    since: str | None = None
    revisions: str | None = None


class ExportOut(BaseModel):
    id: str
    state: str
    shape: str
    filters: dict[str, Any]
    cutoff_at: dt.datetime
    manifest: dict[str, Any] | None
    failure: str | None


@router.post("", status_code=202)
def request_export(session: WriteSession, viewer: Exporter, body: ExportIn) -> ExportOut:
    filters = {"task": body.task, "since": body.since, "revisions": body.revisions}
    return _as_out(service.request_export(session, viewer, shape=body.shape, filters=filters))


@router.get("")
def list_exports(session: ReadSession, viewer: Exporter) -> list[ExportOut]:
    require_role(viewer, Role.ADJUDICATOR)
    return [_as_out(export) for export in queries.list_exports(session)]


@router.get("/{export_id}")
def show_export(session: ReadSession, viewer: Exporter, export_id: str) -> ExportOut:
    require_role(viewer, Role.ADJUDICATOR)
    return _as_out(queries.find(session, export_id))


@router.get("/{export_id}/file")
def download_export(request: Request, session: ReadSession, viewer: Exporter, export_id: str) -> FileResponse:
    require_role(viewer, Role.ADJUDICATOR)
    export = queries.find(session, export_id)
    path = service.file_of(request.app.state.settings, export)
    return FileResponse(path, media_type="application/jsonl", filename=f"{export.public_id}.jsonl")


def _as_out(export: Export) -> ExportOut:
    return ExportOut(
        id=export.public_id, state=export.state, shape=export.shape, filters=export.filters,
        cutoff_at=export.cutoff_at, manifest=export.manifest, failure=export.failure,
    )  # fmt: skip
