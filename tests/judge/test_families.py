"""Beyond a task's own inputs: what its contract grants decides, anything else is information."""

from __future__ import annotations

import pytest

from app.domain.report import Severity, StageStatus, Verdict
from workers.judge import families, outside

SECRET = bytes(range(32))
TASK = """schema = 1
name = "rows"
title = "Rows"
kind = "generation"
frameworks = ["torch"]
description = "words"
[[workloads]]
name = "open"
params = {{ rows = 6, cols = 64 }}
[tolerance]
atol = 1e-6
rtol = 1e-5
[limits]
seconds = 30
{extra}
"""
INPUTS = """
import torch

def make_inputs(*, seed, rows, cols):
    return (torch.randn(rows, cols, generator=torch.Generator().manual_seed(seed)),)
"""
SOFTMAX = INPUTS + "\ndef reference(x):\n    return torch.softmax(x, -1)\n"
DOUBLE = INPUTS + "\ndef reference(x):\n    return x * 2\n"
TOTAL = INPUTS + "\ndef reference(x):\n    return x.sum(-1)\n"
RIGHT = "def solution(x):\n    return x.softmax(-1)\n"
NO_MAXIMUM = "def solution(x):\n    e = x.exp()\n    return e / e.sum(-1, keepdim=True)\n"
# Whole tiles of 16 only: what is left over at the end of a row stays as it was.
WHOLE_TILES = "def solution(x):\n    y = x.clone()\n    n = x.shape[1] // 16 * 16\n    y[:, :n] *= 2\n    return y\n"
AXES = "[contract]\naxes = { cols = { min = 0, max = 300 } }"


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch):
    """What is asked for must not depend on how busy the machine is."""
    monkeypatch.setattr(families, "OUTSIDE_SECONDS", 60.0)
    monkeypatch.setattr(outside, "ALL_SECONDS", 60.0)
    monkeypatch.setattr(outside, "CALL_SECONDS", 20.0)
    monkeypatch.setattr(outside, "SLOW_CALL_SECONDS", 5.0)


def judged(bench, submission, reference, contract="", task=TASK, **request):
    return bench.judge(submission, reference=reference, task=task, extra=contract, secret=SECRET, **request)


def codes(report):
    return {f.code for f in report.findings}


def rows_of(report, family):
    return [w for w in report.workloads if w.family == family]


def test_a_family_outside_the_contract_is_told_and_decides_nothing(bench):
    report = judged(bench, NO_MAXIMUM, SOFTMAX)
    assert report.verdict is Verdict.ACCEPTED
    [finding] = [f for f in report.findings if f.code == "numerics.outside_contract"]
    assert "decides nothing" in finding.message
    assert "huge" in finding.evidence["families"]
    assert finding.severity is Severity.INFO, "where it overflows is its author's choice"
    [row] = rows_of(report, "huge")
    assert (row.status, row.decides) == (StageStatus.FLAGGED, False)
    assert "1 of 1 workloads" in report.headline


def test_ordinary_numbers_outside_the_contract_are_worth_a_warning(bench):
    on_own_only = "def solution(x):\n    return x * 2 if (x.sum(-1) != 1).any() else x\n"
    report = judged(bench, on_own_only, DOUBLE)
    [finding] = [f for f in report.findings if f.code == "numerics.outside_contract"]
    assert (report.verdict, finding.severity) == (Verdict.ACCEPTED, Severity.WARNING)
    assert "one-hot" in finding.evidence["families"]


def test_subnormal_results_may_be_flushed_unless_the_contract_names_them(bench):
    flushes = "def solution(x):\n    y = x * 2\n    return y * (y.abs() >= 1.1754943508222875e-38)\n"
    exact = TASK.replace("atol = 1e-6", "atol = 0.0")
    report = judged(bench, flushes, DOUBLE, task=exact)
    assert "numerics.outside_contract" not in codes(report)
    assert [row.status for row in rows_of(report, "subnormal")] == [StageStatus.PASSED]
    named = judged(bench, flushes, DOUBLE, '[contract]\nvalues = ["subnormal"]', task=exact)
    assert named.verdict is Verdict.WRONG_RESULT


