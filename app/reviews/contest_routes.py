"""Contested findings: the adjudicators' list, and the two runs of one of them side by side."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import WorkbenchError
from app.evaluations import precision
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Contest
from app.reviews import contests, queries, service

router = steps(include_in_schema=False)
Adjudicator = Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]
State = Literal["open", "settled", ""]


@router.get("/contests")
def contests_page(
    request: Request,
    session: ReadSession,
    viewer: Adjudicator,
    *,
    state: State = "open",
    code: str = "",
    cursor: str | None = None,
) -> Response:
    page = queries.list_contests(session, viewer, state=state, code=code.strip(), cursor=cursor)
    context = {
        "rows": [(contest, contests.again(contest)) for contest in page.items], "next_cursor": page.next_cursor,
        "state": state, "code": code, "records": precision.records(session),
    }  # fmt: skip
    return pages.render(request, "contests/list.html", context)


@router.get("/contests/{public_id}")
def contest_page(request: Request, session: ReadSession, viewer: Adjudicator, public_id: str) -> Response:
    return _page(request, session, viewer, queries.find_contest(session, viewer, public_id))


@router.post("/contests/{public_id}")
def settle(
    request: Request,
    session: WriteSession,
    viewer: Adjudicator,
    public_id: str,
    *,
    upheld: Annotated[bool, Form()],
    because: Annotated[str, Form()] = "",
) -> Response:
    contest = queries.find_contest(session, viewer, public_id)
    try:
        service.settle_contest(session, viewer, contest, upheld=upheld, because=because)
    except WorkbenchError as error:
        return _page(request, session, viewer, contest, error=error, because=because)
    return RedirectResponse("/contests", 303)


def _page(
    request: Request,
    session: Session,
    viewer: Viewer,
    contest: Contest,
    *,
    error: WorkbenchError | None = None,
    because: str = "",
) -> Response:
    context = {
        "contest": contest, "again": contests.again(contest), "runs": contests.runs(contest), "error": error,
        "record": precision.records(session).get(contest.finding_code), "because": because,
        "may_settle": contest.upheld is None and service.may_settle(session, viewer, contest),
    }  # fmt: skip
    return pages.render(request, "contests/page.html", context, status=error.status if error else 200)
