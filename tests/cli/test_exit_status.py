"""`workbench evaluate` as a shell sees it: what it writes where, and with which status it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.engine import TASKS, ZOO

WORKBENCH = Path(sys.executable).with_name("workbench")
SOFTMAX = TASKS / "softmax"


def workbench(*arguments, **environment):
    command = [str(WORKBENCH), "evaluate", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **environment}
    )


@pytest.mark.parametrize(
    ("specimen", "status"),
    [("numpy-diff/good_torch", 0), ("layernorm/no_entry", 1), ("softmax/slow_to_interpret", 4)],
)
def test_the_verdict_decides(engine, specimen, status):
    task, name = specimen.split("/")
    done = workbench(TASKS / task, ZOO / task / f"{name}.py", "--json", "-")
    assert done.returncode == status, done.stderr
    assert json.loads(done.stdout)["schema_version"] == 1


def test_an_invalid_task_is_undecided(engine, tmp_path):
    (tmp_path / "task.toml").write_text((SOFTMAX / "task.toml").read_text())
    (tmp_path / "reference.py").write_text(
        "def make_inputs(**_):\n    return 1\ndef reference(x):\n    raise ValueError\n"
    )
    assert workbench(tmp_path, ZOO / "softmax" / "good.py").returncode == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((TASKS / "nothing", ZOO / "softmax/good.py"), "missing"),
        ((SOFTMAX, ZOO / "softmax/nothing.py"), "no such file"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--workload", "zz"), "no workload is named zz; the task has square, tail"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--framework", "cuda"), "accepts torch, triton, not cuda"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--stages", "guess"), "stages are"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--stages", "compile,guess"), "correctness, integrity"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--stages", ","), "names none"),
        (
            (SOFTMAX, ZOO / "softmax/good.py", "--environments", "cuda:sm_90,sm_80"),
            "<target>[@<version>]:<architecture>",
        ),
        ((SOFTMAX, ZOO / "softmax/good.py", "--artefacts", ZOO), "not an empty folder"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--artefacts", SOFTMAX / "task.toml"), "File exists"),
        ((SOFTMAX, ZOO / "softmax/good.py", "--replay", ZOO / "softmax/good.py"), "no report that can be replayed"),
        ((SOFTMAX,), "Missing argument"),
    ],
    ids=[
        "task",
        "submission",
        "workload",
        "framework",
        "stages",
        "one-stage",
        "no-stage",
        "environments",
        "artefacts-full",
        "artefacts-file",
        "replay",
        "arguments",
    ],
)
def test_bad_usage_says_what_is_wrong(engine, arguments, told):
    done = workbench(*arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split()), done.stderr


def test_the_source_alone_needs_no_runtime(tmp_path):
    """No runtime is there that a process could be started in."""
    done = workbench(
        SOFTMAX, ZOO / "softmax/good.py", "--stages", "inspect", "--json", "-",
        WORKBENCH_RUNTIMES='{"none": "/nowhere"}',
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    stages = {s["name"]: (s["status"], s["reason"]) for s in json.loads(done.stdout)["stages"]}
    assert stages.pop("inspect") == ("passed", None)
    assert set(stages.values()) == {("not_measured", "not asked for")}


def test_artefacts_are_kept_in_a_new_folder(engine, tmp_path):
    place = tmp_path / "a" / "b"
    done = workbench(TASKS / "numpy-diff", ZOO / "numpy-diff/reversed.py", "--artefacts", place)
    assert done.returncode == 1, done.stderr
    assert json.loads((place / "report.json").read_text())["verdict"] == "wrong_result"


def test_a_malformed_task_names_the_line(tmp_path):
    (tmp_path / "task.toml").write_text((SOFTMAX / "task.toml").read_text().replace("schema = 1", "schema = 7"))
    (tmp_path / "reference.py").write_text("")
    done = workbench(tmp_path, ZOO / "softmax" / "good.py")
    assert done.returncode == 2
    assert "task.toml:1: schema" in done.stderr


def test_a_missing_runtime_is_our_failure():
    done = workbench(SOFTMAX, ZOO / "softmax" / "good.py", WORKBENCH_RUNTIMES='{"none": "/nowhere"}')
    assert done.returncode == 3
    assert "torch runtime" in done.stderr