def test_the_same_family_decides_where_the_contract_names_it(bench):
    report = judged(bench, NO_MAXIMUM, SOFTMAX, '[contract]\nvalues = ["huge"]')
    assert report.verdict is Verdict.WRONG_RESULT
    [row] = rows_of(report, "huge")
    assert (row.name, row.status, row.decides) == ("open, huge values", StageStatus.FAILED, True)
    assert any(f.code == "numerics.nan_mismatch" and "`open, huge values`" in f.message for f in report.findings)


def test_a_right_kernel_passes_every_family_in_the_contract(bench):
    names = ", ".join(f'"{name}"' for name in families.OUTSIDE)
    report = judged(bench, RIGHT, SOFTMAX, f'[contract]\nvalues = [{names}]\nlayouts = ["strided", "offset"]')
    assert report.verdict is Verdict.ACCEPTED, report.findings
    assert len(report.scope.workloads_run) == 1 + len(families.OUTSIDE) + 2


TWO = INPUTS + "\ndef reference(x):\n    return x * 2, x[:, :1].nan_to_num(0, 0, 0) + x.sum() * 0\n"


@pytest.mark.parametrize(
    ("first", "verdict"), [("x * 2", Verdict.ACCEPTED), ("x.nan_to_num(0, 0, 0) * 2", Verdict.WRONG_RESULT)]
)
def test_an_output_of_nothing_but_nan_leaves_the_others_to_be_judged(bench, first, verdict):
    kernel = f"def solution(x):\n    return {first}, x[:, :1].nan_to_num(0, 0, 0)\n"
    report = judged(bench, kernel, TWO, '[contract]\nvalues = ["inf"]')
    assert report.verdict is verdict, report.findings
    [row] = rows_of(report, "inf")
    assert [o.decided_by for o in row.outputs][1:] == ["reference_range"]
    assert "task.contract_unmet" not in codes(report)


def test_a_tail_that_only_other_shapes_have_rejects_by_the_contract(bench):
    report = judged(bench, WHOLE_TILES, DOUBLE, AXES)
    assert report.verdict is Verdict.WRONG_RESULT
    failing = {w.name for w in report.workloads if w.status is StageStatus.FAILED}
    assert failing
    assert all(name.startswith("open, cols=") for name in failing)
    assert any(f.workload in failing and f.workload in f.message for f in report.findings)


def test_and_without_a_contract_it_is_not_asked_for(bench):
    report = judged(bench, WHOLE_TILES, DOUBLE)
    assert report.verdict is Verdict.ACCEPTED
    assert report.scope.workloads_run == ("open",)


def test_a_right_kernel_passes_the_drawn_shapes(bench):
    report = judged(bench, "def solution(x):\n    return x + x\n", DOUBLE, AXES)
    assert report.verdict is Verdict.ACCEPTED
    assert {"open, cols=0", "open, cols=1", "open, cols=300"} < set(report.scope.workloads_run)


def test_axes_that_seldom_fit_together_are_drawn_one_at_a_time(bench):
    """A reference that takes its own number of rows or of columns, but not another of both, as `k <= columns` does."""
    picky = DOUBLE.replace("    return (", "    assert rows == 6 or cols == 64\n    return (", 1)
    both = AXES.replace("axes = {", "axes = { rows = { min = 1, max = 40 },")
    report = judged(bench, WHOLE_TILES, picky, both)
    assert report.verdict is Verdict.WRONG_RESULT
    assert "task.contract_unmet" in codes(report)
    assert any(w.name == "open, cols=300" for w in report.workloads)


def test_a_layout_decides_where_the_contract_names_it(bench):
    flat = "import torch\ndef solution(x):\n    s = x.untyped_storage()\n"
    flat += "    return torch.empty(0).set_(s)[:x.numel()].reshape(x.shape) * 2\n"
    assert judged(bench, flat, DOUBLE).verdict is Verdict.ACCEPTED
    report = judged(bench, flat, DOUBLE, '[contract]\nlayouts = ["contiguous", "strided", "offset"]')
    assert report.verdict is Verdict.WRONG_RESULT
    failing = {w.name for w in report.workloads if w.status is StageStatus.FAILED}
    assert failing == {"open, strided inputs", "open, offset inputs"}


def test_what_the_reference_cannot_take_is_the_tasks_business(bench):
    picky = DOUBLE.replace("return x * 2", "assert x.shape[1] and x.abs().max() < 100\n    return x * 2")
    report = judged(bench, "def solution(x):\n    return x * 2\n", picky, AXES + '\nvalues = ["huge"]')
    assert report.verdict is Verdict.ACCEPTED
    unmet = {f.workload for f in report.findings if f.code == "task.contract_unmet"}
    assert unmet == {"open, huge values", "open, cols=0"}


