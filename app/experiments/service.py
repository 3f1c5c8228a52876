"""Experiments: asked for by a reviewer, run once by a worker, kept as evidence.

They go the way of evaluations, with limits of their own: few at a time, each short.  The lease covers the whole time
limit, so nothing beats; `attempts` is the fence that refuses a late worker.
"""

from __future__ import annotations

import datetime as dt
import difflib
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.config import Settings
from app.domain.report import Report
from app.domain.request import EvaluationRequest
from app.domain.review import EvaluationState, ExperimentTarget, Role
from app.errors import Conflict, Invalid, NotPermitted, TooLarge, TooManyRequests
from app.experiments import derived, outcome, policy, queries
from app.kit import audit, queue, strict_json, trees
from app.kit.blobs import BlobStore
from app.models import Experiment, Review, Submission, User, utc_now

JOB = "experiment"
LEASE_MARGIN_SECONDS = 60
SEED_BELOW = 1 << 31
PROPOSAL_LENGTH_MAX = 2000


@dataclass(frozen=True)
class Asked:
    """What a reviewer wants to know.  `seed` None: a new one.  `sources`: path -> text, where it differs."""

    params: dict[str, Any]
    target: ExperimentTarget = ExperimentTarget.SUBMISSION
    seed: int | None = None
    family: str = ""
    tolerance: dict[str, float] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Attempt:
    """One worker's right to run an experiment."""

    experiment_id: str
    number: int


class AttemptSuperseded(Conflict):
    """The experiment went on without this attempt: its result is refused."""


def request_experiment(
    session: Session, settings: Settings, viewer: Viewer, review: Review, asked: Asked
) -> Experiment:
    """Queue an experiment; whatever the task cannot be asked is refused here, and not by a worker later."""
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    submission = queries.submission_of(session, review)
    if not policy.may_run(viewer, review):
        raise NotPermitted("experiments belong to a review that you are writing", what_to_do="Claim the item first.")
    if submission is None:
        raise Invalid("this subject has nothing to run")
    if asked.seed is not None and not 0 <= asked.seed < SEED_BELOW:
        raise Invalid(f"a seed is a whole number from 0 to {SEED_BELOW - 1}")
    experiment = Experiment(
        review_id=review.id, requested_by_id=viewer.id, submission=submission, target=asked.target.value,
        params=asked.params, seed=secrets.randbelow(SEED_BELOW) if asked.seed is None else asked.seed,
        family=asked.family, tolerance=asked.tolerance, patch=_patch(settings, submission, asked),
        state=EvaluationState.QUEUED.value, sent_at=utc_now(), attempts=0, proposal="",
    )  # fmt: skip
    derived.task_files(settings, experiment)
    derived.candidate_files(settings, experiment)
    _check_limit(session, settings, viewer)
    session.add(experiment)
    session.flush()
    audit.note(session, viewer.id, "experiment.request", experiment.public_id, review=review.public_id)
    _send(session, experiment.public_id)
    return experiment


def claim(session: Session, settings: Settings, experiment_id: str) -> Attempt | None:
    """Take a queued experiment; None when somebody else has it or it has ended."""
    now = utc_now()
    until = now + dt.timedelta(seconds=settings.experiment_seconds_max + LEASE_MARGIN_SECONDS)
    taken = _guarded(
        session, (Experiment.public_id == experiment_id, Experiment.state == EvaluationState.QUEUED),
        state=EvaluationState.RUNNING.value, attempts=Experiment.attempts + 1, started_at=now, lease_until=until,
    )  # fmt: skip
    return Attempt(experiment_id, queries.find(session, experiment_id).attempts) if taken else None


def lay_out(session: Session, settings: Settings, attempt: Attempt, place: Path) -> EvaluationRequest:
    """The derived task and what is to run, in folders of their own."""
    experiment = queries.find(session, attempt.experiment_id)
    files, framework = derived.candidate_files(settings, experiment)
    task_folder, source_folder = place / "task", place / "submission"
    task_folder.mkdir()
    source_folder.mkdir()
    trees.lay_out(derived.task_files(settings, experiment), task_folder)
    trees.lay_out(files, source_folder)
    return EvaluationRequest(
        task_folder=task_folder,
        submission=source_folder / next(iter(files)) if len(files) == 1 else source_folder,
        framework=framework,
        secret=experiment.seed.to_bytes(32, "big"),
    )


def record(session: Session, settings: Settings, attempt: Attempt, report: Report) -> None:
    data = strict_json.scrubbed(report.to_json())
    if (size := len(json.dumps(data, separators=(",", ":")))) > settings.report_bytes_max:
        raise TooLarge(f"the report has {size} bytes of JSON; {settings.report_bytes_max} are kept")
    ended = _guarded(
        session, _held_by(attempt), state=EvaluationState.DONE.value, report=data, verdict=report.verdict.value,
        outcome=strict_json.scrubbed(outcome.of(report)), ended_at=utc_now(), lease_until=None, failure=None,
    )  # fmt: skip
    if not ended:
        raise AttemptSuperseded(f"attempt {attempt.number} of {attempt.experiment_id} was superseded")


