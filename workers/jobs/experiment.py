"""The experiment job: claim, lay out, run the judge within the bench's time limit, record."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import structlog
from celery.exceptions import SoftTimeLimitExceeded

from app.config import Settings, load_settings
from app.domain.report import Report
from app.domain.task import TaskError
from app.errors import WorkbenchError
from app.experiments import service
from app.experiments.service import Attempt, AttemptSuperseded
from app.kit.db import Database
from workers.celery_app import app
from workers.jobs import resources
from workers.judge.faults import SubmissionError

log = structlog.get_logger(__name__)
_LIMIT_SECONDS = load_settings().experiment_seconds_max
_TO_CLEAN_UP_SECONDS = 20  # then the process itself is ended, and the sweep finds the lease run out


@app.task(name="workbench.experiment", soft_time_limit=_LIMIT_SECONDS, time_limit=_LIMIT_SECONDS + _TO_CLEAN_UP_SECONDS)
def run_experiment(experiment_id: str) -> None:
    run(resources.database(), load_settings(), resources.engine, experiment_id)


def run(database: Database, settings: Settings, make_engine: Any, experiment_id: str) -> None:
    """Run once, if nobody else does.  `make_engine` is called only when there is work for it."""
    with database.write() as session:
        attempt = service.claim(session, settings, experiment_id)
    if attempt is None:
        log.info("nothing_to_claim", experiment=experiment_id)
        return
    try:
        report = _judge(database, settings, make_engine, attempt)
        with database.write() as session:
            service.record(session, settings, attempt, report)
    except AttemptSuperseded:
        log.warning("attempt_lost", experiment=experiment_id, attempt=attempt.number)
    except SoftTimeLimitExceeded:
        _fail(database, settings, attempt, f"it took longer than {settings.experiment_seconds_max} s", is_final=True)
    except (TaskError, SubmissionError, WorkbenchError) as error:
        # What cannot be read, or makes a report too large to keep, will be no better next time.
        _fail(database, settings, attempt, str(error), is_final=True)
    except Exception as error:  # EngineFault, or a bug of ours: both are our fault and no result
        log.exception("experiment_failed", experiment=experiment_id)
        _fail(database, settings, attempt, f"{type(error).__name__}: {error}")


def _judge(database: Database, settings: Settings, make_engine: Any, attempt: Attempt) -> Report:
    with tempfile.TemporaryDirectory(prefix="workbench-job-") as place:
        with database.read() as session:
            request = service.lay_out(session, settings, attempt, Path(place))
        report: Report = make_engine()(request, lambda _stage: None)
        return report


def _fail(database: Database, settings: Settings, attempt: Attempt, reason: str, *, is_final: bool = False) -> None:
    with database.write() as session:
        service.fail(session, settings, attempt, reason, is_final=is_final)