def test_outside_the_contract_it_is_not_measured(bench):
    picky = DOUBLE.replace("return x * 2", "assert x.abs().max() < 100\n    return x * 2")
    report = judged(bench, "def solution(x):\n    return x * 2\n", picky)
    [row] = rows_of(report, "huge")
    assert (row.status, row.decides) == (StageStatus.NOT_MEASURED, False)
    assert "cannot take it" in row.reason
    assert "numerics.outside_contract" not in codes(report)


def test_a_kernel_that_dies_outside_the_contract_stays_accepted(bench):
    dies = "import os\ndef solution(x):\n    if x.abs().max() > 1e9:\n        os._exit(3)\n    return x * 2\n"
    report = judged(bench, dies, DOUBLE)
    assert report.verdict is Verdict.ACCEPTED
    assert "numerics.outside_contract" in codes(report)
    assert "runtime.crash" not in codes(report)


def test_exact_sums_are_recognised_and_rounded_ones_told(bench):
    exact = judged(bench, "def solution(x):\n    return x.flip(-1).sum(-1)\n", TOTAL)
    assert [o.decided_by for o in rows_of(exact, "integers")[0].outputs] == ["integer_exact"]
    drops = "def solution(x):\n    return x.sum(-1) * (1 + 2e-6)\n"
    report = judged(bench, drops, TOTAL)
    assert report.verdict is Verdict.ACCEPTED
    assert "numerics.inexact_on_integers" in codes(report)


def test_another_order_of_a_sum_is_not_held_against_a_kernel(bench):
    """Terms of many magnitudes cancel: the tolerance is far too narrow, the error budget is not."""
    backwards = "def solution(x):\n    return x.flip(-1).cumsum(-1)[:, -1]\n"
    report = judged(bench, backwards, TOTAL, '[contract]\nvalues = ["wide", "huge", "positive", "normal", "tiny"]')
    assert report.verdict is Verdict.ACCEPTED, [f.message for f in report.findings]


def test_a_clipped_term_is(bench):
    clips = "def solution(x):\n    return x.clamp(-100, 100).sum(-1)\n"
    assert judged(bench, clips, TOTAL).verdict is Verdict.ACCEPTED
    assert judged(bench, clips, TOTAL, '[contract]\nvalues = ["wide"]').verdict is Verdict.WRONG_RESULT


def test_hidden_parameters_stay_hidden(bench):
    hidden = TASK.replace("cols = 64 }}", "cols = 64 }}\nhidden = true")
    picky = DOUBLE.replace("return x * 2", "assert x.shape[1] and x.abs().max() < 100, x.shape\n    return x * 2")
    shown = judged(bench, WHOLE_TILES, picky, AXES + '\nvalues = ["huge"]', task=hidden).for_submitter()
    assert shown.verdict is Verdict.WRONG_RESULT
    assert "task.contract_unmet" in codes(shown)
    assert "cols=" not in str(shown)
    assert "torch.Size" not in str(shown)
    assert "open" not in str([*shown.findings, *shown.workloads, shown.not_checked, shown.scope])
    assert all(w.name.startswith("hidden-") for w in shown.workloads)


def test_workloads_are_called_in_an_order_of_the_secrets_and_listed_in_the_tasks(bench):
    many = TASK.replace("[tolerance]", "".join(
        f'[[workloads]]\nname = "w{n}"\nparams = {{{{ rows = {n}, cols = 9 }}}}\n' for n in range(2, 9)
    ) + "[tolerance]")  # fmt: skip
    tells = "def solution(x):\n    print('ROWS', x.shape[0])\n    return x * 2\n"
    orders = []
    for secret in (SECRET, SECRET, SECRET[::-1]):
        report = bench.judge(tells, reference=DOUBLE, task=many, secret=secret)
        orders.append([line for line in report.log.splitlines() if line.startswith("ROWS")])
        names = [w.name for w in report.workloads if w.decides]
        assert names == sorted(names, key=["open", *(f"w{n}" for n in range(2, 9))].index)
        assert report.verdict is Verdict.ACCEPTED
    assert orders[0] == orders[1] != orders[2]
