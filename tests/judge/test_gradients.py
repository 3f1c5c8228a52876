"""Gradients that a task asks for decide like outputs; what only the reference lacks is the task's fault."""

from __future__ import annotations

import pytest

from app.domain.report import StageStatus, Verdict

GRADIENTS = '[gradients]\nwrt = ["x"]'
BOTH = '[gradients]\nwrt = ["x", "w"]'
INPUTS = "import torch\ndef make_inputs(*, seed, n):\n    g = torch.Generator().manual_seed(seed)\n"
ONE = INPUTS + "    return torch.randn(n, generator=g),\n"
TWO = INPUTS + "    return torch.randn(n, generator=g), torch.randn(n, generator=g)\n"
NUMPY = """
import numpy as np

def make_inputs(*, seed, n):
    return np.random.default_rng(seed).normal(size=n),

def reference(x):
    return x * 2
"""
FUNCTION = """
import torch

class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *given):
        ctx.save_for_backward(*given)
        return {forward}

    @staticmethod
    def backward(ctx, grad):
        given = ctx.saved_tensors
        return {backward}

def solution(*given):
    return F.apply(*given)
"""


def codes(report):
    return {f.code for f in report.findings}


def rows(report):
    return {o.name: o for w in report.workloads if w.family == "gradients" for o in w.outputs}


def test_gradients_are_rows_of_their_own(bench):
    report = bench.judge("def solution(x):\n    return x.exp()", reference=ONE + "def reference(x):\n    return x.exp()", extra=GRADIENTS)  # fmt: skip # noqa: E501
    assert report.verdict is Verdict.ACCEPTED
    assert rows(report)["grad(x)"].ok
    assert rows(report)["grad(x)"].reference_max_ulp is not None


def test_memory_is_counted_in_bytes(bench):
    """exp keeps its result: 64 float32."""
    report = bench.judge("def solution(x):\n    return x.exp()", reference=ONE + "def reference(x):\n    return x * x.exp() / x", extra=GRADIENTS)  # fmt: skip # noqa: E501
    told = next(f for f in report.findings if f.code == "gradients.memory" and f.workload == "open").evidence
    assert told["candidate"] == {"saved_bytes": 256, "saved_beyond_inputs_bytes": 256, "peak_bytes": 512}
    assert told["reference"]["saved_bytes"] == 768  # x, exp(x) and their product


@pytest.mark.parametrize(
    ("reference", "wrt"),
    [
        (ONE + "def reference(x):\n    return x * 2", "y"),
        (ONE + "def reference(x):\n    return x.detach() * 2", "x"),
        (ONE + "def reference(x):\n    return (x > 0).long()", "x"),
        (INPUTS + "    return torch.randint(0, 9, (n,), generator=g),\ndef reference(x):\n    return x * 2.0", "x"),
        (NUMPY, "x"),
    ],
    ids=["no-such-argument", "detached", "integers-out", "integers-in", "numpy"],
)  # fmt: skip
def test_a_reference_without_gradients_is_an_invalid_task(bench, reference, wrt):
    report = bench.judge(
        "def solution(x):\n    return x * 2", reference=reference, extra=f'[gradients]\nwrt = ["{wrt}"]'
    )
    assert report.verdict is Verdict.INVALID_TASK
    assert "task.gradients_failed" in codes(report)


@pytest.mark.parametrize(
    ("backward", "verdict"),
    [
        ("2 * grad * given[0], None", Verdict.ACCEPTED),
        ("2 * grad * given[0], torch.zeros_like(grad)", Verdict.ACCEPTED),
        ("2 * grad * given[0], grad", Verdict.WRONG_RESULT),
        ("None, None", Verdict.WRONG_RESULT),
    ],
)
def test_an_input_without_influence_has_the_gradient_0_or_none(bench, backward, verdict):
    reference = TWO + "def reference(x, w):\n    return x * x + (w > 9)"
    submission = FUNCTION.format(forward="given[0] * given[0] + (given[1] > 9)", backward=backward)
    assert bench.judge(submission, reference=reference, extra=BOTH).verdict is verdict


