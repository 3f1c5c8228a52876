"""The judge's stand-in for journeys: takes its time over each stage, then reports an unwritten tail."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.domain.report import Report, Stage
from app.domain.request import EvaluationRequest
from tests.pages import sample_reports

STAGE_SECONDS = 0.6


def evaluate(request: EvaluationRequest, progress: Callable[[Stage], None]) -> Report:
    report = sample_reports.wrong_result()
    for stage in report.stages:
        time.sleep(STAGE_SECONDS)
        progress(stage)
    return report
