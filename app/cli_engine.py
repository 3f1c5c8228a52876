"""What the commands that run foreign code share: sandboxes by the settings, exit statuses, how they stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from workers.sandbox import Sandboxes

ACCEPTED, REJECTED, BAD_USAGE, OUR_FAILURE, UNDECIDED = 0, 1, 2, 3, 4


def open_sandboxes(*, needed: bool = True) -> Sandboxes:
    """Cold sandboxes; nothing starts before it is used, and reading the source alone uses none."""
    from app.config import load_settings
    from workers.local import sandboxes_for

    settings = load_settings()
    if needed and "torch" not in settings.runtimes:
        stop("the torch runtime is missing; run `make setup`, or name one in WORKBENCH_RUNTIMES", OUR_FAILURE)
    return sandboxes_for(settings.runtimes, warm=False, allow_unsandboxed=settings.allow_unsandboxed)


def stop(message: str, status: int, command: str = "evaluate") -> NoReturn:
    typer.echo(f"workbench {command}: {message}", err=True)
    raise typer.Exit(status)