def test_gradients_below_the_tolerance_are_compared_all_the_same(bench):
    """Zeros would be within `atol` everywhere."""
    extra = "[tolerance]\natol = 0.01\nrtol = 0.01\n" + GRADIENTS
    reference = ONE + "def reference(x):\n    return torch.round(x * 4) + x * 1e-6"
    forward = "torch.round(given[0] * 4) + given[0] * 1e-6"
    for backward, verdict in (("grad * 1e-6", Verdict.ACCEPTED), ("grad * 0", Verdict.WRONG_RESULT)):
        report = bench.judge(FUNCTION.format(forward=forward, backward=backward), reference=reference, extra=extra)
        assert report.verdict is verdict, codes(report)


def test_gradients_may_be_much_larger_than_the_tolerance_of_outputs(bench):
    """A sum of many rounded terms in another order, a thousand times the output's tolerance."""
    extra = "[tolerance]\natol = 1e-7\nrtol = 0\n" + BOTH
    reference = INPUTS + (
        "    return torch.randn(500, n, generator=g), torch.randn(n, generator=g)\n"
        "def reference(x, w):\n    return torch.tanh(x * 100 * w) * 1e-3"
    )
    reordered = FUNCTION.format(
        forward="torch.tanh(given[0] * 100 * given[1]) * 1e-3",
        backward="_grads(grad, *given)",
    ) + (
        "\ndef _grads(grad, x, w):\n"
        "    inner = grad * 1e-3 * (1 - torch.tanh(x * 100 * w) ** 2) * 100\n"
        "    return inner * w, (inner * x).flip(0).cumsum(0)[-1]\n"
    )
    assert bench.judge(reordered, reference=reference, extra=extra).verdict is Verdict.ACCEPTED
    wrong = reordered.replace("(inner * x)", "(inner * x)[1:]")
    assert bench.judge(wrong, reference=reference, extra=extra).verdict is Verdict.WRONG_RESULT


def test_a_tolerance_of_their_own_decides(bench):
    reference = ONE + "def reference(x):\n    return x.exp()"
    submission = FUNCTION.format(forward="given[0].exp()", backward="grad * given[0].exp() * 1.01")
    strict = bench.judge(submission, reference=reference, extra=GRADIENTS)
    loose = bench.judge(submission, reference=reference, extra=f'[tolerance."grad(x)"]\nrtol = 0.02\n{GRADIENTS}')
    assert (strict.verdict, loose.verdict) == (Verdict.WRONG_RESULT, Verdict.ACCEPTED)


def test_inputs_that_may_be_changed_have_gradients_too(bench):
    extra = '[policy]\nin_place = ["x"]\n' + GRADIENTS
    reference = ONE + "def reference(x):\n    x.mul_(3)"
    assert bench.judge("def solution(x):\n    x.mul_(3)", reference=reference, extra=extra).verdict is Verdict.ACCEPTED


def test_several_outputs_of_which_one_is_cut_off(bench):
    reference = ONE + "def reference(x):\n    return (x > 0), x.exp(), x.sin()"
    submission = "def solution(x):\n    return (x > 0), x.exp(), x.sin().detach()"
    report = bench.judge(submission, reference=reference, extra=GRADIENTS)
    assert report.verdict is Verdict.WRONG_RESULT
    message = next(f.message for f in report.findings if f.code == "gradients.missing")
    assert message.startswith("`out2` is cut off from the inputs")
    row = next(w for w in report.workloads if w.family == "gradients")
    assert (row.status, row.reason) == (StageStatus.FAILED, message)


def test_a_task_without_gradients_asks_for_none(bench):
    report = bench.judge("def solution(x):\n    return (x * 2).detach()")
    assert report.verdict is Verdict.ACCEPTED
    assert rows(report) == {}


@pytest.mark.parametrize(
    "forged",
    ["{}", "{'manifest': {'list': []}, 'storages': []}", "{'manifest': {'list': [{'int': 1}]}, 'storages': [4]}", "7"],
)
def test_an_answer_that_is_none_is_no_gradient(bench, forged):
    submission = f"""
import workers.candidate.serve as serve

asked = serve.differentiate

def differentiate(called, message, fds):
    reply, out = asked(called, message, fds)
    return {{**reply, "gradients": {forged}, "detached": [10**9, -1], "memory": "much"}}, out[:1]

serve.differentiate = differentiate

def solution(x):
    return x.exp()
"""
    report = bench.judge(submission, reference=ONE + "def reference(x):\n    return x.exp()", extra=GRADIENTS)
    assert report.verdict is Verdict.WRONG_SHAPE, codes(report)
