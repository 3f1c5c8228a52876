"""`workbench submit-many`: a folder becomes rows, an import is followed to its end, and what is wrong is said."""

from __future__ import annotations

import json

import pytest
import typer
from starlette.testclient import TestClient
from typer.testing import CliRunner

from app import cli_submit
from app.accounts import service as accounts
from app.cli_submit import CannotSubmit
from app.imports import service
from app.kit.db import Database
from app.main import create_app
from tests import factories
from workers.jobs import import_submissions as job


@pytest.fixture
def client(settings, sender):
    """A workbench with a task; the client bears a submitter's token."""
    app = create_app(settings)
    app.state.database.close()
    app.state.database = Database(settings, sender)
    with app.state.database.write() as session:
        factories.make_task(session, settings)
        viewer = factories.make_viewer(session)
        _, secret = accounts.create_token(session, settings, viewer, name="t", scopes=["submit", "read"])
    with TestClient(app, headers={"Authorization": f"Bearer {secret}"}) as client:
        yield client


@pytest.fixture
def send(client, settings, sender):
    """What `send` yields, with a worker that works in its pauses."""
    database = client.app.state.database

    def work():
        assert sender.jobs, "nobody will ever do it"
        for name, arguments in sender.jobs:
            if name == service.JOB:
                job.run(database, settings, arguments["import_id"])
        sender.jobs.clear()

    return lambda body, **more: list(cli_submit.send(client, body, pause=work, **more))


@pytest.fixture
def folder(tmp_path):
    """A file, a folder with fields, and one that is no kernel of the task."""
    (root := tmp_path / "many").mkdir()
    (root / "plain.py").write_text("import triton\n")
    (root / "tuned" / "src").mkdir(parents=True)
    (root / "tuned" / "src" / "kernel.py").write_text("import triton\n# tuned\n")
    (root / "tuned" / "submission.json").write_text(json.dumps({"key": "t/1", "title": "Tuned"}))
    (root / "wrong").mkdir()
    (root / "wrong" / "k.cu").write_text("__global__ void k() {}\n")
    (root / ".git").mkdir()
    return root


def test_a_folder_becomes_a_row_for_each_thing_in_it(folder):
    rows = [json.loads(line) for line in cli_submit.read(folder, "row-softmax").splitlines()]
    assert rows == [
        {"task": "row-softmax", "title": "plain", "files": {"plain.py": "import triton\n"}},
        {"task": "row-softmax", "title": "Tuned", "key": "t/1", "files": {"src/kernel.py": "import triton\n# tuned\n"}},
        {"task": "row-softmax", "title": "wrong", "files": {"k.cu": "__global__ void k() {}\n"}},
    ]


def test_what_it_sends_is_followed_to_its_end(send, folder, monkeypatch):
    monkeypatch.setattr(cli_submit, "_PAGE", 2)
    *rows, whole = send(cli_submit.read(folder, "row-softmax"))
    assert [(r["row"], r["status"], r["key"]) for r in rows] == [
        (1, "created", None), (2, "created", "t/1"), (3, "refused", None),
    ]  # fmt: skip
    assert whole["state"] == "done" and "results" not in whole


def test_sent_again_it_is_the_same_import_and_no_more(send, folder):
    body = cli_submit.read(folder, "row-softmax")
    first, again = send(body), send(body)
    assert first == again
    assert [r["status"] for r in send(body, is_dry_run=True)[:-1]] == ["existing", "existing", "refused"]


def test_the_summary_and_the_exit_status(send, folder, capsys):
    body = cli_submit.read(folder, "row-softmax")
    assert cli_submit._report(iter(send(body)), as_json=False) == cli_submit.SOME_REFUSED
    printed = capsys.readouterr().out
    assert "refused" in printed and "this task does not take cuda" in printed
    assert "3 of 3 rows: 2 created, 1 refused; http" in printed
    good = body.splitlines(keepends=True)[0]
    assert cli_submit._report(iter(send(good)), as_json=True) == cli_submit.ALL_TAKEN
    assert json.loads(capsys.readouterr().out.splitlines()[0])["status"] == "existing"


def test_a_refused_request_is_said_in_the_servers_words(client):
    client.headers["Authorization"] = "Bearer wbt_nothing"
    with pytest.raises(CannotSubmit, match="unknown or revoked") as refused:
        list(cli_submit.send(client, b"{}\n"))
    assert refused.value.status == cli_submit.BAD_USAGE


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("submission.json", "{", "is not JSON"),
        ("submission.json", "[]", "a JSON object"),
        ("k.bin", "\udcff", "not text"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, text, says):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CannotSubmit, match=says):
        cli_submit.read(tmp_path, "t")


def test_the_command_says_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.delenv("WORKBENCH_TOKEN", raising=False)
    cli = typer.Typer()
    cli_submit.register(cli)
    cli.command()(lambda: None)
    run = lambda *words: CliRunner().invoke(cli, ["submit-many", *words])  # noqa: E731
    assert run(str(tmp_path)).exit_code == cli_submit.BAD_USAGE
    (tmp_path / "k.py").write_text("import triton\n")
    nobody = run(str(tmp_path), "--task", "t", "--token", "x", "--server", "http://127.0.0.1:9")
    assert nobody.exit_code == cli_submit.OUR_FAILURE and "does not answer" in nobody.stderr
