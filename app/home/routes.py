"""The first page, by role, and the catalogue of failure modes."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from sqlalchemy.orm import Session

from app.accounts.access import SignedIn
from app.accounts.policy import Viewer
from app.assignments.queue import Queue, list_queue
from app.domain.findings import REGISTER
from app.domain.review import Role
from app.evaluations import queries as evaluation_queries
from app.home.catalogue import REPORTS_READ, entries
from app.kit import pages, words  # noqa: F401 - importing `words` gives templates their filters
from app.kit.steps import ReadSession, steps
from app.models import utc_now
from app.reviews import progress
from app.reviews import queries as review_queries
from app.submissions import queries as submission_queries

router = steps(include_in_schema=False)
_RECENT = 5
_REVIEWS = (Role.REVIEWER, Role.ADJUDICATOR)


@router.get("/")
def home(request: Request, session: ReadSession, viewer: SignedIn) -> Response:
    mine = submission_queries.list_of_author(session, viewer.id, limit=_RECENT)
    context = {
        "queue": _queue(request, session, viewer), "mine": mine.items,
        "evaluations": evaluation_queries.latest_by_submission(session, [s.id for s in mine.items]),
        "failed": evaluation_queries.count_by_state(session)["failed"] if viewer.has(Role.ADMIN) else 0,
        "progress": progress.own(session, viewer.id, utc_now()) if viewer.has(*_REVIEWS) else None,
        "contests": review_queries.count_open_contests(session, viewer) if viewer.has(Role.ADJUDICATOR) else 0,
    }  # fmt: skip
    return pages.render(request, "home/home.html", context)


@router.get("/catalogue")
def catalogue(request: Request, session: ReadSession, viewer: SignedIn, q: str = "") -> Response:
    context = {"areas": entries(session, viewer, q), "q": q, "count": len(REGISTER), "reports_read": REPORTS_READ}
    return pages.render(request, "home/catalogue.html", context)


def places(viewer: Viewer) -> list[tuple[str, str]]:
    """The main menu: what this person can go to."""
    reviews = viewer.has(Role.REVIEWER, Role.ADJUDICATOR)
    rows: list[tuple[str, str, Any]] = [
        ("/", "Home", True), ("/queue", "Queue", reviews), ("/reviews", "Reviews", reviews),
        ("/submissions", "Submissions", True), ("/tasks", "Tasks", True), ("/rubrics", "Rubrics", reviews),
        ("/contests", "Contests", viewer.has(Role.ADJUDICATOR)),
        ("/comparisons", "Comparisons", viewer.has(Role.ADJUDICATOR)),
        ("/exports", "Exports", viewer.has(Role.ADJUDICATOR)),
        ("/catalogue", "Catalogue", True),
        ("/admin", "Admin", viewer.has(Role.ADMIN)),
    ]  # fmt: skip
    return [(href, title) for href, title, is_shown in rows if is_shown]


def _queue(request: Request, session: Session, viewer: Viewer) -> Queue | None:
    if not viewer.has(Role.REVIEWER, Role.ADJUDICATOR):
        return None
    return list_queue(session, request.app.state.settings, viewer)


pages.FILTERS["places"] = places
