"""Contested findings over REST: the adjudicators' list, one of them, and settling it."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer, require_role
from app.domain.review import Role
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import Contest
from app.reviews import contests, queries, service

router = steps(prefix="/contests", tags=["reviews"])
Reader = Annotated[Viewer, Depends(scope("read"))]
Reviewer = Annotated[Viewer, Depends(scope("review"))]
State = Literal["open", "settled", ""]


class SettleIn(BaseModel):
    """`upheld`: the reviewer was right, and the finding was false."""

    upheld: bool
    because: str


class ContestOut(BaseModel):
    """`again` says what the second run, `rerun`, made of it; `upheld` is null until it is settled."""

    id: str
    code: str
    workload: str | None
    reason: str
    raised_by: str
    created_at: dt.datetime
    submission: str
    evaluation: str
    rerun: str | None
    again: str
    upheld: bool | None
    settled_because: str
    settled_at: dt.datetime | None


class ContestPage(BaseModel):
    items: list[ContestOut]
    next_cursor: str | None


@router.get("")
def list_contests(
    session: ReadSession,
    viewer: Reader,
    *,
    state: State = "open",
    code: str = "",
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ContestPage:
    """Newest first, without those on work that the token's owner is too close to."""
    require_role(viewer, Role.ADJUDICATOR)
    page = queries.list_contests(session, viewer, state=state, code=code, cursor=cursor, limit=limit)
    return ContestPage(items=[_as_out(contest) for contest in page.items], next_cursor=page.next_cursor)


@router.get("/{contest_id}")
def show_contest(session: ReadSession, viewer: Reader, contest_id: str) -> ContestOut:
    require_role(viewer, Role.ADJUDICATOR)
    return _as_out(queries.find_contest(session, viewer, contest_id))


@router.post("/{contest_id}/settle")
def settle_contest(session: WriteSession, viewer: Reviewer, contest_id: str, body: SettleIn) -> ContestOut:
    """Uphold the contest or not, with a reason that its reviewer reads; 409 where it is settled already."""
    require_role(viewer, Role.ADJUDICATOR)
    contest = queries.find_contest(session, viewer, contest_id)
    service.settle_contest(session, viewer, contest, upheld=body.upheld, because=body.because)
    return _as_out(contest)


def _as_out(contest: Contest) -> ContestOut:
    return ContestOut(
        id=contest.public_id, code=contest.finding_code, workload=contest.workload, reason=contest.reason,
        raised_by=contest.raised_by.pseudonym, created_at=contest.created_at,
        submission=contest.evaluation.submission.public_id, evaluation=contest.evaluation.public_id,
        rerun=contest.rerun.public_id if contest.rerun else None, again=contests.again(contest),
        upheld=contest.upheld, settled_because=contest.settled_because, settled_at=contest.settled_at,
    )  # fmt: skip
