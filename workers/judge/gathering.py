"""Asks the task's own code for inputs and answers of every workload, before the candidate runs."""

from __future__ import annotations

from app.domain.report import Severity, StageName, Verdict
from app.domain.task import TaskBundle, Workload
from workers.judge.answers import Answers, TaskFault
from workers.judge.cotangents import ask_gradients
from workers.judge.families import go_beyond
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised
from workers.judge.health import check_health
from workers.judge.notebook import Notebook
from workers.judge.reader import Reader
from workers.judge.seeds import Seeds
from workers.wire.values import NotAValue


def gather(
    process: ForeignProcess, bundle: TaskBundle, workloads: list[Workload], seeds: Seeds, notebook: Notebook
) -> Answers:
    """Ask the reference for everything at once; raises `TaskFault` where no answer could be judged."""
    answers = Answers()
    try:
        try:
            facts = process.ask("load", timeout_s=IMPORT_SECONDS)
        except Raised as raised:
            raise _fault(notebook, raised, None) from raised
        answers.arguments, answers.has_check = facts.get("arguments", []), bool(facts.get("check"))
        answers.has_state = bool(facts.get("make_state"))
        answers.versions = facts.get("versions", {})
        own_oracle, moved, readers = bool(facts.get("oracle")), [], {}
        for workload in workloads:
            readers[workload.name] = reader = Reader(process, bundle, workload, seeds, answers, own_oracle)
            try:
                answers.draws[workload.name] = reader.draws()
                ask_gradients(reader, bundle, answers, notebook)
                answers.check_size()
                moved.append(reader.moves())
            except Raised as raised:
                raise _fault(notebook, raised, workload) from raised
            except NotAValue as error:
                raise _unusable(notebook, str(error), workload) from error
        check_health(answers, bundle, moved, readers, notebook)
        go_beyond(answers, bundle, readers, notebook)
    except BaseException:
        answers.close()
        raise
    return answers


def _fault(notebook: Notebook, raised: Raised, workload: Workload | None) -> TaskFault:
    hangs = raised.kind == "time"
    where = f" on `{workload.name}`" if workload else ""
    notebook.note(
        "task.reference_hangs" if hangs else "task.reference_raises", Severity.ERROR, StageName.CORRECTNESS,
        f"the task's own code {'did not return in time' if hangs else 'failed'}{where}: {raised.sentence}",
        verdict=Verdict.INVALID_TASK, workload=workload.name if workload else None,
        evidence={"traceback": raised.facts.get("traceback", "")},
    )  # fmt: skip
    return TaskFault(raised.sentence)


def _unusable(notebook: Notebook, reason: str, workload: Workload) -> TaskFault:
    notebook.note(
        "task.reference_raises", Severity.ERROR, StageName.CORRECTNESS,
        f"the task's own code returned what cannot be judged on `{workload.name}`: {reason}",
        verdict=Verdict.INVALID_TASK, workload=workload.name,
    )  # fmt: skip
    return TaskFault(reason)
