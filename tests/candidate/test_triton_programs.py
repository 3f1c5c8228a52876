"""Runs the programs beside this file with the torch runtime's interpreter, one test per check."""

from __future__ import annotations

import ast
import json
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
REPOSITORY = HERE.parents[1]
PYTHON = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
PROGRAMS = [HERE / "programs" / f"{name}.py" for name in ("numerics", "memory", "launching", "cuda_program")]

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the torch runtime is not installed")


def _checks() -> list[tuple[str, str]]:
    return [
        (program.stem, node.name)
        for program in PROGRAMS
        for node in ast.parse(program.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str | None]]:
    cache = str(tmp_path_factory.mktemp("cache"))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TRITON_CACHE_DIR": cache}
    environment.pop("TRITON_INTERPRET", None)
    command = [str(PYTHON), str(HERE / "programs" / "harness.py"), *map(str, PROGRAMS)]
    done = subprocess.run(
        command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULTS ")]
    assert lines, done.stdout[-4000:] + done.stderr[-4000:]
    found: dict[str, dict[str, str | None]] = json.loads(lines[-1].removeprefix("RESULTS "))
    return found


@pytest.mark.parametrize(("program", "check"), _checks())
def test_program(results: dict[str, dict[str, str | None]], program: str, check: str) -> None:
    assert "crash" not in results[program], results[program]
    assert results[program][check] is None, results[program][check]
