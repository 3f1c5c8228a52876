"""A task judged by itself: what every evaluation would find wrong with it, before anybody submits."""

from __future__ import annotations

from pathlib import Path

from app.domain.report import Finding
from app.domain.task import TaskBundle, read_bundle
from workers.judge.answers import TaskFault
from workers.judge.faults import EngineFault
from workers.judge.foreign import start_reference
from workers.judge.gathering import gather
from workers.judge.notebook import Notebook
from workers.judge.seeds import Seeds
from workers.sandbox import Sandboxes, SandboxUnavailable


def lint(task_folder: Path, sandboxes: Sandboxes) -> tuple[TaskBundle, list[Finding]]:
    """Run the task's own code on every workload and look for faults that no submission could answer for.

    Raises `TaskError` for a bundle that cannot be read, `EngineFault` for our own failures.
    """
    bundle, notebook = read_bundle(task_folder.resolve()), Notebook()
    workloads = [w for w in bundle.spec.workloads if w.runs_on == "any"]
    try:
        with start_reference(sandboxes, bundle) as process:
            gather(process, bundle, workloads, Seeds.fresh(), notebook).close()
    except TaskFault:
        pass  # it is among the findings
    except SandboxUnavailable as error:
        raise EngineFault(str(error)) from error
    return bundle, notebook.findings
