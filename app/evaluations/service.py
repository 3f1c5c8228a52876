"""Evaluations: asked for, claimed by one worker at a time, recorded once.

The row is the truth.  Each step is one guarded update on the state and the attempt's id, so a
message that comes twice, a worker that was thought dead, and a late result all do no harm.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.config import Settings
from app.domain.events import Event
from app.domain.report import Report
from app.domain.review import EvaluationState
from app.errors import Conflict, TooLarge
from app.evaluations import queries
from app.kit import queue, strict_json
from app.models import Evaluation, EvaluationEvent, new_public_id, utc_now
from app.webhooks import outbox

JOB = "evaluate"


@dataclass(frozen=True)
class Attempt:
    """One worker's right to evaluate; it lasts as long as it beats."""

    evaluation_id: str
    attempt_id: str
    number: int


class AttemptSuperseded(Conflict):
    """The evaluation went on without this attempt: its result is refused."""


def request_evaluation(
    session: Session, submission_id: int, *, requested_by_id: int | None = None, reason: str = "submission"
) -> Evaluation:
    """Queue an evaluation; the message goes out after commit."""
    evaluation = Evaluation(
        submission_id=submission_id, requested_by_id=requested_by_id, reason=reason, state=EvaluationState.QUEUED.value,
        sent_at=utc_now(), attempts=0, progress=[],
    )  # fmt: skip
    session.add(evaluation)
    session.flush()
    _note(session, evaluation.id, "queued", None, reason=reason)
    queue.enqueue(session, JOB, queue=queue.EVALUATIONS, evaluation_id=evaluation.public_id)
    return evaluation


def claim(session: Session, settings: Settings, evaluation_id: str, worker: str) -> Attempt | None:
    """Take a queued evaluation; None when somebody else has it or it has ended."""
    now, attempt_id = utc_now(), new_public_id("att")
    taken = _guarded(
        session,
        (Evaluation.public_id == evaluation_id, Evaluation.state == EvaluationState.QUEUED),
        state=EvaluationState.RUNNING.value, attempts=Evaluation.attempts + 1, attempt_id=attempt_id, worker=worker,
        lease_until=now + dt.timedelta(seconds=settings.evaluation_lease_seconds), heartbeat_at=now, started_at=now,
        progress=[], failure=None,
    )  # fmt: skip
    if not taken:
        return None
    evaluation = queries.find(session, evaluation_id)
    _note(session, evaluation.id, "claimed", attempt_id, worker=worker, number=evaluation.attempts)
    queue.announce(session, channel(evaluation_id))
    return Attempt(evaluation_id, attempt_id, evaluation.attempts)


def heartbeat(
    session: Session, settings: Settings, attempt: Attempt, progress: list[dict[str, Any]] | None = None
) -> bool:
    """Extend the lease and show the stages so far; False tells the worker that it lost its right."""
    now = utc_now()
    values: dict[str, Any] = {
        "heartbeat_at": now, "lease_until": now + dt.timedelta(seconds=settings.evaluation_lease_seconds)
    }  # fmt: skip
    if progress is not None:
        values["progress"] = progress
        queue.announce(session, channel(attempt.evaluation_id))
    return _guarded(session, _held_by(attempt), **values)


def record(session: Session, settings: Settings, attempt: Attempt, report: Report) -> Evaluation:
    """Keep the report and end the evaluation; a late one from a superseded attempt is refused."""
    data = strict_json.scrubbed(report.to_json())  # what a kernel prints may hold what no database keeps
    size = len(_canonical(data))
    if size > settings.report_bytes_max:
        raise TooLarge(f"the report has {size} bytes of JSON; {settings.report_bytes_max} are kept")
    now = utc_now()
    stages = [{"name": s.name.value, "status": s.status.value, "seconds": s.seconds} for s in report.stages]
    ended = _guarded(
        session, _held_by(attempt), state=EvaluationState.DONE.value, report=data, verdict=report.verdict.value,
        ended_at=now, heartbeat_at=now, lease_until=None, progress=stages,
    )  # fmt: skip
    if not ended:
        raise AttemptSuperseded(f"attempt {attempt.number} of {attempt.evaluation_id} was superseded")
    evaluation = queries.find(session, attempt.evaluation_id)
    _note(session, evaluation.id, "recorded", attempt.attempt_id, verdict=report.verdict.value)
    _tell(session, Event.SUBMISSION_EVALUATED, evaluation)
    queue.announce(session, channel(attempt.evaluation_id))
    return evaluation


