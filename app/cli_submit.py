"""`workbench submit-many`: a folder or a file of submissions to a workbench, and what became of each."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import httpx

ALL_TAKEN, SOME_REFUSED, BAD_USAGE, OUR_FAILURE = 0, 1, 2, 3
FIELDS = "submission.json"
_LEFT_OUT = {"__pycache__", ".git"}
_PAGE, _POLL_SECONDS, _TIMEOUT_SECONDS = 200, 1.0, 60.0


class CannotSubmit(Exception):
    """What stands in the way, as a sentence, and the exit status."""

    def __init__(self, message: str, status: int = BAD_USAGE) -> None:
        super().__init__(message)
        self.status = status


def register(cli: typer.Typer) -> None:
    cli.command(name="submit-many")(submit_many)


def submit_many(
    source: Annotated[
        Path,
        typer.Argument(
            help="A .jsonl file; or a folder, of which each file or sub-folder is a submission. A sub-folder's"
            " submission.json holds its fields: task, title, model, key and so on.",
        ),
    ],
    task: Annotated[str | None, typer.Option(help="The task of what in a folder does not name one.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check; submit nothing.")] = False,
    server: Annotated[
        str, typer.Option(envvar="WORKBENCH_BASE_URL", help="The workbench's address.")
    ] = "http://127.0.0.1:8000",
    token: Annotated[
        str, typer.Option(envvar="WORKBENCH_TOKEN", help="An API token with the scopes `submit` and `read`.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print each row's result as a line of JSON.")] = False,
) -> None:
    """Submit many kernels at once, wait until each is taken or refused, and print what became of them.

    Sending the same again submits nothing twice.
    Exit status: 0 all taken, 1 some rows refused, 2 bad usage, 3 our own failure or no answer.
    """
    import httpx

    if not token:
        raise _stop("no token; make one on your account page and set WORKBENCH_TOKEN", BAD_USAGE)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        body = read(source, task)
        with httpx.Client(base_url=server, headers=headers, timeout=_TIMEOUT_SECONDS) as client:
            status = _report(send(client, body, is_dry_run=dry_run), as_json=as_json)
    except httpx.HTTPError as error:
        raise _stop(f"{server} does not answer: {error}", OUR_FAILURE) from None
    except CannotSubmit as problem:
        raise _stop(str(problem), problem.status) from None
    raise typer.Exit(status)


def read(source: Path, task: str | None = None) -> bytes:
    """The JSON Lines to send; a file goes as it is."""
    if source.is_file():
        return source.read_bytes()
    if not source.is_dir():
        raise CannotSubmit(f"there is no file or folder {source}")
    entries = sorted(e for e in source.iterdir() if not e.name.startswith(".") and e.name not in _LEFT_OUT)
    if not entries:
        raise CannotSubmit(f"the folder {source} is empty")
    return b"".join(json.dumps(_row(entry, task)).encode() + b"\n" for entry in entries)


def send(
    client: httpx.Client, body: bytes, *, is_dry_run: bool = False, pause: Callable[[], None] | None = None
) -> Iterator[dict[str, Any]]:
    """Send the lines and follow the import to its end: each row's result, then the import itself."""
    pause = pause or (lambda: time.sleep(_POLL_SECONDS))
    # The same lines are the same request: what was interrupted here is followed, not begun anew.
    key = hashlib.sha256(b"%d" % is_dry_run + body).hexdigest()
    headers = {"Content-Type": "application/jsonl", "Idempotency-Key": key}
    params = {"dry_run": is_dry_run}
    sent = _answer(client.post("/api/v1/submissions/bulk", content=body, params=params, headers=headers))
    cursor: dict[str, str] = {}
    while True:
        found = _answer(client.get(f"/api/v1/imports/{sent['id']}", params={"limit": _PAGE, **cursor}))
        is_last_page = found["next_cursor"] is None
        if not is_last_page:
            yield from found["results"]
            cursor = {"cursor": found["next_cursor"]}
        elif found["state"] in ("done", "failed"):
            yield from found["results"]
            yield {name: value for name, value in found.items() if name not in ("results", "next_cursor")}
            return
        else:
            pause()


def _report(found: Iterator[dict[str, Any]], *, as_json: bool) -> int:
    """Print as it comes; the exit status."""
    last: dict[str, Any] = {}
    for last in found:
        if as_json:
            typer.echo(json.dumps(last, ensure_ascii=False))
        elif "row" in last:
            typer.echo(_as_text(last))
    if not as_json:
        counts = ", ".join(f"{count} {status}" for status, count in last["counts"].items() if count)
        typer.echo(f"{last['rows_done']} of {last['rows']} rows: {counts or 'none'}; {last['url']}")
    if last["state"] == "failed" or last["counts"]["failed"]:
        return OUR_FAILURE
    return SOME_REFUSED if last["counts"]["refused"] else ALL_TAKEN


def _as_text(result: dict[str, Any]) -> str:
    problem = result["problem"] or {}
    said = f"{problem['detail']}. {problem['what_to_do']}" if problem else result["submission"] or ""
    named = f" [{result['key']}]" if result["key"] else ""
    return f"{result['row']:>5}  {result['status']:<8}{named}  {said}"


def _row(entry: Path, task: str | None) -> dict[str, Any]:
    """A folder with its fields, or one source file; of a folder's files all but the one with the fields."""
    if entry.is_file():
        return {"task": task, "title": entry.stem, "files": {entry.name: _text(entry)}}
    paths = sorted(p for p in entry.rglob("*") if p.is_file() and not _LEFT_OUT & set(p.parts))
    files = {p.relative_to(entry).as_posix(): _text(p) for p in paths if p != entry / FIELDS}
    return {"task": task, "title": entry.name, "files": files} | _fields(entry / FIELDS)


def _fields(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        said = json.loads(_text(path))
    except ValueError as error:
        raise CannotSubmit(f"{path} is not JSON: {error}") from None
    if not isinstance(said, dict) or "files" in said:
        raise CannotSubmit(f"{path} has to be a JSON object of fields, without `files`")
    return said


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CannotSubmit(f"{path} is not text; many at once takes source only") from None


def _answer(response: httpx.Response) -> dict[str, Any]:
    try:
        body: dict[str, Any] = response.json()
    except ValueError:
        body = {"detail": f"it answered {response.status_code} without JSON; is it a workbench?", "what_to_do": ""}
    if response.status_code >= 400 or "detail" in body:
        message = f"{body.get('detail', response.status_code)}. {body.get('what_to_do', '')}".strip()
        raise CannotSubmit(message, OUR_FAILURE if response.status_code >= 500 else BAD_USAGE)
    return body


def _stop(message: str, status: int) -> typer.Exit:
    typer.echo(f"workbench submit-many: {message}", err=True)
    return typer.Exit(status)
