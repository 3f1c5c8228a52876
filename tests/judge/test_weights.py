"""Tasks with weights: what the task made reaches what the submission built, or the verdict says that it did not."""

from __future__ import annotations

import pytest

from app.domain.report import Severity, Verdict

REFERENCE = """
import torch
from torch import nn

class Model(nn.Module):
{model}

reference = Model

def make_inputs(*, seed, n):
    return (torch.randn(3, 8, generator=torch.Generator().manual_seed(seed)){cast},)

def make_state(*, seed, n):
    torch.manual_seed(seed)
    args = {args}
    return args, {state}
"""
LINEAR = """
    def __init__(self, width=8, bias=True):
        super().__init__()
        self.layer = nn.Linear(width, 5, bias=bias)
        self.register_buffer("scale", torch.full((5,), 1.5), persistent=False)
    def forward(self, x):
        return self.layer(x) * self.scale
"""
TIED = """
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
        self.outer.weight = self.inner.weight
    def forward(self, x):
        return self.outer(self.inner(x).relu())
"""
TIED_ONCE = """
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8, bias=False)
    def forward(self, x):
        return self.inner(self.inner(x).relu())
"""
NORM = """
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
    def forward(self, x):
        return self.norm(x) + self.norm.running_mean
"""
WITHOUT_COUNT = NORM.replace("nn.BatchNorm1d(8)", "nn.BatchNorm1d(8); self.norm.num_batches_tracked = None")
COUNTING = NORM.replace("+ self.norm.running_mean", "* self.norm.num_batches_tracked")
NESTED = """
    def __init__(self, widths, options):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(a, b, **options) for a, b in zip(widths, widths[1:])))
    def forward(self, x):
        return self.layers(x)
"""


def reference(model=LINEAR, args="()", state="Model(*args).state_dict()", cast=""):
    return REFERENCE.format(model=model, args=args, state=state, cast=cast)


def submission(model=LINEAR):
    return f"import torch\nfrom torch import nn\nclass solution(nn.Module):\n{model}"


def codes(report):
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    ("task", "model"),
    [
        (reference(state="Model().half().state_dict()", cast=".half()"), LINEAR),
        (reference(state="Model().half().state_dict()", cast=".half()"), LINEAR.replace("layer", "other")),
        (reference(TIED), TIED),
        (reference(TIED), TIED_ONCE),
        (reference(TIED_ONCE), TIED),
        (reference(NORM), NORM),
        (reference(NORM), WITHOUT_COUNT),
        (reference(NESTED, "{'widths': [8, 6, 2], 'options': {'bias': False}}", "Model(**args).state_dict()"), NESTED),
        (reference(args="{'bias': False}", state="Model(**args).state_dict()"), LINEAR),
        (reference(args="[[8], {'bias': False}]", state="Model(8, bias=False).state_dict()"), LINEAR),
        (reference(), LINEAR.replace("persistent=False", "persistent=True")),
    ],
    ids=[
        "half", "half-by-order", "tied", "tied-one-name", "tied-two-names", "batch-norm", "no-count-of-batches",
        "nested-arguments",
        "named-arguments", "both-arguments", "own-buffer-kept",
    ],
)  # fmt: skip
def test_honest_modules_are_accepted(bench, task, model):
    report = bench.judge(submission(model), reference=task)
    assert report.verdict is Verdict.ACCEPTED, [f.message for f in report.findings]
    assert codes(report) <= {"numerics.outside_contract", "task.idle_state_left_out"}
    assert all(o.reference_max_ulp is not None for w in report.workloads for o in w.outputs)


