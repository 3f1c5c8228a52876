"""The budget's S, the named rules and the movement in float64 as an evaluation uses them."""

import pytest

from app.domain.report import Verdict

HEAD = """
import torch
def make_inputs(*, seed, n):
    x = torch.randn(n, 512, generator=torch.Generator().manual_seed(seed))
    return (x + {shift},)
"""
NORM = """
def reference(x):
    return torch.nn.functional.layer_norm(x, (512,))
"""
IN_ORDER = """
import torch
def solution(x):
    mean = x.cumsum(1)[:, -1:] / 512
    centred = x - mean
    return centred * torch.rsqrt((centred * centred).cumsum(1)[:, -1:] / 512 + 1e-5)
"""
ONE_PASS = """
import torch
def solution(x):
    mean = x.mean(1, keepdim=True)
    return (x - mean) * torch.rsqrt((x * x).mean(1, keepdim=True) - mean * mean + 1e-5)
"""
TOLERANCE = "[tolerance]\natol = 1.0\nrtol = 1.0\n"


@pytest.mark.parametrize(("solution", "within"), [(IN_ORDER, True), (ONE_PASS, False)])
def test_a_layer_norm_whose_terms_cancel(bench, solution, within):
    """Zeros are within that tolerance, so that the budget decides."""
    report = bench.judge(solution, reference=HEAD.format(shift="1000.0") + NORM, extra=TOLERANCE)
    outputs = [o for w in report.workloads if w.decides for o in w.outputs]
    assert outputs and all("first-order" in o.budget_basis and "K = 512" in o.budget_basis for o in outputs)
    assert all(o.budget_ratio < 1 for o in outputs) is within
    assert report.verdict is (Verdict.ACCEPTED if within else Verdict.WRONG_RESULT)
    assert len(report.rules) == 11 and set(report.rules.values()) <= {"pass", "fail"}
    assert report.for_submitter().rules == {}


def test_a_task_whose_answer_is_always_zero_is_constant(bench):
    zero = "\ndef reference(x):\n    return (x - x.mean(1, keepdim=True)).sum(1)\n"
    report = bench.judge(IN_ORDER, reference=HEAD.format(shift="3.0") + zero)
    assert report.verdict is Verdict.INVALID_TASK
    assert {"task.constant_output"} == {f.code for f in report.findings if f.code.startswith("task.")}


def test_constant_inputs_let_errors_grow_with_k(bench):
    source = "import torch\ndef make_inputs(*, seed, n):\n    return (torch.full((n, 512), 0.1 + seed % 7),)\n"
    reference = source + "def reference(x):\n    return x.sum(1)\n"
    solution = "def solution(x):\n    return x.cumsum(1)[:, -1]\n"
    report = bench.judge(
        solution, reference=reference, extra="[tolerance]\natol = 0.0\nrtol = 1e-9\nbudget = 'decides'\n"
    )
    assert report.verdict is Verdict.ACCEPTED
    own = [o for w in report.workloads if w.family == "task" for o in w.outputs]
    assert own and all("g(K) = K" in o.budget_basis for o in own)  # other families' inputs are not constant


@pytest.mark.parametrize(("wrong", "flushed"), [("torch.zeros(())", True), ("y * 4", False)])
def test_a_flush_to_zero_where_none_is_allowed_is_called_one(bench, wrong, flushed):
    source = "import torch\ndef make_inputs(*, seed, n):\n    x = torch.randn(n, 512, generator="
    source += "torch.Generator().manual_seed(seed))\n    x[0] *= 1e-39\n    return (x,)\n"
    solution = (
        f"import torch\ndef solution(x):\n    y = x * 2\n    return torch.where(y.abs() < 2.0**-126, {wrong}, y)\n"
    )
    report = bench.judge(
        solution, reference=source + "def reference(x):\n    return x * 2\n", extra="[tolerance]\nmax_ulp = 1\n"
    )
    assert report.verdict is Verdict.WRONG_RESULT
    said = [f.message for f in report.findings if f.code == "numerics.wrong_values"]
    assert said and all(("flushed to zero" in message) is flushed for message in said)
