"""`workbench evaluate` and `workbench lint-task`: the judge without any server."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli_engine import ACCEPTED, BAD_USAGE, OUR_FAILURE, REJECTED, UNDECIDED, open_sandboxes, stop

if TYPE_CHECKING:
    from app.domain.report import Report, StageName


def register(cli: typer.Typer) -> None:
    """Add the commands of this module to `workbench`."""
    cli.command()(evaluate)
    cli.command()(lint_task)


def evaluate(
    task: Annotated[Path, typer.Argument(help="Folder of the task bundle (task.toml, reference.py).")],
    submission: Annotated[Path, typer.Argument(help="One source file or a folder.")],
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the report there; - is standard output.")
    ] = None,
    framework: Annotated[str | None, typer.Option(help="Instead of the one guessed from the source.")] = None,
    stages: Annotated[
        str | None,
        typer.Option(
            help="Only these stages, separated by commas: inspect, compile, correctness, integrity, sanitize,"
            " benchmark, profile. Without all that decide, the verdict is inconclusive at best."
        ),
    ] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only this workload; may be given again.")] = None,
    environments: Annotated[
        str | None,
        typer.Option(
            help="Build environments in place of the task's, separated by commas: cuda:sm_90a, cuda@13.0:sm_90a."
        ),
    ] = None,
    artefacts: Annotated[
        Path | None,
        typer.Option(
            help="A new or empty folder for what the evaluation saw: report, log, submission, launches, and every"
            " refused output beside the expected one, hidden workloads too."
        ),
    ] = None,
    replay: Annotated[Path | None, typer.Option(help="A report whose seeds are drawn again.")] = None,
) -> None:
    """Judge one submission to one task.

    Exit status: 0 accepted, 1 rejected, 2 bad usage or unreadable task, 3 our own failure,
    4 inconclusive or invalid task.
    """
    from app.domain.report import StageName
    from app.domain.request import EvaluationRequest
    from app.domain.task import TaskError
    from workers.judge.faults import EngineFault, SubmissionError
    from workers.judge.pipeline import evaluate as judge

    wanted = _stages(stages)
    if artefacts is not None:
        _claim_folder(artefacts)
    request = EvaluationRequest(
        task_folder=task, submission=submission, framework=framework, stages=wanted,
        workloads=tuple(workload or ()), environments=_names(environments),
        secret=_secret(replay), artefacts_folder=artefacts, command=shlex.join(["workbench", *sys.argv[1:]]),
    )  # fmt: skip
    try:
        with open_sandboxes(needed=set(wanted) != {StageName.INSPECT}) as sandboxes:
            report = judge(request, sandboxes)
    except (TaskError, SubmissionError) as error:
        stop(str(error), BAD_USAGE)
    except EngineFault as error:
        stop(str(error), OUR_FAILURE)
    _write(report, json_file)
    raise typer.Exit(exit_status(report))


def lint_task(
    task: Annotated[Path, typer.Argument(help="Folder of the task bundle (task.toml, reference.py).")],
    json_file: Annotated[str | None, typer.Option("--json", help="Write findings there; - is standard output.")] = None,
) -> None:
    """Look for faults of a task itself: does its reference run, depend on its inputs, fit its tolerance?

    Exit status: 0 nothing found or warnings only, 1 no answer could be judged, 2 unreadable task, 3 our own failure.
    """
    from app.domain.report import Severity
    from app.domain.task import TaskError
    from workers.judge.faults import EngineFault
    from workers.judge.tasklint import lint

    try:
        with open_sandboxes() as sandboxes:
            bundle, findings = lint(task, sandboxes)
    except TaskError as error:
        stop(str(error), BAD_USAGE, "lint-task")
    except EngineFault as error:
        stop(str(error), OUR_FAILURE, "lint-task")
    rows = [
        {"code": f.code, "severity": str(f.severity), "message": f.message, "workload": f.workload} for f in findings
    ]
    told = {"task": bundle.spec.name, "version": bundle.spec.version, "sha256": bundle.sha256, "findings": rows}
    if json_file == "-":
        typer.echo(json.dumps(told, indent=1))
    elif json_file:
        Path(json_file).write_text(json.dumps(told, indent=1))
    for row in rows if json_file != "-" else []:
        typer.echo(f"{row['severity']:<8}{row['code']}: {row['message']}")
    if not rows and json_file != "-":
        typer.echo(f"{bundle.spec.name}: no fault found on {len(bundle.spec.workloads)} workloads")
    raise typer.Exit(REJECTED if any(f.severity is Severity.ERROR for f in findings) else ACCEPTED)


def exit_status(report: Report) -> int:
    """What the shell is told; the verdict decides."""
    from app.domain.report import Verdict

    if report.verdict is Verdict.ACCEPTED:
        return ACCEPTED
    return UNDECIDED if report.verdict in (Verdict.INCONCLUSIVE, Verdict.INVALID_TASK) else REJECTED


def _stages(text: str | None) -> tuple[StageName, ...]:
    from app.domain.report import StageName

    if text is None:
        return tuple(StageName)
    names = _names(text)
    if unknown := [name for name in names if name not in set(StageName)]:
        stop(f"stages are {', '.join(StageName)}, not {', '.join(unknown)}", BAD_USAGE)
    if not names:
        stop(f"--stages names none; stages are {', '.join(StageName)}", BAD_USAGE)
    return tuple(stage for stage in StageName if stage in names)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name for part in (text or "").split(",") if (name := part.strip()))


def _claim_folder(folder: Path) -> None:
    """Make it before an evaluation is spent; what somebody else keeps there is never mixed with ours."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        stop(f"--artefacts {folder}: {error.strerror or error}", BAD_USAGE)
    if not is_empty:
        stop(f"--artefacts {folder}: not an empty folder; name a new one", BAD_USAGE)


def _secret(replay: Path | None) -> bytes | None:
    if replay is None:
        return None
    try:
        return bytes.fromhex(json.loads(replay.read_text())["replay"]["secret"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        stop(f"{replay} holds no report that can be replayed ({error})", BAD_USAGE)


def _write(report: Report, json_file: str | None) -> None:
    if json_file is None:
        typer.echo(summary(report))
        return
    text = json.dumps(report.to_json(), indent=1)
    if json_file == "-":
        typer.echo(text)
    else:
        Path(json_file).write_text(text)
        typer.echo(summary(report), err=True)


def summary(report: Report) -> str:
    """The report for a terminal: headline, stages, numbers, findings, what was not checked."""
    from app.evaluations import numerics, numerics_text

    lines = [report.headline, ""]
    lines += [f"  {s.name:<12} {s.status:<13} {s.seconds:7.2f} s  {s.reason or ''}".rstrip() for s in report.stages]
    if numbers := numerics_text.overview(report.workloads):
        rules = numerics_text.rule_lines(numerics.rule_rows(report.workloads, report.rules))
        lines += ["", *(f"  {line}" for line in (*numbers, *rules))]
    if report.claims:
        lines += ["", *(f"  claimed: {c.text}: {c.status.replace('_', ' ')}; {c.reason}" for c in report.claims)]
    if report.findings:
        lines.append("")
    for finding in report.findings:
        at = f" ({finding.location.file}:{finding.location.line})" if finding.location else ""
        lines.append(f"  {finding.severity:<8}{finding.code}{at}: {finding.message}")
    lines += ["", *(f"  not checked: {line}" for line in report.not_checked)]
    return "\n".join(lines).rstrip()
