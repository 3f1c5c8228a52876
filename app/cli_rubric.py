"""`workbench rubric`: rubrics as files, so that they can live in git."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.kit.db import Database
    from app.rubrics.content import RubricContent

FAULTY, BAD_USAGE = 1, 2

rubric = typer.Typer(help="Check, compare, import and export rubrics.", no_args_is_help=True, rich_markup_mode=None)
Named = Annotated[str, typer.Argument(help="A YAML or JSON file, or KEY or KEY@VERSION of the database.")]


def register(cli: typer.Typer) -> None:
    cli.add_typer(rubric, name="rubric")


@rubric.command()
def lint(files: Annotated[list[Path], typer.Argument(help="YAML or JSON files.")]) -> None:
    """Print each fault and doubt as file:line; exit status 1 when there is a fault."""
    from app.errors import Invalid
    from app.rubrics import lint as rules

    is_faulty = False
    for path in files:
        text = _text_of(path)
        try:
            remarks = rules.lint_text(text)
        except Invalid as error:
            typer.echo(f"{path}: fault: {error.message}")
            is_faulty = True
            continue
        for remark in remarks:
            typer.echo(remark.located(str(path), text))
            is_faulty |= remark.is_fault
        if not remarks:
            typer.echo(f"{path}: nothing to remark")
    raise typer.Exit(FAULTY if is_faulty else 0)


@rubric.command()
def diff(before: Named, after: Named) -> None:
    """Print what differs, each with its class, and the class of the whole; exit status 1 when anything does."""
    from app.rubrics import changes

    found = changes.changes(_content_of(before), _content_of(after))
    for change in found:
        typer.echo(f"{change.reach.word:<11} {change.sentence()}")
    typer.echo(f"class: {changes.reach_of(found).word}")
    raise typer.Exit(FAULTY if found else 0)


@rubric.command(name="import")
def import_file(file: Annotated[Path, typer.Argument(help="A YAML or JSON file.")]) -> None:
    """Keep the file as a draft: of a new rubric, or of the next version of the one with its key."""
    from app.rubrics import service

    text = _text_of(file)
    with _database() as database, database.write() as session:
        draft = service.import_yaml(session, None, text)
        typer.echo(f"draft of {draft.rubric.key}, version {draft.version}: publish it at /rubrics/{draft.public_id}")


@rubric.command()
def export(
    name: Named, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of YAML.")] = False
) -> None:
    """Print a rubric of the database; without @VERSION, the newest that is published."""
    from app.rubrics import content

    found = _content_of(name)
    typer.echo(content.write_json(found) if as_json else content.write_yaml(found), nl=False)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        typer.echo(f"workbench rubric: {path} cannot be read: {error}", err=True)
        raise typer.Exit(BAD_USAGE) from None


def _content_of(name: str) -> RubricContent:
    """A file where there is one, else a version of the database."""
    from app.rubrics import content

    path = Path(name)
    if path.suffix in (".yaml", ".yml", ".json") or path.is_file():
        return content.read_yaml(_text_of(path))
    return _of_database(name)


def _of_database(name: str) -> RubricContent:
    from app.errors import NotFound
    from app.rubrics import content, queries

    key, _, number = name.partition("@")
    with _database() as database, database.read() as session:
        row = queries.rubric_by_key(session, key)
        versions = queries.list_versions(session, rubric_id=row.id) if row else []
    wanted = [v for v in versions if (str(v.version) == number if number else v.state == "published")]
    if not wanted:
        there = ", ".join(f"{key}@{v.version}" for v in versions) or "no version of it"
        raise NotFound(f"there is no published rubric or file {name!r}", what_to_do=f"There is {there}.")
    return content.read(wanted[0].content)


@contextmanager
def _database() -> Iterator[Database]:
    from app.config import load_settings
    from app.kit.db import Database

    database = Database(load_settings())
    try:
        yield database
    finally:
        database.close()
