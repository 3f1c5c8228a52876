"""The arrows between the rooms: all contracts hold, and each of them catches a fault planted for it."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


class Fault(NamedTuple):
    """An import that must not be, in a file that exists (or a new one)."""

    contract: str
    file: str
    line: str


FAULTS = [
    Fault("app-knows-no-worker", "app/evaluations/service.py", "import workers.jobs"),
    Fault("app-knows-no-worker", "app/doctor/host.py", "import workers.sandbox"),
    Fault("nouns-street", "app/evaluations/service.py", "import app.submissions.service"),
    Fault("nouns-street", "app/kit/queue.py", "import app.accounts"),
    Fault("nouns-street", "app/novelties/__init__.py", "'A noun without a place on the street.'"),
    Fault("services-know-no-web", "app/submissions/service.py", "import fastapi"),
    Fault("models-know-no-web", "app/models/base.py", "import celery"),
    Fault("domain-is-plain", "app/domain/report.py", "import pydantic"),
    Fault("engine-knows-the-dictionary-only", "workers/judge/verdicts.py", "import app.models"),
    Fault("engine-knows-the-dictionary-only", "workers/candidate/serve.py", "import app.config"),
    Fault("engine-needs-no-services", "workers/judge/verdicts.py", "import sqlalchemy"),
    Fault("judge-and-foreign-code-meet-as-processes", "workers/judge/verdicts.py", "import workers.candidate.program"),
    Fault("judge-and-foreign-code-meet-as-processes", "workers/candidate/serve.py", "import workers.judge.verdicts"),
    Fault("judge-and-foreign-code-meet-as-processes", "workers/reference/serve.py", "import workers.candidate.program"),
    Fault("checks-stand-alone", "workbench_checks/result.py", "import workers.judge.numerics"),
    Fault("judge-runs-no-framework", "workers/judge/verdicts.py", "import torch"),
    Fault("judge-above-sandbox-above-wire", "workers/sandbox/limits.py", "import workers.judge.verdicts"),
    Fault("jobs-know-no-web", "workers/jobs/__init__.py", "import fastapi"),
]


def lint(folder, *contracts):
    command = [str(LINT), "--no-cache", "--no-logo", *(f"--contract={contract}" for contract in contracts)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The tree's Python files, where faults can be planted."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("app", "workers", "workbench_checks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "static"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_all_contracts_hold():
    done = lint(ROOT)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.file}: {fault.line}")
def test_a_planted_fault_is_caught(copy, fault):
    file = copy / fault.file
    before = file.read_text() if file.exists() else None
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{before or ''}\n{fault.line}\n")
    try:
        done = lint(copy, fault.contract)
    finally:
        if before is None:
            shutil.rmtree(file.parent)
        else:
            file.write_text(before)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout or "exhaustive" in done.stdout


def test_every_contract_has_a_planted_fault():
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

    assert {contract["id"] for contract in configured} == {fault.contract for fault in FAULTS}


def run_without_packages(code):
    """Under `-S` no installed package can be imported at all, so that an import proves itself."""
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_dictionary_needs_no_installed_package():
    names = sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts) for file in (ROOT / "app" / "domain").rglob("*.py")
    )

    done = run_without_packages("\n".join(f"import {name}" for name in names))

    assert names
    assert done.returncode == 0, done.stderr


def test_loading_the_judge_loads_no_framework_and_no_service():
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in sorted((ROOT / "workers" / "judge").rglob("*.py"))
        if file.name != "__main__.py"
    ]
    unwanted = ("torch", "triton", "jax", "fastapi", "sqlalchemy", "celery", "redis", "pydantic")
    code = "\n".join(f"import {name}" for name in names)
    code += f"\nimport sys; print(*(name for name in {unwanted} if name in sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
