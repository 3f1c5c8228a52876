"""The evaluation job: claim, lay out, run the judge, record; beating all the while.

No transaction is open while the judge works.  Whatever goes wrong on our side ends the attempt,
never the evaluation: that is queued again until its attempts are spent.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import structlog

from app.assignments import service as assignments
from app.config import Settings, load_settings
from app.domain.report import Report, Stage
from app.domain.request import EvaluationRequest
from app.domain.task import TaskError
from app.errors import TooLarge
from app.evaluations import queries, service
from app.evaluations.service import Attempt, AttemptSuperseded
from app.kit.db import Database
from app.submissions import queries as submission_queries
from app.submissions import service as submissions
from app.tasks import service as tasks
from workers.celery_app import app
from workers.jobs import resources
from workers.jobs.resources import Engine
from workers.judge.faults import SubmissionError

log = structlog.get_logger(__name__)


class AttemptLost(Exception):
    """The evaluation went on without us: stop working on it."""


@app.task(name="workbench.evaluate")
def evaluate_submission(evaluation_id: str) -> None:
    run(resources.database(), load_settings(), resources.engine, evaluation_id)


def run(database: Database, settings: Settings, make_engine: Any, evaluation_id: str) -> None:
    """Evaluate once, if nobody else does.  `make_engine` is called only when there is work for it."""
    with database.write() as session:
        attempt = service.claim(session, settings, evaluation_id, resources.worker_name())
    if attempt is None:
        log.info("nothing_to_claim", evaluation=evaluation_id)
        return
    try:
        report = _judge(database, settings, make_engine, attempt)
        _record(database, settings, attempt, report)
    except (AttemptLost, AttemptSuperseded):
        log.warning("attempt_lost", evaluation=evaluation_id, attempt=attempt.attempt_id)
    except (TaskError, SubmissionError, TooLarge) as error:
        # What cannot be read, or makes a report too large to keep, will be no better next time.
        _fail(database, settings, attempt, str(error), is_final=True)
    except Exception as error:  # EngineFault, or a bug of ours: both are our fault and never a verdict
        log.exception("attempt_failed", evaluation=evaluation_id, attempt=attempt.attempt_id)
        _fail(database, settings, attempt, f"{type(error).__name__}: {error}")


def _judge(database: Database, settings: Settings, make_engine: Any, attempt: Attempt) -> Report:
    with Heartbeat(database, settings, attempt) as beat, tempfile.TemporaryDirectory(prefix="workbench-job-") as place:
        engine: Engine = make_engine()
        return engine(_lay_out(database, settings, attempt, Path(place)), beat.on_stage)


def _lay_out(database: Database, settings: Settings, attempt: Attempt, place: Path) -> EvaluationRequest:
    with database.read() as session:
        submission = queries.find(session, attempt.evaluation_id).submission
    task_folder, source_folder = place / "task", place / "submission"
    task_folder.mkdir()
    source_folder.mkdir()
    tasks.materialise(settings, submission.task_version, task_folder)
    source = submissions.materialise(settings, submission, source_folder)
    return EvaluationRequest(
        task_folder=task_folder, submission=source, framework=submission.framework,
        command="workbench evaluate TASK SUBMISSION --replay REPORT.json",
    )  # fmt: skip


def _record(database: Database, settings: Settings, attempt: Attempt, report: Report) -> None:
    """The result and the review slots that it opens, in one short transaction."""
    with database.write() as session:
        evaluation = service.record(session, settings, attempt, report)
        subject = submission_queries.subject_of(session, evaluation.submission_id)
        if subject is not None:
            assignments.open_slots(session, settings, subject, report)


def _fail(database: Database, settings: Settings, attempt: Attempt, reason: str, *, is_final: bool = False) -> None:
    with database.write() as session:
        service.fail(session, settings, attempt, reason, is_final=is_final)


class Heartbeat:
    """Extends the lease from a thread of its own, and at once when a stage has ended."""

    def __init__(self, database: Database, settings: Settings, attempt: Attempt) -> None:
        self._database, self._settings, self._attempt = database, settings, attempt
        self._stages: list[dict[str, Any]] = []
        self._wake, self._stop, self._lost = threading.Event(), threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def on_stage(self, stage: Stage) -> None:
        """The judge's progress; raises once the attempt is lost, so that no more work is wasted on it."""
        if self._lost.is_set():
            raise AttemptLost
        row = {"name": stage.name.value, "status": stage.status.value, "seconds": stage.seconds}
        self._stages = [*self._stages, row]
        self._wake.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def _beat(self) -> None:
        shown: list[dict[str, Any]] = []
        while not self._stop.is_set() and not self._lost.is_set():
            self._wake.wait(self._settings.evaluation_beat_seconds)
            self._wake.clear()
            stages = self._stages
            if not self._stop.is_set():
                self._beat_once(stages if stages != shown else None)
                shown = stages

    def _beat_once(self, stages: list[dict[str, Any]] | None) -> None:
        try:
            with self._database.write() as session:
                if not service.heartbeat(session, self._settings, self._attempt, stages):
                    self._lost.set()
        except Exception as error:  # noqa: BLE001 - the database may be away for a moment; the lease outlasts some beats
            log.warning("beat_missed", attempt=self._attempt.attempt_id, error=str(error))