def fail(session: Session, settings: Settings, attempt: Attempt, reason: str, *, is_final: bool = False) -> None:
    """Our own fault: try again until the attempts are spent; `is_final` where the next would fail the same way."""
    spent = is_final or attempt.number >= settings.attempts_max
    state = EvaluationState.FAILED if spent else EvaluationState.QUEUED
    now = utc_now()
    changed = _guarded(
        session, _held_by(attempt), state=state.value, failure=reason, lease_until=None, sent_at=now,
        ended_at=now if spent else None,
    )  # fmt: skip
    if changed and not spent:
        _send(session, attempt.experiment_id)


def sweep(session: Session, settings: Settings) -> int:
    """Send again what no worker took, and what a worker lost; how many."""
    now = utc_now()
    found = queries.lost(session, now, now - dt.timedelta(seconds=settings.resend_after_seconds))
    for experiment in found:
        if experiment.state == EvaluationState.RUNNING:
            fail(session, settings, Attempt(experiment.public_id, experiment.attempts), "its worker stopped answering")
        else:
            experiment.sent_at = now
            _send(session, experiment.public_id)
    return len(found)


def propose(session: Session, viewer: Viewer, experiment: Experiment, *, reason: str) -> None:
    """Suggest it to whoever keeps the task as a hidden workload.  The verdict stays what it is."""
    if experiment.requested_by_id != viewer.id:
        raise NotPermitted("only who made an experiment proposes it")
    if experiment.state != EvaluationState.DONE:
        raise Conflict("an experiment without a result cannot be proposed", what_to_do="Wait until it has ended.")
    if experiment.family or experiment.target == ExperimentTarget.BASELINE:
        raise Invalid("a workload has parameters only", what_to_do="Run it on the task's own values and propose that.")
    if len(reason) > PROPOSAL_LENGTH_MAX:
        raise TooLarge(f"a reason has at most {PROPOSAL_LENGTH_MAX} characters")
    if experiment.proposed_at is None:
        experiment.proposed_at, experiment.proposal = utc_now(), reason.strip()
        audit.note(session, viewer.id, "experiment.propose", experiment.public_id)


def differences(settings: Settings, experiment: Experiment) -> list[str]:
    """The changed files against the submission's, each as a unified diff."""
    blobs = BlobStore(settings.blobs_dir)
    before = trees.load_tree(blobs, experiment.submission.files)
    after = trees.load_tree(blobs, experiment.patch)
    return [_difference(path, before[path], after[path]) for path in sorted(after)]


def _difference(path: str, before: bytes, after: bytes) -> str:
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    return "\n".join(difflib.unified_diff(old, new, path, f"{path}, changed", lineterm=""))


def _check_limit(session: Session, settings: Settings, viewer: Viewer) -> None:
    # The person's row is locked first: two requests at once would both find room.
    session.get_one(User, viewer.id, with_for_update=True, populate_existing=True)
    if queries.in_flight(session, viewer.id) >= settings.experiments_in_flight_max:
        raise TooManyRequests(
            f"{settings.experiments_in_flight_max} of your experiments wait or run",
            what_to_do="Wait until one has ended.",
        )


def _patch(settings: Settings, submission: Submission, asked: Asked) -> list[dict[str, Any]]:
    """The files that differ, kept; line ends are those of the original, for a form sends its own."""
    blobs = BlobStore(settings.blobs_dir)
    own = trees.load_tree(blobs, submission.files)
    if unknown := sorted(set(asked.sources) - set(own)):
        raise Invalid(f"{unknown[0]} is not in the submission")
    if asked.sources and asked.target != ExperimentTarget.SUBMISSION:
        raise Invalid(
            "only the submission's source can be changed", what_to_do="Run the submission, or change nothing."
        )
    changed = {}
    for path, text in asked.sources.items():
        before = own[path].decode("utf-8", "replace")
        if _one_line_end(text) == _one_line_end(before):
            continue
        line_end = "\r\n" if "\r\n" in before else "\n"
        changed[path] = _one_line_end(text).replace("\n", line_end).encode("utf-8", "replace")
        if len(changed[path]) > settings.file_bytes_max:
            raise TooLarge(f"{path} has more than {settings.file_bytes_max} bytes")
    return trees.store_tree(blobs, changed)


def _one_line_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _send(session: Session, experiment_id: str) -> None:
    # Among the short jobs: a reviewer waits for it, and it must not wait for an hour's evaluation.
    queue.enqueue(session, JOB, queue=queue.HOUSE, experiment_id=experiment_id)


def _held_by(attempt: Attempt) -> tuple[Any, ...]:
    return (
        Experiment.public_id == attempt.experiment_id,
        Experiment.state == EvaluationState.RUNNING,
        Experiment.attempts == attempt.number,
    )


def _guarded(session: Session, conditions: tuple[Any, ...], **values: Any) -> bool:
    """One conditional update; True when exactly this row was still as the conditions say."""
    statement = update(Experiment).where(*conditions).values(**values).returning(Experiment.id)
    changed = session.execute(statement, execution_options={"synchronize_session": "fetch"})
    return len(changed.scalars().all()) == 1
