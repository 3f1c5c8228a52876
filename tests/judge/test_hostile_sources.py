"""Sources that could hang or fill the judge while it only reads them."""

from __future__ import annotations

import time

import pytest

from app.domain.task import TaskError, TaskSpec, Workload, parse_spec, read_bundle
from workers.judge.faults import SubmissionError
from workers.judge.inspection import inspect_python
from workers.judge.submission import MAX_SOURCE_BYTES, read_submission

SPEC = TaskSpec("t", "t", "generation", ("torch", "triton"), "t", (Workload("w", {}),))


def read(tmp_path, **files):
    source = tmp_path / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name.replace("_py", ".py")).write_text(text)
    return read_submission(source, SPEC, tmp_path / "staging")


@pytest.mark.parametrize("text", ["\n" * 1_000_000, " " * 1_000_000 + "x", "from\n" * 200_000, "def " * 200_000])
def test_reading_takes_time_in_proportion(tmp_path, text):
    start = time.monotonic()
    read(tmp_path, a_py=text)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "source",
    [
        "-" * 100_000 + "1",
        "(" * 10_000,
        "if a:\n pass\n" + "elif a:\n pass\n" * 20_000,
        "x" + ".b" * 2500,
        "1" + "+1" * 5000,
        "1" * 5000,
    ],
    ids=["unary", "parentheses", "elif", "attributes", "sum", "number"],
)
def test_sources_nested_too_deeply_for_a_parser(source):
    assert inspect_python("a.py", source) == []


def test_more_source_than_can_be_read_is_said_and_the_main_file_comes_first(tmp_path):
    junk = "#" * (MAX_SOURCE_BYTES // 2)
    submission = read(tmp_path, a_py=junk, b_py=junk, submission_py="def solution(x):\n    return x\n" + junk)
    assert submission.main == "submission.py"
    assert submission.unread_sources() == ["a.py", "b.py"]
    assert [name for name, _ in submission.sources()] == ["submission.py"]


@pytest.mark.parametrize(
    "name", ["a\nb.py", "\x1b[2J.py", b"\xff.py".decode(errors="surrogateescape"), "\u202eyp.a.py"]
)
def test_names_that_are_no_printable_line(tmp_path, name):
    (tmp_path / name).write_text("def solution(x): return x")
    with pytest.raises(SubmissionError, match="printable"):
        read_submission(tmp_path, SPEC, tmp_path.parent / "staging")


def test_a_link_beside_a_submission_is_not_followed(tmp_path):
    (tmp_path / "a.py").write_text("def solution(x): return x")
    (tmp_path / "build.json").symlink_to("/etc/passwd")
    assert read_submission(tmp_path / "a.py", SPEC, tmp_path / "staging").files == ("a.py",)


def test_a_line_of_spaces_in_a_task_with_a_mistake():
    start = time.monotonic()
    with pytest.raises(TaskError):
        parse_spec('description = """\n[a' + " " * 500_000 + 'b\n"""\n')
    assert time.monotonic() - start < 5


def test_a_reference_that_is_a_link_would_not_be_in_the_hash(tmp_path):
    task = tmp_path / "task"
    task.mkdir()
    (task / "task.toml").write_text("schema = 1\n")
    (tmp_path / "elsewhere.py").write_text("")
    (task / "reference.py").symlink_to("../elsewhere.py")
    with pytest.raises(TaskError, match="a link"):
        read_bundle(task)
