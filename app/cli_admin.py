"""`workbench admin`: what an operator does from a shell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from app.domain.review import Role

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

admin = typer.Typer(help="Schema, people and demo data.", no_args_is_help=True, rich_markup_mode=None)


def register(cli: typer.Typer) -> None:
    cli.add_typer(admin, name="admin")


@admin.command()
def migrate() -> None:
    """Bring the database to the newest schema (`serve` does it by itself)."""
    from app.config import load_settings
    from app.supervisor import prepare
    from app.supervisor.errors import ServeError

    try:
        prepare.migrate(load_settings())
    except ServeError as error:
        typer.echo(f"workbench admin migrate: {error}", err=True)
        raise typer.Exit(error.status) from error


@admin.command()
def seed_demo() -> None:
    """Make the demo's people, tasks and submissions, and print who can sign in."""
    from app.config import load_settings
    from app.supervisor import prepare

    for login in prepare.seed_demo(load_settings()):
        typer.echo(f"{login.login:<12} {login.password:<14} {login.role}")


@admin.command()
def create_user(
    login: Annotated[str, typer.Argument(help="What they sign in with.")],
    role: Annotated[list[Role], typer.Option(help="May be given several times.")],
    name: Annotated[str, typer.Option(help="As pages show it; default: the login.")] = "",
    team: Annotated[str, typer.Option(help="Reviews within a team count as a conflict of interest.")] = "",
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True)] = "",
) -> None:
    """Make a person who can sign in."""
    from app.accounts import service

    with _write() as session:
        user = service.create_user(session, login=login, name=name or login, roles=role, password=password, team=team)
        typer.echo(f"made {user.login} ({', '.join(user.roles)})")


@admin.command()
def set_password(
    login: Annotated[str, typer.Argument(help="Whose password.")],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True)] = "",
) -> None:
    """Set a password; it ends every sign-in that the old one opened."""
    from app.accounts import queries, service
    from app.errors import NotFound

    with _write() as session:
        user = queries.user_by_login(session, login)
        if user is None:
            raise NotFound(f"there is no {login!r}", what_to_do="See `workbench admin create-user`.")
        service.set_password(session, user, password)
        typer.echo(f"set the password of {user.login}")


@admin.command()
def review_task(
    name: Annotated[str, typer.Argument(help="The task whose design is to be reviewed.")],
    reason: Annotated[str, typer.Option(help="Why; reviewers read it in the queue.")],
    by: Annotated[str, typer.Option(help="The login of the admin or adjudicator who asks.")],
    version: Annotated[int, typer.Option(help="Which version; default: the newest.")] = 0,
) -> None:
    """Put the design of a task into the review queue."""
    from app.accounts import queries as account_queries
    from app.accounts.policy import viewer_of
    from app.assignments import designs
    from app.config import load_settings
    from app.errors import NotFound
    from app.evaluations.task_health import health_of
    from app.tasks import queries

    with _write() as session:
        user = account_queries.user_by_login(session, by)
        if user is None:
            raise NotFound(f"there is no {by!r}", what_to_do="Name the login of an admin or adjudicator.")
        task = queries.find_version(session, name, version or None)
        health = health_of(session, task.id)
        subject = designs.ask_for_review(session, load_settings(), viewer_of(user), task, health, reason=reason)
        typer.echo(f"version {task.version} of {task.task.name} is in the queue as {subject.public_id}")


@admin.command()
def compare(
    task: Annotated[str, typer.Argument(help="Name or id of the task.")],
    submissions: Annotated[list[str], typer.Argument(help="Ids of two to four evaluated submissions to it.")],
    by: Annotated[str, typer.Option(help="Login of the adjudicator or admin who asks for it.")],
    version: Annotated[int | None, typer.Option(help="Of the task; default: the newest.")] = None,
) -> None:
    """Open a comparison for reviewers to rank."""
    from app.accounts import queries
    from app.accounts.policy import viewer_of
    from app.comparisons import service
    from app.config import load_settings
    from app.errors import NotFound
    from app.tasks import queries as task_queries

    with _write() as session:
        user = queries.user_by_login(session, by)
        if user is None:
            raise NotFound(f"there is no {by!r}", what_to_do="See `workbench admin create-user`.")
        found = task_queries.find_version(session, task, version)
        opened = service.open_comparison(session, load_settings(), viewer_of(user), found, submissions)
        typer.echo(f"opened {opened.public_id}")


@contextmanager
def _write() -> Iterator[Session]:
    from app.config import load_settings
    from app.kit.db import Database

    database = Database(load_settings())
    try:
        with database.write() as session:
            yield session
    finally:
        database.close()
