"""The `workbench` command.

This is where the two halves meet: it and the commands that judge (`cli_evaluate`, `cli_precision`) alone may
import `workers`.
Imports are inside the commands, so that each loads only what it needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.config import Settings

BAD_USAGE, OUR_FAILURE = 2, 3

cli = typer.Typer(
    name="workbench",
    help="Judge kernels, and have people review what the judge found.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """The console script."""
    from app.errors import WorkbenchError

    _add_other_commands()
    try:
        cli()
    except WorkbenchError as error:
        typer.echo(f"workbench: {error.message}. {error.what_to_do}".rstrip(), err=True)
        sys.exit(BAD_USAGE)


@cli.command()
def serve(
    demo: Annotated[bool, typer.Option("--demo", help="Seed demo people, tasks and submissions.")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8000,
    concurrency: Annotated[
        int | None, typer.Option(help="Jobs at a time; default: half the cores, 2 at least.")
    ] = None,
) -> None:
    """Start broker, worker, web and scheduler; Ctrl-C stops them all."""
    from app.supervisor import plan
    from app.supervisor.serve import Options
    from app.supervisor.serve import serve as run

    settings = _settings()
    options = Options(plan.Address(host, port), demo or settings.demo, concurrency or plan.default_concurrency())
    raise typer.Exit(run(settings, options))


@cli.command()
def web(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8000,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Believe what the proxy says of who is asking.")
    ] = False,
) -> None:
    """Start the web processes alone, for the broker and database that the settings name."""
    from app.supervisor.plan import Address
    from app.supervisor.serve import serve_web

    raise typer.Exit(serve_web(_settings(), Address(host, port), is_behind_proxy=behind_proxy))


@cli.command()
def worker(
    concurrency: Annotated[
        int | None, typer.Option(help="Jobs at a time; default: half the cores, 2 at least.")
    ] = None,
) -> None:
    """Start a Celery worker for the broker and database that the settings name."""
    from app.supervisor import plan

    plan.require_runtimes(_settings())
    command = plan.worker_command(concurrency or plan.default_concurrency())
    os.execv(command[0], command)  # noqa: S606 - it replaces this process, so that signals reach it


@cli.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Say what works on this machine, what is missing, and how to get it."""
    from app.doctor import table
    from workers.judge.pipeline import RUNS_HERE
    from workers.sandbox.doctor import doctor_lines

    results, group = [], ""
    for result in table.examine(_settings(), doctor_lines(), RUNS_HERE):
        results.append(result)
        if not as_json:
            if result.group != group:
                typer.echo(f"{result.group}:")
                group = result.group
            typer.echo(table.as_text(result))
    if as_json:
        typer.echo(table.as_json(results))
    elif not table.is_usable(results):
        typer.echo("\nWhat is marked MISSING is needed before any kernel can be evaluated here.")
    raise typer.Exit(0 if table.is_usable(results) else OUR_FAILURE)


@cli.command()
def schema(
    name: Annotated[str, typer.Argument(help="Which document, for example report.")] = "report",
) -> None:
    """Print the JSON Schema of a document that the workbench writes."""
    from app import schemas

    if name not in schemas.DOCUMENTS:
        typer.echo(f"workbench schema: no document {name!r}; there are {', '.join(schemas.DOCUMENTS)}.", err=True)
        raise typer.Exit(BAD_USAGE)
    typer.echo(json.dumps(schemas.of(name), indent=2))


def _settings() -> Settings:
    """The settings, or one sentence for each that cannot be used."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from app.config import load_settings

    try:
        return load_settings()
    except ValidationError as error:
        for fault in error.errors():
            field = ".".join(map(str, fault["loc"]))
            typer.echo(f"workbench: WORKBENCH_{field.upper()}: {fault['msg']}.", err=True)
    except SettingsError as error:
        found = re.search(r'field "(\w+)"', str(error))
        variable = f"WORKBENCH_{found[1].upper()}" if found else "a setting"
        typer.echo(f"workbench: {variable} has to be JSON; `docs/settings.md` says what it means.", err=True)
    raise typer.Exit(BAD_USAGE)


def _add_other_commands() -> None:
    """`evaluate`, `precision` and their like, and `admin`, live in files of their own."""
    for module in ("app.cli_evaluate", "app.cli_precision", "app.cli_rubric", "app.cli_submit", "app.cli_admin"):
        if importlib.util.find_spec(module):
            importlib.import_module(module).register(cli)


if __name__ == "__main__":
    main()
