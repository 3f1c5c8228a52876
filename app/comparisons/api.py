"""Comparisons over REST: open one, list them, look at one."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer, require_role
from app.comparisons import queries, service
from app.comparisons.queries import Places
from app.domain.review import Role
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import ReviewSubject, Submission
from app.tasks import queries as task_queries

router = steps(prefix="/comparisons", tags=["comparisons"])
Reader = Annotated[Viewer, Depends(scope("read"))]
Reviewer = Annotated[Viewer, Depends(scope("review"))]


class ComparisonIn(BaseModel):
    """`task` is a name or an id, of the newest version where `version` says no other."""

    task: str
    version: int | None = None
    submissions: list[str]


class ComparisonOut(BaseModel):
    """`id` is the subject's.  Reviewers see `submissions` under letters, each in an order of their own."""

    id: str
    task: str
    version: int
    submissions: list[str]
    reviews_done: int
    reviews_wanted: int
    is_open: bool
    opened_at: dt.datetime


class ComparisonPage(BaseModel):
    items: list[ComparisonOut]
    next_cursor: str | None


@router.post("", status_code=201)
def open_comparison(request: Request, session: WriteSession, viewer: Reviewer, body: ComparisonIn) -> ComparisonOut:
    """Open one for review; 409 where the same are compared already, or one of them has no report yet."""
    version = task_queries.find_version(session, body.task, body.version)
    opened = service.open_comparison(session, request.app.state.settings, viewer, version, body.submissions)
    return _as_out(session, queries.find(session, viewer, opened.public_id))


@router.get("")
def list_comparisons(
    session: ReadSession, viewer: Reader, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> ComparisonPage:
    """Newest first, without those that the token's owner is too close to."""
    require_role(viewer, Role.ADJUDICATOR)
    page = queries.list_comparisons(session, viewer, cursor=cursor, limit=limit)
    keys = [subject.id for subject in page.items]
    members, places = queries.members_of(session, keys), queries.places_of(session, keys)
    items = [_out(subject, members[subject.id], places[subject.id]) for subject in page.items]
    return ComparisonPage(items=items, next_cursor=page.next_cursor)


@router.get("/{comparison_id}")
def show_comparison(session: ReadSession, viewer: Reader, comparison_id: str) -> ComparisonOut:
    require_role(viewer, Role.ADJUDICATOR)
    return _as_out(session, queries.find(session, viewer, comparison_id))


def _as_out(session: ReadSession, subject: ReviewSubject) -> ComparisonOut:
    members = queries.members_of(session, [subject.id])[subject.id]
    return _out(subject, members, queries.places_of(session, [subject.id])[subject.id])


def _out(subject: ReviewSubject, members: list[Submission], places: Places) -> ComparisonOut:
    return ComparisonOut(
        id=subject.public_id, task=subject.task_version.task.name, version=subject.task_version.version,
        submissions=[submission.public_id for submission in members], reviews_done=places.done,
        reviews_wanted=places.wanted, is_open=places.is_open, opened_at=subject.created_at,
    )  # fmt: skip
