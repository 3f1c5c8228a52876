"""What is asked of the engine: one task, one submission, resolved limits and switches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.domain.report import StageName


@dataclass(frozen=True)
class EvaluationRequest:
    """Everything the judge needs; it reads no environment variable and no database.

    `secret` is 32 bytes drawn per evaluation; `--replay` passes an earlier one again.
    `workloads` empty means all.  A stage outside `stages` is not run, and said to be not asked for.
    `environments` stand in for those that the task lists, unless empty.
    `artefacts_folder`, made where it is missing: gets what the evaluation saw (`workers.judge.artefacts`).
    """

    task_folder: Path
    submission: Path
    framework: str | None = None
    stages: tuple[StageName, ...] = tuple(StageName)
    workloads: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    secret: bytes | None = None
    artefacts_folder: Path | None = None
    command: str = ""
