"""Tasks over REST: the list, one task, and the upload of a bundle."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import Depends, File, Request, UploadFile
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer, require_role
from app.domain.review import Role
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import TaskVersion
from app.tasks import queries, service

router = steps(prefix="/tasks", tags=["tasks"])
Reader = Annotated[Viewer, Depends(scope("read"))]


class TaskOut(BaseModel):
    id: str
    name: str
    version: int
    title: str
    kind: str
    frameworks: list[str]
    entry: str
    description: str
    sha256: str
    created_at: dt.datetime
    spec: dict[str, Any]


def as_out(version: TaskVersion) -> TaskOut:
    return TaskOut(
        id=version.public_id, name=version.task.name, version=version.version, title=version.title, kind=version.kind,
        frameworks=version.frameworks, entry=version.entry, description=version.description, sha256=version.sha256,
        created_at=version.created_at, spec=service.public_spec(version),
    )  # fmt: skip


@router.get("")
def list_tasks(session: ReadSession, viewer: Reader) -> list[TaskOut]:
    """The newest version of each open task."""
    return [as_out(version) for version in queries.list_current(session)]


@router.get("/{name}")
def show_task(session: ReadSession, viewer: Reader, name: str, version: int | None = None) -> TaskOut:
    return as_out(queries.find_version(session, name, version))


@router.post("", status_code=201)
def upload_task(
    request: Request,
    session: WriteSession,
    viewer: Annotated[Viewer, Depends(scope("admin"))],
    bundle: Annotated[UploadFile, File()],
) -> TaskOut:
    """Take a task bundle as a zip or tar; the same version again gives the one there is."""
    require_role(viewer, Role.ADMIN)
    settings = request.app.state.settings
    version = service.upload_archive(session, settings, bundle.file.read(), actor_id=viewer.id)
    return as_out(version)
