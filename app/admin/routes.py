"""The admin's pages: what failed, who holds what, people, and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.accounts import queries as account_queries
from app.accounts import service as accounts
from app.accounts.access import role
from app.accounts.policy import Viewer
from app.admin import service
from app.assignments import oversight
from app.assignments import queries as assignment_queries
from app.domain.agreement import UNITS_MIN
from app.domain.review import Role
from app.errors import NotFound, WorkbenchError
from app.evaluations import queries as evaluation_queries
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, database_of, steps
from app.models import User, utc_now
from app.reviews import agreement, progress
from app.reviews import queries as review_queries
from app.webhooks import queries as webhook_queries

router = steps(include_in_schema=False)
Admin = Annotated[Viewer, Depends(role(Role.ADMIN))]
Staff = Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]
Text = Annotated[str, Form()]


@router.get("/admin")
def dashboard(request: Request, session: ReadSession, viewer: Staff) -> Response:
    context = {
        "evaluations": evaluation_queries.count_by_state(session), "slots": assignment_queries.count_states(session),
        "failed": evaluation_queries.failed(session), "leases": assignment_queries.live_leases(session, utc_now()),
        "broken": assignment_queries.broken(session), "contests": review_queries.count_open_contests(session),
        "people": progress.by_person(session, utc_now()), "enough": progress.ENOUGH,
        "depth": database_of(request).sender.depth(), "webhooks_disabled": webhook_queries.disabled(session),
    }  # fmt: skip
    return pages.render(request, "admin/dashboard.html", context)


@router.get("/admin/agreement")
def agreement_page(request: Request, session: ReadSession, viewer: Staff) -> Response:
    context = {
        "rows": agreement.rows(session), "units_min": UNITS_MIN, "reliable": agreement.RELIABLE,
        "tentative": agreement.TENTATIVE, "reviews_read": agreement.REVIEWS_READ,
    }  # fmt: skip
    return pages.render(request, "admin/agreement.html", context)


@router.post("/admin/evaluations/{public_id}/retry")
def retry(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.retry_evaluation(session, viewer, public_id)
    return RedirectResponse("/admin#failed", 303)


@router.post("/admin/slots/{public_id}/release")
def force_release(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    oversight.force_release(session, viewer, assignment_queries.find_slot(session, public_id))
    return RedirectResponse("/admin#leases", 303)


@router.get("/admin/people")
def people(request: Request, session: ReadSession, viewer: Admin) -> Response:
    return _people_page(request, session)


@router.post("/admin/people")
def add_person(
    request: Request,
    session: WriteSession,
    viewer: Admin,
    login: Text = "",
    name: Text = "",
    password: Text = "",
    team: Text = "",
    roles: Annotated[list[Role] | None, Form()] = None,
) -> Response:
    typed: dict[str, object] = {"login": login, "name": name, "team": team, "roles": [r.value for r in roles or []]}
    try:
        with session.begin_nested():
            accounts.create_user(
                session, login=login, name=name or login, roles=roles or [], password=password, team=team
            )
    except WorkbenchError as error:
        return _people_page(request, session, typed, error)
    return RedirectResponse("/admin/people", 303)


@router.post("/admin/people/{public_id}/roles")
def set_roles(
    session: WriteSession, viewer: Admin, public_id: str, roles: Annotated[list[Role] | None, Form()] = None
) -> Response:
    accounts.set_roles(session, viewer, _person(session, public_id), roles or [])
    return RedirectResponse("/admin/people", 303)


@router.post("/admin/people/{public_id}/pause")
def pause(session: WriteSession, viewer: Admin, public_id: str, paused: Annotated[bool, Form()]) -> Response:
    service.pause(session, viewer, _person(session, public_id), is_paused=paused)
    return RedirectResponse("/admin/people", 303)


@router.get("/admin/audit")
def audit(request: Request, session: ReadSession, viewer: Admin) -> Response:
    names = {user.id: user.name for user in account_queries.list_users(session)}
    return pages.render(request, "admin/audit.html", {"entries": service.audit_log(session, limit=200), "names": names})


def _person(session: ReadSession, public_id: str) -> User:
    found = account_queries.user_by_public_id(session, public_id)
    if found is None:
        raise NotFound(f"there is nobody with the id {public_id!r}")
    return found


def _people_page(
    request: Request, session: ReadSession, typed: dict[str, object] | None = None, error: WorkbenchError | None = None
) -> Response:
    blank = {"login": "", "name": "", "team": "", "roles": []}
    context = {
        "people": account_queries.list_users(session),
        "roles": list(Role),
        "typed": typed or blank,
        "error": error,
    }
    return pages.render(request, "admin/people.html", context, status=error.status if error else 200)