@pytest.mark.parametrize(
    ("model", "verdict", "code"),
    [
        (LINEAR.replace("1.5", "1.25"), Verdict.WRONG_RESULT, "numerics.wrong_values"),
        (LINEAR.replace("5, bias", "6, bias").replace("(5,)", "(6,)"), Verdict.INCONCLUSIVE, "task.state_mismatch"),
        (LINEAR.replace("nn.Linear(width", "nn.Bilinear(8, 8"), Verdict.INCONCLUSIVE, "task.state_mismatch"),
        (LINEAR.replace("self.layer(x)", "self.layer(x, x)"), Verdict.RUNTIME_ERROR, "runtime.crash"),
        (LINEAR.replace("super().__init__()", "super().__init__(); 1 / 0"), Verdict.RUNTIME_ERROR, "runtime.crash"),
    ],
    ids=["wrong", "width", "dimensions", "call-raises", "building-raises"],
)
def test_others_are_told_what_is_wrong(bench, model, verdict, code):
    report = bench.judge(submission(model), reference=reference())
    assert report.verdict is verdict, [f.message for f in report.findings]
    assert code in codes(report)


@pytest.mark.parametrize(("model", "told"), [(WITHOUT_COUNT, ["norm.num_batches_tracked"]), (NORM, [])])
def test_counters_that_were_left_out_are_named(bench, model, told):
    report = bench.judge(submission(model), reference=reference(NORM))
    notes = [f for f in report.findings if f.code == "task.idle_state_left_out"]
    assert sorted({name for note in notes for name in note.evidence["left_out"]}) == told
    assert {note.severity for note in notes} <= {Severity.INFO}


def test_a_counter_that_answers_depend_on_needs_a_place(bench):
    report = bench.judge(submission(WITHOUT_COUNT), reference=reference(COUNTING))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "task.state_mismatch" in codes(report)


def test_a_function_has_no_place_for_weights(bench):
    report = bench.judge("def solution(*a):\n    return a[0] * 2 if a else 1\n", reference=reference())
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "task.state_mismatch" in codes(report)


def test_weights_loaded_by_order_are_said(bench):
    report = bench.judge(submission(LINEAR.replace("layer", "other")), reference=reference())
    assert any("loaded by order" in line for line in report.not_checked)


def test_every_draw_has_weights_of_its_own(bench):
    report = bench.judge(submission(), reference=reference())
    assert {"open|state|0", "open|state|1"} <= report.replay.seeds.keys()


def test_a_reference_may_be_a_function(bench):
    task = reference() + "\ndef reference(x, state):\n    return x @ state['layer.weight'].t() + state['layer.bias']\n"
    model = LINEAR.replace(" * self.scale", "")
    assert bench.judge(submission(model), reference=task).verdict is Verdict.ACCEPTED


LAZY = LINEAR.replace(
    "return self.layer(x) * self.scale",
    "w, b, s = self.layer.weight, self.layer.bias, self.scale\n"
    "        self.packed = getattr(self, 'packed', None) or (w * s[:, None], b * s)\n"
    "        return nn.functional.linear(x, *self.packed)",
)


@pytest.mark.parametrize(
    ("extra", "verdict"),
    [("", Verdict.WRONG_RESULT), ('[policy]\ncaching = "weights"', Verdict.ACCEPTED)],
    ids=["plan", "weights"],
)
def test_what_is_made_of_weights_is_kept_only_where_the_task_allows_it(bench, extra, verdict):
    report = bench.judge(submission(LAZY), reference=reference(), extra=extra)
    assert report.verdict is verdict
    assert ("integrity.weights_kept" in codes(report)) is (verdict is Verdict.WRONG_RESULT)


def test_a_wrong_module_is_not_accused_of_keeping_weights(bench):
    report = bench.judge(submission(LINEAR.replace("1.5", "1.25")), reference=reference())
    assert "integrity.weights_kept" not in codes(report)


@pytest.mark.parametrize(
    "made", ["return 3", "return (), [1]", "return (), {'w': 3}", "return (), {}, 1", "raise OSError"]
)
def test_a_state_that_is_none_is_the_tasks_fault(bench, made):
    task = reference().replace("    torch.manual_seed(seed)\n", f"    {made}\n")
    report = bench.judge(submission(), reference=task)
    assert report.verdict is Verdict.INVALID_TASK
    assert "task.reference_raises" in codes(report)
