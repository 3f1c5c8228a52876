"""`workbench rubric`: clear messages, exit statuses, and files that go in and come out the same."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from app import cli_rubric
from app.errors import NotFound
from app.rubrics import content, service

GENERATION = service.DATA / "generation.yaml"


@pytest.fixture
def run(settings, database, monkeypatch):
    """The command over a database that holds the shipped rubrics."""
    with database.write() as session:
        service.seed(session)
    monkeypatch.setattr("app.config.load_settings", lambda: settings)
    cli = typer.Typer()
    cli_rubric.register(cli)
    return lambda *words: CliRunner().invoke(cli, ["rubric", *map(str, words)])


class TestLint:
    def test_a_sound_rubric_is_said_to_be_sound(self, run):
        answer = run("lint", *sorted(service.DATA.glob("*.yaml")))
        assert answer.exit_code == 0 and answer.stdout.count("nothing to remark") == 7

    def test_each_fault_stands_on_its_line(self, run, tmp_path):
        bad = tmp_path / "bad.yaml"
        bad.write_text(GENERATION.read_text().replace("numerics.wrong_*: 0", "numerics.wrongly: 0"))
        answer = run("lint", bad)
        assert answer.exit_code == 1
        assert f"{bad}:60: fault: correct.caps.numerics.wrongly: 'numerics.wrongly' is no finding code" in answer.stdout

    def test_what_is_no_rubric_is_said_in_words(self, run, tmp_path):
        (tmp_path / "a.yaml").write_text("a: [")
        assert "fault: not YAML" in run("lint", tmp_path / "a.yaml").stdout
        assert run("lint", tmp_path / "none.yaml").exit_code == 2


class TestDiff:
    def test_names_each_change_and_the_class(self, run, tmp_path):
        mine = tmp_path / "mine.yaml"
        mine.write_text(GENERATION.read_text().replace("title: Generation", "title: Making"))
        answer = run("diff", "generation@1", mine)
        assert answer.exit_code == 1
        assert answer.stdout == "wording     title: Generation → Making\nclass: wording\n"

    def test_equal_ones_do_not_differ(self, run):
        answer = run("diff", "generation", GENERATION)
        assert (answer.exit_code, answer.stdout) == (0, "class: none\n")


class TestImportAndExport:
    def test_out_and_in_again_is_the_next_draft_with_the_same_content(self, run, tmp_path):
        for options, name in (([], "out.yaml"), (["--json"], "out.json")):
            (tmp_path / name).write_text(run("export", "generation", *options).stdout)
            assert content.read_yaml((tmp_path / name).read_text()) == content.read_yaml(GENERATION.read_text())
        assert json.loads((tmp_path / "out.json").read_text())["key"] == "generation"
        assert "draft of generation, version 2" in run("import", tmp_path / "out.json").stdout
        assert run("diff", "generation@1", "generation@2").exit_code == 0

    def test_what_is_not_there_says_what_is(self, run):
        answer = run("export", "generation@7")
        assert isinstance(answer.exception, NotFound) and "generation@1" in answer.exception.what_to_do
