"""The task's own `check`, run in a sandbox after the candidate is gone; its word is labelled task-defined."""

from __future__ import annotations

import dataclasses

from app.domain.report import Severity, StageName, StageStatus, Verdict, WorkloadResult
from app.domain.task import TaskBundle
from workers.judge.answers import Answers, Draw
from workers.judge.correctness import WorkloadRun
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised, start_reference
from workers.judge.notebook import Notebook
from workers.judge.received import Received
from workers.sandbox import Sandboxes


def run_checks(sandboxes: Sandboxes, bundle: TaskBundle, runs: list[WorkloadRun], answers: Answers, notebook: Notebook) -> None:
    """Ask `check` about every output that had the right shape and dtype."""
    if not any(run.to_check for run in runs):
        return
    with start_reference(sandboxes, bundle) as process:
        try:
            process.ask("load", timeout_s=IMPORT_SECONDS)
            for run in runs:
                for draw, outputs in run.to_check:
                    _check(process, bundle, run, draw, outputs, notebook)
        except Raised as raised:
            notebook.note(
                "task.check_failed", Severity.ERROR, StageName.CORRECTNESS, f"the task's check failed: {raised.sentence}",
                verdict=Verdict.INVALID_TASK, evidence={"traceback": raised.facts.get("traceback", "")},
            )  # fmt: skip


def _check(process: ForeignProcess, bundle: TaskBundle, run: WorkloadRun, draw: Draw, outputs: Received, notebook: Notebook) -> None:
    told = process.ask(
        "check", [*draw.inputs.fds, *outputs.fds, *draw.native.fds], timeout_s=bundle.spec.limits.seconds + 30,
        inputs=draw.inputs.to_message(), outputs=outputs.to_message(), expected=draw.native.to_message(),
    )  # fmt: skip
    if told.get("ok") is True:
        return
    name = run.workload.name
    notebook.note(
        "numerics.wrong_values", Severity.ERROR, StageName.CORRECTNESS,
        f"the task's own check refuses `{name}`: {str(told.get('message', ''))[:300]}",
        verdict=Verdict.WRONG_RESULT, workload=name,
    )  # fmt: skip
    notebook.workloads = [_failed(w) if w.name == name else w for w in notebook.workloads]


def _failed(workload: WorkloadResult) -> WorkloadResult:
    outputs = tuple(dataclasses.replace(o, ok=False) for o in workload.outputs)
    return dataclasses.replace(workload, status=StageStatus.FAILED, outputs=outputs)
