"""The admin's page of the queue: what is stuck and why, giving items to people, due dates, caps and expertise."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.accounts import queries as account_queries
from app.accounts.access import role
from app.accounts.policy import Viewer, viewer_of
from app.admin import service
from app.assignments import oversight
from app.assignments import queries as assignment_queries
from app.assignments.stuck import find_stuck
from app.domain.review import Role
from app.errors import Invalid, NotFound
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import User
from app.submissions import queries as submission_queries

router = steps(include_in_schema=False)
Admin = Annotated[Viewer, Depends(role(Role.ADMIN))]
Text = Annotated[str, Form()]


@router.get("/admin/queue", dependencies=[Depends(role(Role.ADMIN))])
def queue_page(request: Request, session: ReadSession) -> Response:
    people = [p for p in account_queries.list_users(session) if {"reviewer", "adjudicator"} & set(p.roles)]
    return pages.render(request, "admin/queue.html", {"stuck": find_stuck(session), "people": people})


@router.post("/admin/slots/{public_id}/give")
def give(session: WriteSession, viewer: Admin, public_id: str, person: Text = "") -> Response:
    """To one person, or with none named back to everybody."""
    chosen = viewer_of(_person(session, person)) if person else None
    oversight.reassign(session, viewer, assignment_queries.find_slot(session, public_id), chosen)
    return RedirectResponse("/admin/queue", 303)


@router.post("/admin/submissions/due")
def set_due(session: WriteSession, viewer: Admin, submission: Text = "", due: Text = "") -> Response:
    found = submission_queries.find(session, submission.strip())
    subject = submission_queries.subject_of(session, found.id)
    if subject is None:
        raise NotFound("this submission is not under review")
    oversight.set_due(session, viewer, subject, _moment(due))
    return RedirectResponse("/admin/queue", 303)


@router.post("/admin/slots/{public_id}/forget-refusals")
def forget_refusals(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    oversight.forget_refusals(session, viewer, assignment_queries.find_slot(session, public_id).subject)
    return RedirectResponse("/admin/queue", 303)


@router.post("/admin/people/{public_id}/queue")
def set_queue(session: WriteSession, viewer: Admin, public_id: str, cap: Text = "", expertise: Text = "") -> Response:
    if cap and not (cap.isascii() and cap.isdigit() and int(cap) <= 10_000):
        raise Invalid("the cap is no number of reviews", what_to_do="Leave it empty for no cap.")
    words = [word.strip() for word in expertise.split(",") if word.strip()]
    service.set_queue(session, viewer, _person(session, public_id), cap=int(cap) if cap else None, expertise=words)
    return RedirectResponse("/admin/queue", 303)


def _moment(text: str) -> dt.datetime | None:
    """As a browser's date field writes it, in UTC; None for an empty one."""
    if not text:
        return None
    try:
        return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    except ValueError:
        raise Invalid(f"{text!r} is no date", what_to_do="Write it as 2027-01-31T12:00 (UTC).") from None


def _person(session: WriteSession, public_id: str) -> User:
    found = account_queries.user_by_public_id(session, public_id)
    if found is None:
        raise NotFound(f"there is nobody with the id {public_id!r}")
    return found
