"""Pages of comparisons: what is compared, how far it has come, what people said, and opening another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.comparisons import queries, service
from app.domain.ranking import MEMBERS_MAX, MEMBERS_MIN
from app.domain.review import ReviewState, Role
from app.errors import Invalid, WorkbenchError
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import ReviewSubject, Submission
from app.reviews import queries as review_queries
from app.reviews import ranking
from app.tasks import queries as task_queries

router = steps(include_in_schema=False)
Staff = Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]


@router.get("/comparisons")
def comparisons(
    request: Request, session: ReadSession, viewer: Staff, version: str = "", cursor: str | None = None
) -> Response:
    return _page(request, session, viewer, version=version, cursor=cursor)


@router.post("/comparisons")
def open_comparison(
    request: Request,
    session: WriteSession,
    viewer: Staff,
    version: Annotated[str, Form()] = "",
    submission: Annotated[list[str] | None, Form()] = None,
    others: Annotated[str, Form()] = "",
) -> Response:
    chosen = [*(submission or []), *(name for name in re.split(r"[\s,]+", others) if name)]
    try:
        with session.begin_nested():
            if not version:
                raise Invalid("no task is chosen", what_to_do="Choose one, then its submissions.")
            found = task_queries.find_version(session, version)
            opened = service.open_comparison(session, request.app.state.settings, viewer, found, chosen)
    except WorkbenchError as error:
        return _page(request, session, viewer, version=version, chosen=chosen, error=error)
    return RedirectResponse(f"/comparisons/{opened.public_id}", 303)


@router.get("/comparisons/{public_id}")
def comparison(request: Request, session: ReadSession, viewer: Staff, public_id: str) -> Response:
    subject = queries.find(session, viewer, public_id)
    members = queries.members_of(session, [subject.id])[subject.id]
    context = {
        "subject": subject, "members": members, "columns": _columns(session, viewer, subject),
        "places": queries.places_of(session, [subject.id])[subject.id],
        "verdicts": _verdicts(session, members),
    }  # fmt: skip
    return pages.render(request, "comparisons/one.html", context)


def _page(
    request: Request,
    session: ReadSession,
    viewer: Viewer,
    *,
    version: str,
    cursor: str | None = None,
    chosen: list[str] | None = None,
    error: WorkbenchError | None = None,
) -> Response:
    page = queries.list_comparisons(session, viewer, cursor=cursor)
    keys = [subject.id for subject in page.items]
    choosable = queries.choosable(session)
    picked = next((one.version for one in choosable if one.version.public_id == version), None)
    candidates = queries.candidates(session, viewer, picked.id) if picked else []
    context = {
        "page": page, "members": queries.members_of(session, keys), "places": queries.places_of(session, keys),
        "choosable": choosable, "picked": picked, "candidates": candidates,
        "verdicts": _verdicts(session, candidates), "chosen": chosen or [],
        "others": [one for one in chosen or [] if one not in {c.public_id for c in candidates}],
        "shown_max": queries.CANDIDATES_SHOWN, "least": MEMBERS_MIN, "most": MEMBERS_MAX, "error": error,
    }  # fmt: skip
    return pages.render(request, "comparisons/list.html", context, status=error.status if error else 200)


def _verdicts(session: ReadSession, submissions: Sequence[Submission]) -> dict[int, str | None]:
    return queries.verdicts_of(session, [submission.id for submission in submissions])


def _columns(session: ReadSession, viewer: Viewer, subject: ReviewSubject) -> list[dict[str, Any]]:
    """A column for each review that is in: where it puts each submission, under which letter it saw it."""
    columns = []
    for seen in review_queries.standing(review_queries.visible_reviews(session, viewer, subject.id)):
        if seen.review.state != ReviewState.SUBMITTED or seen.review.ranking is None:
            continue
        members = ranking.members_of(session, seen.review)
        said = ranking.read_back(seen.review.ranking)
        place_of = {letter: n for n, letters in enumerate(said.places, 1) for letter in letters}
        cells = {m.submission_id: (m.letter, place_of.get(m.letter)) for m in members}
        columns.append({"seen": seen, "said": said, "cells": cells})
    return columns
