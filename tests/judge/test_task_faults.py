# ruff: noqa: E501, ISC004 - tables read better in long lines
"""A task that cannot be judged is the task's fault, never the submission's."""

from __future__ import annotations

import pytest

from app.domain.report import Verdict

DOUBLE = "def solution(x):\n    return x * 2\n"
INPUTS = "import torch\ndef make_inputs(*, seed, n):\n    return torch.randn(n, generator=torch.Generator().manual_seed(seed))\n"


def codes(report):
    return {f.code for f in report.findings}


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        (INPUTS + "def reference(x):\n    raise ValueError('n == 911')", "task.reference_raises"),
        (INPUTS + "def reference(x):\n    import os\n    os._exit(0)", "task.reference_raises"),
        (INPUTS + "def reference(x):\n    return object()", "task.reference_raises"),
        (INPUTS + "def reference(x):\n    return x.to_sparse()", "task.reference_raises"),
        (INPUTS + "def reference(x):\n    return x * float('nan')", "task.reference_nonfinite"),
        (INPUTS + "def reference(x):\n    return torch.full_like(x, 3.0)", "task.constant_output"),
        (INPUTS + "def reference(x):\n    return x - x", "task.constant_output"),
        (INPUTS, "task.reference_raises"),
        ("def reference(x):\n    return x", "task.reference_raises"),
        (INPUTS + "def reference(x)\n    return x", "task.reference_raises"),
        ("import nothing_of_the_kind", "task.reference_raises"),
        ("def make_inputs(*, seed):\n    return 1\ndef reference(x):\n    return x", "task.reference_raises"),
    ],
    ids=[
        "raises",
        "exits",
        "object",
        "sparse",
        "nan",
        "constant",
        "zero",
        "no-reference",
        "no-inputs",
        "syntax",
        "import",
        "params",
    ],
)
def test_a_broken_reference_is_an_invalid_task(bench, reference, code):
    report = bench.judge(DOUBLE, reference=reference)
    assert report.verdict is Verdict.INVALID_TASK
    assert code in codes(report)


def test_a_reference_that_hangs_is_an_invalid_task(bench, monkeypatch):
    monkeypatch.setattr("workers.judge.reader.IMPORT_SECONDS", 10)
    report = bench.judge(DOUBLE, reference=INPUTS + "def reference(x):\n    while True: pass", extra="")
    assert report.verdict is Verdict.INVALID_TASK
    assert "task.reference_hangs" in codes(report)


@pytest.mark.parametrize(
    "check", ["raise KeyError", "return True", "return 1, 2, 3", "import os; os._exit(3)", "return False, 'never'"]
)
def test_a_broken_check_is_an_invalid_task(bench, check):
    reference = INPUTS + f"def reference(x):\n    return x * 2\ndef check(inputs, outputs, oracle):\n    {check}"
    report = bench.judge(DOUBLE, reference=reference)
    assert report.verdict is Verdict.INVALID_TASK
    assert "task.check_failed" in codes(report)


def test_a_broken_task_tells_a_submitter_nothing_of_hidden_workloads(bench):
    reference = INPUTS + "def reference(x):\n    assert len(x) != 61, 'n == 911'\n    return x * 2"
    shown = str(bench.judge(DOUBLE, reference=reference).for_submitter().to_json())
    assert "prime-sizes" not in shown
    assert "n == 911" not in shown


@pytest.mark.parametrize(
    "reference",
    [
        INPUTS + "def reference(x):\n    x.mul_(2)\n    y = x.clone()\n    x.zero_()\n    return y",
        INPUTS + "def reference(x):\n    return torch.where(x > 0, x * 2, x * 2)",
        INPUTS + "def reference(x):\n    assert x.dtype == torch.float32\n    return x * 2",
        INPUTS + "def reference(x):\n    return (x.double() * 2).to(x.dtype) if x.dtype != torch.float64 else x * 2",
        INPUTS.replace("return torch", "return [torch").replace("seed))", "seed))]")
        + "def reference(x):\n    return [x * 2]",
        "import numpy as np\ndef make_inputs(*, seed, n):\n    return np.random.default_rng(seed).normal(size=n).astype('f4')\n"
        "def reference(x):\n    return np.multiply(x, 2)",
    ],
    ids=["mutates", "where", "insists-on-dtype", "double-inside", "lists", "numpy"],
)
def test_an_unusual_reference_is_no_fault(bench, reference):
    report = bench.judge(DOUBLE, reference=reference)
    assert report.verdict is Verdict.ACCEPTED, report.findings
    assert not codes(report)


def test_precedence_a_suspect_beats_a_wrong_result(bench):
    report = bench.judge("import time\ntime.perf_counter = lambda: 0\ndef solution(x):\n    return x * 3\n")
    assert report.verdict is Verdict.SUSPECT
    assert "numerics.wrong_values" in codes(report)


def test_many_workloads_do_not_run_out_of_descriptors(bench):
    """Each call brings one descriptor for each input; the candidate may hold 512."""
    from tests.judge.conftest import TASK

    task = TASK + "".join(f'[[workloads]]\nname = "w{n}"\nparams = {{{{ n = {n} }}}}\n' for n in range(1, 31))
    reference = """
import torch

def make_inputs(*, seed, n):
    g = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(n, generator=g) for _ in range(8))

def reference(*parts):
    return sum(parts)
"""
    report = bench.judge("def solution(*parts):\n    return sum(parts)\n", task=task, reference=reference)
    assert report.verdict is Verdict.ACCEPTED, [f.message for f in report.findings][:3]
