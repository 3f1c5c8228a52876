"""`workbench precision` as a shell sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.engine import TASKS

WORKBENCH = Path(sys.executable).with_name("workbench")
SOFTMAX = TASKS / "softmax"


def precision(*arguments, **environment):
    command = [str(WORKBENCH), "precision", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **environment}
    )


def test_a_table_and_the_same_as_json(engine, tmp_path):
    done = precision(SOFTMAX, "--workload", "square", "--json", tmp_path / "costs.json")

    assert done.returncode == 0, done.stderr
    lines = {line.split("  ")[0]: line for line in done.stdout.splitlines()}
    assert lines["fp32"].endswith("is what the task declares")
    assert lines["bf16"].endswith("is refused")
    assert "Needs: fp32 for the inputs (32 bits)" in done.stdout
    told = json.loads((tmp_path / "costs.json").read_text())
    assert (told["task"], told["needs"], told["hidden"], told["outputs_rounded"]) == ("softmax", "fp32", [], False)
    assert {row["format"] for row in told["formats"]} <= set(lines)
    half = next(row for row in told["formats"] if row["format"] == "fp16" and row["arithmetic"] == "float64")
    assert half["costs"][0]["workload"] == "square"
    assert half["costs"][0]["normalised_rms"] > 1e-5


def test_json_alone_on_standard_output(engine):
    done = precision(SOFTMAX, "--workload", "tail", "--outputs", "--json", "-")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outputs_rounded"] is True


@pytest.mark.parametrize(
    ("arguments", "told"),
    [((TASKS / "nothing",), "missing"), ((SOFTMAX, "--workload", "zz"), "named zz"), ((), "Missing argument")],
)
def test_bad_usage(engine, arguments, told):
    done = precision(*arguments)

    assert done.returncode == 2
    assert told in done.stderr


def test_a_task_that_cannot_be_judged_is_undecided(engine, tmp_path):
    (tmp_path / "task.toml").write_text((SOFTMAX / "task.toml").read_text())
    (tmp_path / "reference.py").write_text(
        "def make_inputs(**_):\n    return 1\ndef reference(x):\n    raise ValueError\n"
    )
    done = precision(tmp_path)

    assert done.returncode == 4
    assert "ValueError" in done.stderr


def test_a_missing_runtime_is_our_failure():
    done = precision(SOFTMAX, WORKBENCH_RUNTIMES='{"none": "/nowhere"}')

    assert done.returncode == 3
    assert "torch runtime" in done.stderr
