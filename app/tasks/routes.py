"""Pages of tasks: the list, one task as its reader may see it, and the upload of a bundle."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, File, Request, Response, UploadFile
from fastapi.responses import RedirectResponse

from app.accounts.access import SignedIn, role
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import WorkbenchError
from app.kit import pages
from app.kit.source import SourceFile, coloured_all
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import TaskVersion
from app.tasks import policy, queries, service

router = steps(include_in_schema=False)
Admin = Annotated[Viewer, Depends(role(Role.ADMIN))]
# `task.toml` names the hidden workloads, so only those who may see them see the file.
_TELLS_HIDDEN = "task.toml"


@router.get("/tasks")
def tasks(request: Request, session: ReadSession, viewer: SignedIn, kind: str = "", framework: str = "") -> Response:
    return _list_page(request, session, kind=kind, framework=framework)


@router.post("/tasks")
def upload(request: Request, session: WriteSession, viewer: Admin, bundle: Annotated[UploadFile, File()]) -> Response:
    settings = request.app.state.settings
    try:
        with session.begin_nested():
            version = service.upload_archive(session, settings, bundle.file.read(), actor_id=viewer.id)
    except WorkbenchError as error:
        return _list_page(request, session, error=error)
    return RedirectResponse(f"/tasks/{version.task.name}", 303)


@router.get("/tasks/{name}")
def task_page(
    request: Request, session: ReadSession, viewer: SignedIn, name: str, version: int | None = None
) -> Response:
    found = queries.find_version(session, name, version)
    sees_hidden = policy.sees_hidden(viewer)
    context = {
        "task": found,
        "versions": queries.list_versions(session, found.task_id),
        "sees_hidden": sees_hidden,
        "spec": found.spec if sees_hidden else service.public_spec(found),
        "files": _files(request, found, sees_hidden=sees_hidden),
        "may_submit": viewer.has(Role.SUBMITTER),
    }
    return pages.render(request, "tasks/page.html", context)


@router.post("/tasks/{name}/retire")
def retire(session: WriteSession, viewer: Admin, name: str) -> Response:
    service.retire(session, queries.find_version(session, name).task, actor_id=viewer.id)
    return RedirectResponse(f"/tasks/{name}", 303)


def _files(request: Request, version: TaskVersion, *, sees_hidden: bool) -> list[SourceFile]:
    tree = service.files_of(request.app.state.settings, version)
    shown = [
        path for path in sorted(tree, key=lambda p: (p != "reference.py", p)) if sees_hidden or path != _TELLS_HIDDEN
    ]
    return coloured_all((path, tree[path].decode("utf-8", "replace")) for path in shown)


def _list_page(
    request: Request, session: ReadSession, *, kind: str = "", framework: str = "", error: WorkbenchError | None = None
) -> Response:
    everything = queries.list_current(session)
    found = [t for t in everything if (not kind or t.kind == kind) and (not framework or framework in t.frameworks)]
    context: dict[str, Any] = {
        "tasks": found,
        "kind": kind,
        "framework": framework,
        "error": error,
        "kinds": sorted({t.kind for t in everything}),
        "frameworks": sorted({f for t in everything for f in t.frameworks}),
    }
    return pages.render(request, "tasks/list.html", context, status=error.status if error else 200)
