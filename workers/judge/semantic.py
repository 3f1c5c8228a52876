"""The task's own `check`, run in a sandbox after the candidate is gone; its word is labelled task-defined."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.domain.report import Severity, StageName, StageStatus, Verdict, WorkloadResult
from app.domain.task import TaskBundle
from workers.judge.answers import Draw
from workers.judge.correctness import WorkloadRun
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised, start_reference
from workers.judge.notebook import Notebook
from workers.judge.received import Received
from workers.sandbox import Sandboxes

# A check that a candidate's outputs broke is started again for the next ones, so many times.
MAX_RESTARTS = 3


def run_checks(sandboxes: Sandboxes, bundle: TaskBundle, runs: list[WorkloadRun], notebook: Notebook) -> None:
    """Ask `check` about every output that had the right shape and dtype."""
    pending = [(run, draw, outputs) for run in runs for draw, outputs in run.to_check]
    for _ in range(1 + MAX_RESTARTS):
        if not pending:
            return
        pending = _check_until_it_breaks(sandboxes, bundle, pending, notebook)


Pending = list[tuple[WorkloadRun, Draw, Received]]


def _check_until_it_breaks(sandboxes: Sandboxes, bundle: TaskBundle, pending: Pending, notebook: Notebook) -> Pending:
    """What is left to ask after a check raised on an output, and only on that; nothing otherwise."""
    with start_reference(sandboxes, bundle) as process:
        for n, (run, draw, outputs) in enumerate(pending):
            try:
                if n == 0:
                    process.ask("load", timeout_s=IMPORT_SECONDS)
                told = _ask(process, bundle, draw, outputs)
            except Raised as raised:
                if not _takes_its_own_answer(sandboxes, bundle, draw):
                    _note_broken(f"failed, on the reference's own answer too: {raised.sentence}", notebook, raised)
                    return []
                notebook.keep_outputs(run.workload.name, "check", outputs.leaves(like=draw.native), draw.expected())
                _refuse(run, f"cannot be read by the task's own check: {raised.sentence}", notebook)
                return pending[n + 1 :]
            if told.get("ok") is not True:
                if not _takes_its_own_answer(sandboxes, bundle, draw):
                    _note_broken("refuses the reference's own answer too", notebook)
                    return []
                notebook.keep_outputs(run.workload.name, "check", outputs.leaves(like=draw.native), draw.expected())
                _refuse(run, f"is refused by the task's own check: {str(told.get('message', ''))[:300]}", notebook)
    return []


def _takes_its_own_answer(sandboxes: Sandboxes, bundle: TaskBundle, draw: Draw) -> bool:
    """Whether `check` accepts what the reference returned: then the output is to blame, and not the task."""
    with start_reference(sandboxes, bundle) as process:
        try:
            process.ask("load", timeout_s=IMPORT_SECONDS)
            return _ask(process, bundle, draw, draw.native).get("ok") is True
        except Raised:
            return False


def _ask(process: ForeignProcess, bundle: TaskBundle, draw: Draw, outputs: Received) -> dict[str, Any]:
    return process.ask(
        "check",
        [*draw.inputs.fds, *outputs.fds, *draw.native.fds],
        timeout_s=bundle.spec.limits.seconds + 30,
        inputs=draw.inputs.to_message(),
        outputs=outputs.to_message(),
        expected=draw.native.to_message(),
    )


def _note_broken(what: str, notebook: Notebook, raised: Raised | None = None) -> None:
    notebook.note(
        "task.check_failed",
        Severity.ERROR,
        StageName.CORRECTNESS,
        f"the task's check {what}",
        verdict=Verdict.INVALID_TASK,
        evidence={"traceback": raised.facts.get("traceback", "")} if raised else {},
    )


def _refuse(run: WorkloadRun, why: str, notebook: Notebook) -> None:
    name = run.workload.name
    notebook.note(
        "numerics.wrong_values",
        Severity.ERROR,
        StageName.CORRECTNESS,
        f"what came back on `{name}` {why}",
        verdict=Verdict.WRONG_RESULT,
        workload=name,
    )
    notebook.workloads = [_failed(w) if w.name == name else w for w in notebook.workloads]


def _failed(workload: WorkloadResult) -> WorkloadResult:
    outputs = tuple(dataclasses.replace(o, ok=False) for o in workload.outputs)
    return dataclasses.replace(workload, status=StageStatus.FAILED, outputs=outputs)
