"""Pages of rubrics: the list, a version as a reviewer sees it, the editor, its impact, and rulings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import Invalid, WorkbenchError
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import RubricVersion
from app.rubrics import content, lint, moves, queries, rulings, service
from app.rubrics.forms import mapping_of, read_mapping
from app.rubrics.impact import impact_of

router = steps(include_in_schema=False)
Reader = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
Admin = Annotated[Viewer, Depends(role(Role.ADMIN))]
Lead = Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]
Text = Annotated[str, Form()]
Mapped = Annotated[dict[str, str], Depends(read_mapping)]


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
    context = _checked(text)
    return pages.render_part(request, "rubrics/page.html", "preview", context)


@router.get("/rubrics/{public_id}")
def rubric_page(request: Request, session: ReadSession, viewer: Reader, public_id: str) -> Response:
    return _page(request, session, queries.find_version(session, public_id), viewer)


@router.get("/rubrics/{public_id}/yaml")
def as_yaml(session: ReadSession, viewer: Reader, public_id: str) -> Response:
    version = queries.find_version(session, public_id)
    name = f"{version.rubric.key}-{version.version}.yaml"
    return PlainTextResponse(
        service.export_yaml(version), headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@router.get("/rubrics/{public_id}/json")
def as_json(session: ReadSession, viewer: Reader, public_id: str) -> Response:
    version = queries.find_version(session, public_id)
    name = f"{version.rubric.key}-{version.version}.json"
    return Response(
        service.export_json(version), media_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )  # fmt: skip


@router.post("/rubrics/{public_id}/save")
def save(
    request: Request, session: WriteSession, viewer: Admin, public_id: str, text: Text = "", base: Text = ""
) -> Response:
    version = queries.find_version(session, public_id)
    try:
        with session.begin_nested():
            data = content.read_yaml(text).model_dump(mode="json")
            service.update_draft(session, viewer, version, data, base=base)
    except WorkbenchError as error:
        return _page(request, session, version, viewer, text=text, base=base, error=error)
    return RedirectResponse(f"/rubrics/{public_id}?saved=1", 303)


@router.get("/rubrics/{public_id}/impact")
def impact_page(request: Request, session: ReadSession, viewer: Admin, public_id: str) -> Response:
    """The dry run: what would change, and whom it would touch.  Leaving the page is cancelling."""
    version = queries.find_version(session, public_id)
    return _impact_page(request, session, version, mapping_of(request.query_params.multi_items()))


@router.post("/rubrics/{public_id}/publish")
def publish(
    request: Request, session: WriteSession, viewer: Admin, mapping: Mapped, public_id: str, seal: Text = "",
    drafts: Text = "",
) -> Response:  # fmt: skip
    """Publish what was shown, and with `drafts=move` move the drafts in the same transaction."""
    version = queries.find_version(session, public_id)
    try:
        with session.begin_nested():
            planned = moves.plan(session, version, mapping)
            moves.must_be_as_shown(planned, seal)
            service.publish(session, viewer, version)
            if drafts == "move":
                moves.move(session, viewer, planned, seal=seal)
    except WorkbenchError as error:
        return _impact_page(request, session, version, mapping, error=error)
    return RedirectResponse(f"/rubrics/{public_id}", 303)


@router.post("/rubrics/{public_id}/move")
def move_drafts(
    request: Request, session: WriteSession, viewer: Admin, mapping: Mapped, public_id: str, seal: Text = ""
) -> Response:
    version = queries.find_version(session, public_id)
    try:
        with session.begin_nested():
            moves.move(session, viewer, moves.plan(session, version, mapping), seal=seal)
    except WorkbenchError as error:
        return _impact_page(request, session, version, mapping, error=error)
    return RedirectResponse(f"/rubrics/{public_id}/impact", 303)


@router.post("/rubrics/{public_id}/rulings")
def make_ruling(
    request: Request, session: WriteSession, viewer: Lead, public_id: str, criterion: Text = "", body: Text = "",
    example: Text = "",
) -> Response:  # fmt: skip
    version = queries.find_version(session, public_id)
    try:
        with session.begin_nested():
            rulings.make_ruling(session, viewer, version, criterion=criterion, body=body, example=example)
    except WorkbenchError as error:
        typed = {"criterion": criterion, "body": body, "example": example}
        return _page(request, session, version, viewer, error=error, ruling=typed)
    return RedirectResponse(f"/rubrics/{public_id}#rulings", 303)


@router.post("/rubrics/{public_id}/rulings/{ruling_id}/withdraw")
def withdraw_ruling(session: WriteSession, viewer: Lead, public_id: str, ruling_id: str) -> Response:
    rulings.withdraw_ruling(session, viewer, queries.find_ruling(session, ruling_id))
    return RedirectResponse(f"/rubrics/{public_id}#rulings", 303)


@router.post("/rubrics/{public_id}/rulings/{ruling_id}/acknowledge")
def acknowledge_ruling(session: WriteSession, viewer: Reader, public_id: str, ruling_id: str) -> Response:
    rulings.acknowledge(session, viewer, [queries.find_ruling(session, ruling_id)])
    return RedirectResponse(f"/rubrics/{public_id}#rulings", 303)


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
    session: Session,
    version: RubricVersion,
    viewer: Viewer,
    *,
    text: str | None = None,
    base: str = "",
    error: WorkbenchError | None = None,
    ruling: dict[str, str] | None = None,
) -> Response:
    made = queries.rulings_of(session, version, withdrawn=True)
    before = queries.published_before(session, version)
    context = _checked(service.export_yaml(version) if text is None else text) | {
        "version": version, "versions": queries.list_versions(session, rubric_id=version.rubric_id), "error": error,
        "saved": request.query_params.get("saved", ""), "base": base or service.draft_sha256(version),
        "before": before, "changes": service.changed_since(before, version) if before else [],
        "rulings": made, "read": queries.acknowledged(session, viewer.id, [r.id for r in made]),
        "ruling": ruling or {"criterion": "", "body": "", "example": ""},
    }  # fmt: skip
    return pages.render(request, "rubrics/page.html", context, status=error.status if error else 200)


def _impact_page(
    request: Request,
    session: Session,
    version: RubricVersion,
    mapping: dict[str, str],
    *,
    error: WorkbenchError | None = None,
) -> Response:
    context = {"version": version, "impact": impact_of(session, version, mapping), "error": error}
    return pages.render(request, "rubrics/impact.html", context, status=error.status if error else 200)


def _checked(text: str) -> dict[str, Any]:
    """The rubric where it can be read, what keeps it from being published, and what is doubtful; each with its line."""
    try:
        remarks = lint.lint_text(text)
    except Invalid as error:
        return {"text": text, "rubric": None, "problems": [error.message], "doubts": []}
    try:
        rubric = content.read_yaml(text)
    except Invalid:
        rubric = None
    lines = [(r.is_fault, f"line {content.line_of(text, r.place)}: {r.where}: {r.message}") for r in remarks]
    return {
        "text": text, "rubric": rubric, "problems": [line for is_fault, line in lines if is_fault],
        "doubts": [line for is_fault, line in lines if not is_fault],
    }  # fmt: skip


def _list_page(
    request: Request, session: ReadSession, *, text: str = "", error: WorkbenchError | None = None
) -> Response:
    context = {"versions": queries.list_versions(session), "text": text, "error": error}
    return pages.render(request, "rubrics/list.html", context, status=error.status if error else 200)
