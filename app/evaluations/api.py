"""Evaluations over REST: state, report, and a stream that says when to look again."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.domain.report import Report
from app.domain.review import EvaluationState, Role
from app.errors import Conflict, NotFound
from app.evaluations import queries, service
from app.kit.db import Database
from app.kit.queue import redis_url
from app.kit.steps import ReadSession, database_of, steps
from app.models import Evaluation
from app.tasks import policy as task_policy

router = steps(prefix="/evaluations", tags=["evaluations"])
Reader = Annotated[Viewer, Depends(scope("read"))]
_ENDED = (EvaluationState.DONE, EvaluationState.FAILED)
LOOK_AGAIN_SECONDS = 5.0


class EvaluationOut(BaseModel):
    id: str
    submission: str
    state: str
    verdict: str | None
    failure: str | None
    attempts: int
    stages: list[dict[str, Any]]
    queued_at: dt.datetime
    started_at: dt.datetime | None
    ended_at: dt.datetime | None


@router.get("/{evaluation_id}")
def show_evaluation(session: ReadSession, viewer: Reader, evaluation_id: str) -> EvaluationOut:
    evaluation = _visible(session, viewer, evaluation_id)
    return EvaluationOut(
        id=evaluation.public_id, submission=evaluation.submission.public_id, state=evaluation.state,
        verdict=evaluation.verdict, failure=evaluation.failure if viewer.is_staff else None,
        attempts=evaluation.attempts, stages=evaluation.progress, queued_at=evaluation.created_at,
        started_at=evaluation.started_at, ended_at=evaluation.ended_at,
    )  # fmt: skip


@router.get("/{evaluation_id}/report")
def show_report(session: ReadSession, viewer: Reader, evaluation_id: str) -> dict[str, Any]:
    """The whole report for reviewers; for the author the form that keeps hidden workloads hidden."""
    evaluation = _visible(session, viewer, evaluation_id)
    if evaluation.report is None:
        raise Conflict(f"the evaluation is {evaluation.state}: there is no report yet", what_to_do="Ask again later.")
    return report_for(viewer, evaluation)


@router.get("/{evaluation_id}/events")
async def events(request: Request, viewer: Reader, evaluation_id: str) -> StreamingResponse:
    """Server-sent events that say only "changed"; fetch the evaluation again to see what."""
    database = database_of(request)
    await run_in_threadpool(_has_ended, database, viewer, evaluation_id)  # 404 before the stream begins
    stream = _changes(request, database, viewer, evaluation_id)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def report_for(viewer: Viewer, evaluation: Evaluation) -> dict[str, Any]:
    """What of the report this person may see."""
    report = evaluation.report or {}
    is_author = evaluation.submission.author_id == viewer.id
    if not is_author and task_policy.sees_hidden(viewer):
        return report
    return Report.from_json(report).for_submitter().to_json()


def _visible(session: Session, viewer: Viewer, evaluation_id: str) -> Evaluation:
    evaluation = queries.find(session, evaluation_id)
    if evaluation.submission.author_id != viewer.id and not viewer.has(Role.REVIEWER, Role.ADJUDICATOR):
        raise NotFound(f"there is no evaluation {evaluation_id!r}")
    return evaluation


def _has_ended(database: Database, viewer: Viewer, evaluation_id: str) -> bool:
    with database.read() as session:
        return _visible(session, viewer, evaluation_id).state in _ENDED


async def _changes(request: Request, database: Database, viewer: Viewer, evaluation_id: str) -> AsyncIterator[str]:
    """Say "changed" at once, on each notice, and now and then, so that a lost notice only delays."""
    notices = _Notices(redis_url(request.app.state.settings), service.channel(evaluation_id))
    try:
        while True:
            yield "event: changed\ndata: changed\n\n"
            if await run_in_threadpool(_has_ended, database, viewer, evaluation_id):
                yield "event: ended\ndata: ended\n\n"
                return
            await notices.wait(LOOK_AGAIN_SECONDS)
    finally:
        await notices.close()


class _Notices:
    """The broker's channel; where there is no broker, waiting is just waiting."""

    def __init__(self, url: str, channel: str) -> None:
        from redis.asyncio import Redis

        self._redis = Redis.from_url(url, socket_connect_timeout=2)
        self._channel = channel
        self._pubsub: Any = None

    async def wait(self, seconds: float) -> None:
        from redis.exceptions import RedisError

        try:
            if self._pubsub is None:
                pubsub = self._redis.pubsub(ignore_subscribe_messages=True)
                await pubsub.subscribe(self._channel)
                self._pubsub = pubsub
            await self._next_message(seconds)
        except (RedisError, OSError):
            self._pubsub = None
            await asyncio.sleep(min(seconds, 1.0))

    async def _next_message(self, seconds: float) -> None:
        """Returns at the first message; the subscription's own confirmation is not one."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0:
            if await self._pubsub.get_message(timeout=left) is not None:
                return

    async def close(self) -> None:
        if self._pubsub is not None:
            await self._pubsub.aclose()
        await self._redis.aclose()
