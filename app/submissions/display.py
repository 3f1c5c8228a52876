"""A submission as pages show it: its files in colour, and its stages as they happen."""

from __future__ import annotations

from typing import Any

from app.config import Settings
from app.domain.report import StageName
from app.domain.review import EvaluationState
from app.kit.source import SourceFile, coloured_all
from app.models import Evaluation, Submission
from app.submissions import service


def files_shown(settings: Settings, submission: Submission) -> list[SourceFile]:
    """The source, coloured; a profiler's binary is named but not shown."""
    files = service.source_files(settings, submission)
    return coloured_all((f.path, f.text if f.text is not None else f"({f.size_bytes} bytes, binary)") for f in files)


def stages_shown(evaluation: Evaluation | None) -> list[dict[str, Any]]:
    """The seven stages: what has ended, what runs now, what waits."""
    ended = {s["name"]: s for s in evaluation.progress} if evaluation else {}
    left = "not_run" if evaluation is None or evaluation.state == EvaluationState.FAILED else "queued"
    rows = [ended.get(n.value, {"name": n.value, "status": left}) for n in StageName]
    if evaluation is not None and evaluation.state == EvaluationState.RUNNING:
        first = next((r for r in rows if r["status"] == "queued"), None)
        rows = [{**r, "status": "running"} if r is first else r for r in rows]
    return [{"seconds": 0.0, "reason": None, **row} for row in rows]
