"""Every mistake in a task.toml is told with file, line and field."""

from __future__ import annotations

import pytest

from app.domain.task import TaskError, parse_spec, read_bundle

GOOD = """schema = 1
name = "row-softmax"
title = "Row softmax"
kind = "generation"
frameworks = ["triton"]
description = "words"

[[workloads]]
name = "a"
params = { rows = 8 }

[[workloads]]
name = "b"
hidden = true

[tolerance]
atol = 1e-5

[policy]
caching = "plan"

[limits]
seconds = 5
"""


def errors(text: str) -> str:
    with pytest.raises(TaskError) as caught:
        parse_spec(text)
    return str(caught.value)


def test_the_good_one_is_read():
    spec = parse_spec(GOOD)
    assert [w.name for w in spec.workloads] == ["a", "b"]
    assert spec.workloads[1].hidden
    assert spec.tolerance.default.atol == 1e-5
    assert spec.policy.library_calls == "allowed"
    assert (spec.version, spec.entry, spec.limits.memory_mb) == (1, "solution", 8192)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('title = "Row softmax"', 'titel = "x"', ["task.toml:3: titel: unknown key; did you mean 'title'?"]),
        ('title = "Row softmax"\n', "", ["title: required (text)"]),
        ('title = "Row softmax"', "title = 3", ["task.toml:3: title: must be text, not 3"]),
        ("schema = 1", "schema = 2", ["task.toml:1: schema: must be one of 1, not 2"]),
        ("schema = 1", "schema = true", ["task.toml:1: schema: must be a whole number"]),
        ('name = "row-softmax"', 'name = "Row Softmax"', ["task.toml:2: name: must be a slug"]),
        ('name = "row-softmax"', 'name = "../x"', ["task.toml:2: name: must be a slug"]),
        (
            "[limits]",
            '[environments]\ncompile = ["cuda:sm_90a", "cuda@13.0:sm_90", "hip:gfx942", "sm_80"]\n[limits]',
            ["task.toml:23: environments.compile[3]: must be <target>[@<version>]:<architecture>, such as cuda:sm_90a"],
        ),
        ('kind = "generation"', 'kind = "magic"', ["task.toml:4: kind: must be one of generation, translation"]),
        ('frameworks = ["triton"]', "frameworks = []", ["task.toml:5: frameworks: must not be empty"]),
        ('frameworks = ["triton"]', 'frameworks = ["tirton"]', ["task.toml:5: frameworks[0]: must be one of"]),
        ('frameworks = ["triton"]', 'frameworks = "triton"', ["task.toml:5: frameworks: must be a list"]),
        ("hidden = true", 'hidden = "yes"', ["task.toml:14: workloads[1].hidden: must be true or false"]),
        ("hidden = true", "hiden = true", ["task.toml:14: workloads[1].hiden: unknown key; did you mean 'hidden'?"]),
        ('name = "b"', 'name = "a"', ["task.toml:13: workloads[1].name: the name 'a' is used twice"]),
        ("atol = 1e-5", "atol = -1", ["task.toml:17: tolerance.atol: must be at least 0"]),
        ("atol = 1e-5", "atol = nan", ["task.toml:17: tolerance.atol: must be at least 0"]),
        ("atol = 1e-5", "aotl = 1", ["task.toml:17: tolerance.aotl: unknown key; did you mean 'atol'?"]),
        ('caching = "plan"', 'caching = "all"', ["task.toml:20: policy.caching: must be one of none, plan, weights"]),
        ("seconds = 5", "seconds = 0", ["task.toml:23: limits.seconds: must be above 0"]),
        ("seconds = 5", "seconds = inf", ["task.toml:23: limits.seconds: must be at most 3600"]),
        ("seconds = 5", "seconds = nan", ["task.toml:23: limits.seconds: must be above 0"]),
        ("seconds = 5", "memory_mb = 999999999999", ["task.toml:23: limits.memory_mb: must be at most 1048576"]),
        ("params = { rows = 8 }", "params = 8", ["task.toml:10: workloads[0].params: must be a table"]),
        ("[limits]", "[clauses]", ["task.toml:22: clauses: must be a list"]),
    ],
)
def test_a_mistake_is_told_with_its_place(old, new, told):
    message = errors(GOOD.replace(old, new, 1))
    for part in told:
        assert part in message


def test_all_mistakes_are_told_at_once():
    message = errors(GOOD.replace("schema = 1", "schema = 9").replace('caching = "plan"', 'caching = "x"'))
    assert len(message.splitlines()) == 2


def test_broken_toml_names_the_line():
    assert "line 3" in errors(GOOD.replace('title = "Row softmax"', "title = "))


def test_a_clause_has_to_name_workloads_that_exist():
    assert "no workload is named 'zz'" in errors(GOOD + '[[clauses]]\ntext = "t"\nworkloads = ["a", "zz"]\n')


@pytest.mark.parametrize("missing", ["task.toml", "reference.py", "both"])
def test_a_folder_without_its_files_is_no_bundle(tmp_path, missing):
    if missing == "reference.py":
        (tmp_path / "task.toml").write_text(GOOD)
    if missing == "task.toml":
        (tmp_path / "reference.py").write_text("")
    with pytest.raises(TaskError, match="missing"):
        read_bundle(tmp_path)


def test_a_task_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "task.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "reference.py").write_text("")
    with pytest.raises(TaskError, match="UTF-8"):
        read_bundle(tmp_path)


CONTRACT = """[contract]
values = ["huge"]
axes = { rows = { min = 0, max = 64, multiple_of = 8 } }
layouts = ["contiguous", "strided"]
"""


def test_a_contract_is_read():
    contract = parse_spec(GOOD + CONTRACT).contract
    assert (contract.values, contract.layouts) == (("huge",), ("contiguous", "strided"))
    axis = contract.axes["rows"]
    assert [n for n in range(80) if axis.holds(n)] == list(range(0, 65, 8))


def test_without_a_contract_there_is_none():
    assert parse_spec(GOOD).contract is None


def test_an_axis_begins_with_its_first_multiple_where_nothing_is_said():
    axis = parse_spec(GOOD + "[contract]\naxes = { rows = { max = 9, multiple_of = 4 } }").contract.axes["rows"]
    assert [n for n in range(20) if axis.holds(n)] == [4, 8]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rows = { min", "cols = { min", "contract.axes.cols: no workload has a parameter 'cols'"),
        ("min = 0, max = 64", "min = 9, max = 15", "no multiple of 8 lies between 9 and 15"),
        ("min = 0, max = 64", "min = 0", "contract.axes.rows.max: required (a whole number)"),
        ("multiple_of = 8", "multiple_of = 0", "must be at least 1"),
        ('"huge"', '"gigantic"', "contract.values[0]: must be one of normal, positive"),
        ('"strided"', '"tiled"', "contract.layouts[1]: must be one of contiguous, strided, offset"),
    ],
)
def test_a_contract_that_cannot_be_kept_is_refused(old, new, told):
    assert told in errors(GOOD + CONTRACT.replace(old, new, 1))


def test_an_axis_needs_whole_numbers_in_the_workloads():
    assert "no whole number" in errors(GOOD.replace("rows = 8", "rows = true") + CONTRACT)
