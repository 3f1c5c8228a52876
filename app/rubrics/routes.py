"""Pages of rubrics: the list, a version as a reviewer sees it, and the editor of drafts with its live preview."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import Invalid, WorkbenchError
from app.kit import pages
from app.kit.db import ReadSession, WriteSession
from app.models import RubricVersion
from app.rubrics import content, queries, service

router = APIRouter(include_in_schema=False)
Reader = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
Admin = Annotated[Viewer, Depends(role(Role.ADMIN))]
Text = Annotated[str, Form()]


@router.get("/rubrics")
def rubrics(request: Request, session: ReadSession, viewer: Reader) -> Response:
    return _list_page(request, session)


@router.post("/rubrics")
def import_rubric(request: Request, session: WriteSession, viewer: Admin, text: Text = "") -> Response:
    try:
        with session.begin_nested():
            draft = service.import_yaml(session, viewer, text)
    except WorkbenchError as error:
        return _list_page(request, session, text=text, error=error)
    return RedirectResponse(f"/rubrics/{draft.public_id}", 303)


@router.post("/rubrics/preview")
def preview(request: Request, viewer: Admin, text: Text = "") -> Response:
    """What the typed YAML would look like, or what is wrong with it; nothing is kept."""
    context = _checked(text) | {"version": None, "versions": []}
    return pages.render_part(request, "rubrics/page.html", "preview", context)


@router.get("/rubrics/{public_id}")
def rubric_page(request: Request, session: ReadSession, viewer: Reader, public_id: str) -> Response:
    return _page(request, session, queries.find_version(session, public_id))


@router.get("/rubrics/{public_id}/yaml")
def as_yaml(session: ReadSession, viewer: Reader, public_id: str) -> Response:
    version = queries.find_version(session, public_id)
    name = f"{version.rubric.key}-{version.version}.yaml"
    return PlainTextResponse(
        service.export_yaml(version), headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@router.post("/rubrics/{public_id}/save")
def save(request: Request, session: WriteSession, viewer: Admin, public_id: str, text: Text = "") -> Response:
    version = queries.find_version(session, public_id)
    try:
        with session.begin_nested():
            service.update_draft(session, viewer, version, content.read_yaml(text).model_dump(mode="json"))
    except WorkbenchError as error:
        return _page(request, session, version, text=text, error=error)
    return RedirectResponse(f"/rubrics/{public_id}?saved=1", 303)


@router.post("/rubrics/{public_id}/publish")
def publish(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.publish(session, viewer, queries.find_version(session, public_id))
    return RedirectResponse(f"/rubrics/{public_id}", 303)


@router.post("/rubrics/{public_id}/retire")
def retire(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.retire(session, viewer, queries.find_version(session, public_id))
    return RedirectResponse(f"/rubrics/{public_id}", 303)


@router.post("/rubrics/{public_id}/draft")
def next_draft(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    """The draft of the next version, which starts as a copy of this one."""
    draft = service.create_draft(session, viewer, queries.find_version(session, public_id).content)
    return RedirectResponse(f"/rubrics/{draft.public_id}", 303)


@router.post("/rubrics/{public_id}/clone")
def clone(session: WriteSession, viewer: Admin, public_id: str, key: Text = "", title: Text = "") -> Response:
    draft = service.clone(
        session, viewer, queries.find_version(session, public_id), key=key.strip(), title=title.strip() or None
    )
    return RedirectResponse(f"/rubrics/{draft.public_id}", 303)


def _page(
    request: Request,
    session: ReadSession,
    version: RubricVersion,
    *,
    text: str | None = None,
    error: WorkbenchError | None = None,
) -> Response:
    typed = service.export_yaml(version) if text is None else text
    context = _checked(typed) | {
        "version": version, "versions": queries.list_versions(session, rubric_id=version.rubric_id), "error": error,
        "saved": request.query_params.get("saved", ""),
    }  # fmt: skip
    return pages.render(request, "rubrics/page.html", context, status=error.status if error else 200)


def _checked(text: str) -> dict[str, Any]:
    try:
        return {"text": text, "rubric": content.read_yaml(text), "problems": []}
    except Invalid as error:
        problems = error.details.get("problems") or [error.message]
        return {"text": text, "rubric": None, "problems": problems}


def _list_page(
    request: Request, session: ReadSession, *, text: str = "", error: WorkbenchError | None = None
) -> Response:
    context = {"versions": queries.list_versions(session), "text": text, "error": error}
    return pages.render(request, "rubrics/list.html", context, status=error.status if error else 200)
