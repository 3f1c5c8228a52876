"""Asks the task's own code for gradients: a vector-Jacobian product with random cotangents, native and in float64."""

from __future__ import annotations

from functools import partial

from app.domain.report import Severity, StageName, Verdict
from app.domain.task import TaskBundle
from workers.judge import numerics
from workers.judge.answers import Answers, Draw, Gradients, TaskFault, tolerance_of
from workers.judge.foreign import Raised
from workers.judge.notebook import Notebook
from workers.judge.reader import ROUNDING_UP_TO_BYTES, ROUNDING_UP_TO_SECONDS, Reader
from workers.judge.received import ANSWER, Received
from workers.judge.rounding import Rounding, ask_rounding
from workers.wire.values import NotAValue


def gradient_name(argument: str) -> str:
    """The name of a gradient in reports, and of its `[tolerance."grad(x)"]`."""
    return f"grad({argument})"


def ask_gradients(reader: Reader, bundle: TaskBundle, answers: Answers, notebook: Notebook) -> None:
    """Put what `[gradients]` asks for into `answers`, on the reader's first draw; `TaskFault` where there is none."""
    wanted = list((bundle.spec.gradients or {}).get("wrt", ()))
    names = [name for name in wanted if name in answers.arguments]
    if strangers := [name for name in wanted if name not in names]:
        if not answers.has_state:
            raise _fault(notebook, reader, f"`reference` has no argument named {', '.join(strangers)}")
        notebook.not_checked.append(f"gradients by the weights {', '.join(strangers)}: those of inputs only")
    if not names:
        return
    positions = [answers.arguments.index(name) for name in names]
    try:
        asked = Gradients(names, positions, _draw(reader, positions), _memory(reader))
    except (Raised, NotAValue) as error:
        why = error.sentence if isinstance(error, Raised) else str(error)
        raise _fault(notebook, reader, f"the reference gives no gradients by {', '.join(names)}: {why}") from error
    answers.gradients[reader.workload.name] = asked
    for name, expected in zip(names, asked.draw.expected(), strict=True):
        output = gradient_name(name)
        if numerics.is_vacuous(expected, tolerance_of(bundle, output, expected.native.dtype)):
            answers.vacuous[output] = True


def _draw(reader: Reader, positions: list[int]) -> Draw:
    """A draw whose inputs are the cotangents and whose answers are the gradients."""
    ask = partial(reader.process.receive, "gradients", slot="0", timeout_s=reader.timeout_s, room=ANSWER)
    first, seed = reader.drawn[0], reader.seeds.of(reader.workload.name, "cotangents", 0)
    cotangents = ask(part="cotangents", wrt=positions, in_place=reader.in_place, seed=seed)
    draw = Draw(cotangents, ask(part="native"), None, seed, first.call_seed, systematic=first.systematic)
    if first.oracle is not None:
        draw.oracle = _wide(reader)
        draw.rounding = _rounding(reader, draw.native.seconds)
    return draw


def _wide(reader: Reader) -> Received | None:
    try:
        return reader.process.receive("gradients", part="wide", slot="0", timeout_s=reader.timeout_s, room=ANSWER)
    except (Raised, NotAValue) as error:
        if isinstance(error, Raised) and error.ended is not None:
            raise
        return None


def _rounding(reader: Reader, once_s: float) -> Rounding:
    """S and K; `once_s`: seconds of the reference's own, which others' work adds nothing to."""
    if once_s > ROUNDING_UP_TO_SECONDS or reader.drawn[0].inputs.total_bytes() > ROUNDING_UP_TO_BYTES:
        return Rounding("guessed: gradients take long, or inputs are large")
    seed = reader.seeds.of(reader.workload.name, "gradient rounding", 0)
    return ask_rounding(
        reader.process, slot="0", in_place=reader.in_place, seed=seed, timeout_s=reader.timeout_s, gradients=True
    )


def _memory(reader: Reader) -> dict[str, int]:
    try:
        told = reader.process.ask("gradients", part="memory", slot="0", timeout_s=reader.timeout_s)
    except Raised as raised:
        if raised.ended is not None:
            raise
        return {}
    memory = told.get("memory")
    return memory if isinstance(memory, dict) else {}


def _fault(notebook: Notebook, reader: Reader, why: str) -> TaskFault:
    name = reader.workload.name
    notebook.note(
        "task.gradients_failed", Severity.ERROR, StageName.CORRECTNESS, f"{why}, on `{name}`",
        verdict=Verdict.INVALID_TASK, workload=name,
    )  # fmt: skip
    return TaskFault(why)
