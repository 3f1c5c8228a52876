"""`workbench precision`: what each number format costs a task, and whether its tolerance would notice."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli_engine import ACCEPTED, BAD_USAGE, OUR_FAILURE, UNDECIDED, open_sandboxes, stop

if TYPE_CHECKING:
    from workers.judge.precision import Cost, Row, Survey

COMMAND = "precision"
HEADS = ("format", "bits", "rms error", "max abs", "max rel", "max ulp", "outside", "a kernel that works in it")
WIDTHS = (22, 6, 11, 11, 11, 11, 11, 0)


def register(cli: typer.Typer) -> None:
    """Add the command of this module to `workbench`."""
    cli.command()(precision)


def precision(
    task: Annotated[Path, typer.Argument(help="Folder of the task bundle (task.toml, reference.py).")],
    json_file: Annotated[str | None, typer.Option("--json", help="Write it there; - is standard output.")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only this workload; may be given again.")] = None,
    outputs: Annotated[bool, typer.Option("--outputs", help="Round the outputs to the format as well.")] = False,
) -> None:
    """Run a task's reference through every number format: what it needs, and which downgrade would not show.

    Inputs are rounded to fp32, tf32, bf16, fp16, fp8, fp6, fp4 and int formats, with scales by tensor, row, column
    or block; the answer is compared with the float64 one as a submission's is.

    Exit status: 0 measured, 2 unreadable task, 3 our own failure, 4 no answer of this task could be judged.
    """
    from app.domain.task import TaskError
    from workers.judge.answers import TaskFault
    from workers.judge.faults import EngineFault
    from workers.judge.precision import survey

    try:
        with open_sandboxes() as sandboxes:
            found = survey(task, sandboxes, workloads=tuple(workload or ()), outputs=outputs)
    except TaskError as error:
        stop(str(error), BAD_USAGE, COMMAND)
    except TaskFault as fault:
        stop(f"the task cannot be judged: {fault}. `workbench lint-task` says more", UNDECIDED, COMMAND)
    except EngineFault as error:
        stop(str(error), OUR_FAILURE, COMMAND)
    if json_file:
        text = json.dumps(as_json(found), indent=1)
        typer.echo(text) if json_file == "-" else Path(json_file).write_text(text)
    if json_file != "-":
        typer.echo("\n".join(as_text(found)))
    raise typer.Exit(ACCEPTED)


def as_json(found: Survey) -> dict[str, Any]:
    """Everything, a row for each format and in it a cost for each workload and output; NaN and infinity as text."""
    narrowest = found.narrowest()
    return {
        "task": found.bundle.spec.name,
        "version": found.bundle.spec.version,
        "sha256": found.bundle.sha256,
        "outputs_rounded": found.rounds_outputs,
        "needs": narrowest.name if narrowest else None,
        "undecided": found.undecided,
        "hidden": found.hidden(),
        "left_out": list(found.left_out),
        "findings": [{"code": f.code, "severity": str(f.severity), "message": f.message} for f in found.findings],
        "formats": [_row_as_json(row) for row in found.rows],
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    costs = [{k: _plain(v) for k, v in dataclasses.asdict(cost).items()} for cost in row.costs]
    return {
        "format": row.form.name, "bits": row.form.bits, "arithmetic": row.form.name if row.throughout else "float64",
        "shows": str(row.shows), "costs": costs,
    }  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def as_text(found: Survey) -> Iterator[str]:
    """For a terminal: one table an output, its worst figures over the workloads."""
    spec = found.bundle.spec
    rounded = "inputs and outputs are" if found.rounds_outputs else "inputs are"
    yield f"{spec.name} v{spec.version}: {rounded} rounded to each format, with its scales, and the reference computes"
    yield "in float64; `throughout`: it computes in the format itself.  Errors are against its float64 answer, in"
    yield "ulp of the output's dtype; `outside` are the elements that the task's tolerance refuses."
    for name in dict.fromkeys(cost.output for row in found.rows for cost in row.costs):
        yield from _table(found, name)
    yield ""
    yield from _conclusions(found)


def _table(found: Survey, output: str) -> Iterator[str]:
    rows = [(row, [c for c in row.costs if c.output == output]) for row in found.rows]
    yield f"\n{output}, {rows[0][1][0].dtype}\n"
    yield _line(HEADS)
    for row, costs in rows:
        yield _line(_cells(row, costs))


def _cells(row: Row, costs: list[Cost]) -> tuple[str, ...]:
    bits = f"{row.form.bits:g}"
    if reasons := [cost.reason for cost in costs if not cost.elements and cost.reason]:
        return row.name, bits, "-", "-", "-", "-", "-", reasons[0]
    outside = f"{100 * sum(c.outside for c in costs) / max(1, sum(c.elements for c in costs)):.3g} %"
    figures = [
        _largest(getattr(c, name) for c in costs)
        for name in ("normalised_rms", "max_abs_error", "max_rel_error", "max_ulp")
    ]
    return row.name, bits, *figures, outside, _fate(row, costs)


def _largest(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.3g}" if known else "-"


def _fate(row: Row, costs: list[Cost]) -> str:
    reason = next((cost.reason for cost in costs if cost.reason), "")
    ratio = _largest(cost.budget_ratio for cost in costs)
    return {
        "as declared": "is what the task declares",
        "refused": "is refused",
        "warned": f"passes with a warning: {ratio} times the error budget",
        "hidden": "passes unnoticed",
        "unknown": reason,
    }[dataclasses.replace(row, costs=tuple(costs)).shows]


def _line(cells: Iterable[str]) -> str:
    texts = [
        f"{cell:<{w}}" if n == 0 else f"{cell:>{w}}" for n, (cell, w) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return f"{''.join(texts[:-1])}  {texts[-1].strip()}".rstrip()


def _conclusions(found: Survey) -> Iterator[str]:
    narrowest, hidden = found.narrowest(), found.hidden()
    if found.undecided:
        yield f"Which format is enough cannot be said: {found.undecided}."
    elif narrowest is None:
        yield "Needs: no format here is enough for the inputs."
    else:
        yield f"Needs: {narrowest.name} for the inputs ({narrowest.form.bits:g} bits); nothing narrower is accepted."
    if not found.undecided:
        yield f"A downgrade would not show: {', '.join(hidden)}." if hidden else "Every downgrade here would show."
    yield from (f"Not tried: {text}." for text in found.left_out)
    yield from (f"{f.severity}: {f.code}: {f.message}" for f in found.findings)