def fail(
    session: Session, settings: Settings, attempt: Attempt, reason: str, *, is_final: bool = False
) -> EvaluationState | None:
    """Our own fault: queue it again, or give up after the last attempt.  None: no longer this attempt's.

    `is_final` gives up at once: the next attempt would fail in the same way.
    """
    spent = is_final or attempt.number >= settings.attempts_max
    state = EvaluationState.FAILED if spent else EvaluationState.QUEUED
    now = utc_now()
    changed = _guarded(
        session, _held_by(attempt), state=state.value, failure=reason, lease_until=None, attempt_id=None, sent_at=now,
        ended_at=now if spent else None,
    )  # fmt: skip
    if not changed:
        return None
    evaluation = queries.find(session, attempt.evaluation_id)
    _note(session, evaluation.id, "given_up" if spent else "attempt_failed", attempt.attempt_id, reason=reason)
    if spent:
        _tell(session, Event.EVALUATION_FAILED, evaluation)
    else:
        queue.enqueue(session, JOB, queue=queue.EVALUATIONS, evaluation_id=attempt.evaluation_id)
    queue.announce(session, channel(attempt.evaluation_id))
    return state


def retry(session: Session, evaluation: Evaluation, *, requested_by_id: int) -> None:
    """An admin's second chance for a failed evaluation: its attempts are counted anew."""
    again = _guarded(
        session, (Evaluation.id == evaluation.id, Evaluation.state == EvaluationState.FAILED),
        state=EvaluationState.QUEUED.value, attempts=0, sent_at=utc_now(), ended_at=None,
        requested_by_id=requested_by_id,
    )  # fmt: skip
    if not again:
        raise Conflict("only a failed evaluation can be tried again")
    _note(session, evaluation.id, "retried", None, by=requested_by_id)
    queue.enqueue(session, JOB, queue=queue.EVALUATIONS, evaluation_id=evaluation.public_id)


@dataclass(frozen=True)
class Swept:
    resent: int = 0
    recovered: int = 0


def sweep(session: Session, settings: Settings, *, broker_depth: int | None) -> Swept:
    """Recover what stopped beating, and send again what no message stands for any more.

    `broker_depth` is how many messages the broker holds, asked before this transaction.
    """
    recovered = 0
    for row in queries.expired(session, utc_now()):
        attempt = Attempt(row.public_id, row.attempt_id or "", row.attempts)
        silent = f"the worker {row.worker} stopped answering"
        recovered += fail(session, settings, attempt, silent) is not None
    return Swept(_resend(session, settings, broker_depth), recovered)


def channel(evaluation_id: str) -> str:
    return f"workbench:{evaluation_id}"


def _resend(session: Session, settings: Settings, broker_depth: int | None) -> int:
    """Duplicates are harmless but not free: while enough messages wait, only very old ones are sent again."""
    queued = queries.count_by_state(session)[EvaluationState.QUEUED.value]
    is_covered = broker_depth is not None and broker_depth >= queued
    patience = settings.resend_after_seconds * (20 if is_covered else 1)
    rows = queries.unclaimed(session, utc_now() - dt.timedelta(seconds=patience))
    for row in rows:
        row.sent_at = utc_now()
        _note(session, row.id, "sent_again", None)
        queue.enqueue(session, JOB, queue=queue.EVALUATIONS, evaluation_id=row.public_id)
    return len(rows)


def _held_by(attempt: Attempt) -> tuple[Any, ...]:
    return (
        Evaluation.public_id == attempt.evaluation_id,
        Evaluation.state == EvaluationState.RUNNING,
        Evaluation.attempt_id == attempt.attempt_id,
    )


def _guarded(session: Session, conditions: tuple[Any, ...], **values: Any) -> bool:
    """One conditional update; True when exactly this row was still as the conditions say."""
    statement = update(Evaluation).where(*conditions).values(**values).returning(Evaluation.id)
    changed = session.execute(statement, execution_options={"synchronize_session": "fetch"})
    return len(changed.scalars().all()) == 1


def _note(session: Session, evaluation_id: int, kind: str, attempt_id: str | None, **detail: Any) -> None:
    session.add(EvaluationEvent(evaluation_id=evaluation_id, kind=kind, attempt_id=attempt_id, detail=detail))


def _tell(session: Session, event: Event, evaluation: Evaluation) -> None:
    submission_id = evaluation.submission.public_id
    path = f"/submissions/{submission_id}"
    outbox.emit(session, event, path=path, submission=submission_id, evaluation=evaluation.public_id)


def _canonical(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()
