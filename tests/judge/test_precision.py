"""What formats cost a task, asked of real references in their sandbox."""

from __future__ import annotations

import pytest

from app.domain.report import Verdict
from app.domain.task import TaskError
from tests.judge.conftest import REFERENCE, TASK
from tests.kernels.engine import TASKS, ZOO
from workers.judge.answers import TaskFault
from workers.judge.precision import Shows, survey

RULES = ZOO / "rules" / "tasks"


@pytest.fixture
def surveyed(tmp_path, engine):
    """Write a task with this reference, and survey it."""

    def run(reference=REFERENCE, extra="", **options):
        (tmp_path / "task.toml").write_text(TASK.format(extra=extra))
        (tmp_path / "reference.py").write_text(reference)
        return survey(tmp_path, engine, **options)

    return run


def shows(found):
    return {row.name: row.shows for row in found.rows}


def costs(found, name):
    return next(row.costs for row in found.rows if row.name == name)


def test_a_float32_task_needs_float32(engine):
    found = survey(TASKS / "softmax", engine)

    assert found.narrowest().name == "fp32"
    assert found.hidden() == []
    told = shows(found)
    assert told["fp32"] is told["fp32 throughout"] is Shows.AS_DECLARED
    assert {told[name] for name in told if not name.startswith("fp32")} == {Shows.REFUSED}


def test_a_bfloat16_task_loses_nothing_to_what_it_has(engine):
    found = survey(RULES / "gemm-bf16", engine)

    assert found.narrowest().name == "bf16"
    told = shows(found)
    assert told["bf16"] is told["tf32"] is told["bf16 throughout"] is Shows.AS_DECLARED
    assert told["fp8-e4m3fn/row"] is told["nvfp4"] is Shows.REFUSED


def test_a_loose_tolerance_hides_a_downgrade_or_lets_it_pass_with_a_warning(surveyed):
    """y = 2x: rounding x to bf16 is 2**-9 off, far above the budget of a float32 output."""
    found = surveyed(extra="[tolerance]\nrtol = 1e-2\natol = 0.0")

    assert shows(found)["bf16"] is Shows.WARNED
    assert found.narrowest().name == "bf16"
    assert found.hidden() == []
    for cost in costs(found, "bf16"):
        assert 2.0**-10 < cost.max_rel_error <= 2.0**-8
        assert cost.outside == 0
        assert cost.budget_ratio > 1

    blind = surveyed(extra='[tolerance]\nrtol = 1e-2\natol = 0.0\naccumulate = "bf16"')
    assert "bf16" in blind.hidden()


@pytest.mark.parametrize("rtol", ["1e-2", "1e-4"])
def test_what_is_foretold_happens_to_a_kernel_that_does_it(bench, engine, rtol):
    extra = f"[tolerance]\nrtol = {rtol}\natol = 0.0"
    report = bench.judge("def solution(x):\n    return x.bfloat16().float() * 2\n", extra=extra)
    foretold = shows(survey(bench.folder, engine))["bf16"]

    refused = report.verdict is Verdict.WRONG_RESULT
    warned = "numerics.precision_downgrade" in {f.code for f in report.findings}
    assert foretold is (Shows.REFUSED if refused else Shows.WARNED if warned else Shows.HIDDEN)
    assert refused == (rtol == "1e-4") and warned == (rtol == "1e-2")


def test_the_errors_are_those_of_the_format(surveyed):
    """An output that is its input shows the format's own roundoff, and half an ulp of the output beside it."""
    found = surveyed(extra="[tolerance]\nrtol = 1.0")

    bounds = {"tf32": 2.0**-11, "fp16": 2.0**-11, "bf16": 2.0**-8}
    for name, unit in bounds.items():
        assert all(unit / 4 < c.max_rel_error <= unit * 1.0001 for c in costs(found, name)), name
    assert [c.workload for c in costs(found, "tf32")] == ["open", "prime-sizes"]
    assert costs(found, "fp32")[0].max_ulp == 0.0


def test_only_the_wanted_workloads(surveyed):
    found = surveyed(workloads=("open",))

    assert {c.workload for row in found.rows for c in row.costs} == {"open"}
    with pytest.raises(TaskError, match="named nothing"):
        surveyed(workloads=("nothing",))


def test_rounded_outputs_lose_more(surveyed):
    """A root halves its input's relative error; a multiple, scaled by its largest, is rounded to the same places."""
    reference = REFERENCE.replace("randn", "rand").replace("x * 2", "(1 + x).sqrt()")
    plain, rounded = (surveyed(reference, "[tolerance]\nrtol = 1.0", outputs=o) for o in (False, True))

    overall = [max(c.normalised_rms for c in costs(found, "fp8-e5m2/tensor")) for found in (plain, rounded)]
    assert overall[0] * 1.3 < overall[1]
    assert shows(plain)["fp32"] is Shows.AS_DECLARED


def test_intermediate_values_are_rounded_throughout_only(surveyed):
    """(x + 4096) - 4096 on x in [0, 1): nothing of it is left in bfloat16, whose spacing at 4096 is 32."""
    reference = REFERENCE.replace("randn", "rand").replace("x * 2", "(x + 4096) - 4096")
    found = surveyed(reference, "[tolerance]\natol = 0.01\nrtol = 0.0")

    assert shows(found)["bf16"] is not Shows.REFUSED
    assert shows(found)["bf16 throughout"] is Shows.REFUSED


def test_a_reference_that_insists_on_its_dtype_says_so(surveyed):
    reference = REFERENCE.replace("x * 2", "x @ torch.eye(x.shape[0], dtype=torch.float32)")
    found = surveyed(reference)

    half = costs(found, "fp16 throughout")
    assert {c.shows for c in half} == {Shows.UNKNOWN}
    assert all("RuntimeError" in c.reason for c in half)
    assert shows(found)["fp32"] is Shows.AS_DECLARED  # by the native run: there is no float64 answer
    assert shows(found)["nvfp4"] is Shows.REFUSED


def test_integers_that_come_out_of_floats_are_compared_exactly(engine):
    found = survey(TASKS / "argmax", engine)

    indices = [c for c in costs(found, "mxfp4") if c.output == "out1"]
    assert indices and all(c.dtype == "int64" and c.budget_ratio is None for c in indices)
    assert sum(c.outside for c in indices) > 0
    assert {c.shows for c in costs(found, "fp32")} == {Shows.AS_DECLARED}


def test_where_the_tasks_own_check_decides_nothing_is_claimed(engine):
    found = survey(TASKS / "topk", engine)

    assert set(shows(found).values()) == {Shows.UNKNOWN}
    assert found.narrowest() is None
    assert found.undecided == "the task's own check decides"
    assert {c.reason for row in found.rows for c in row.costs} >= {"the task's own check decides"}


def test_each_workload_is_asked_at_its_own_inputs(surveyed):
    """The integer beside x differs from workload to workload, and is sent to nobody."""
    reference = REFERENCE.replace("(seed)),)", "(seed)), torch.tensor(n))").replace("(x):", "(x, k):").replace("2", "k")
    found = surveyed(reference)

    assert {c.workload for c in costs(found, "fp32")} == {"open", "prime-sizes"}
    assert shows(found)["fp32"] is Shows.AS_DECLARED
    assert all(c.max_rel_error < 2.0**-23 for c in costs(found, "fp32"))


def test_weights_are_rounded_as_inputs_are(surveyed):
    reference = """
import torch

def make_state(*, seed, n):
    return [n], {"scale": torch.randn(n, generator=torch.Generator().manual_seed(seed))}

def make_inputs(*, seed, n):
    return (torch.randint(1, 9, (n,), generator=torch.Generator().manual_seed(seed)),)

def reference(x, state):
    return x * state["scale"]
"""
    found = surveyed(reference)

    assert (found.undecided, found.narrowest().name) == ("", "fp32")
    assert shows(found)["bf16"] is Shows.REFUSED
    assert all(2.0**-10 < c.max_rel_error < 2.0**-8 for c in costs(found, "bf16"))


def test_integers_alone_cannot_be_rounded(engine):
    found = survey(RULES / "integer-sum", engine)

    assert set(shows(found).values()) == {Shows.AS_DECLARED}
    assert found.narrowest() is None
    assert found.undecided == "no input that could be rounded"


@pytest.mark.parametrize("task", ["numpy-diff", "scale-in-place", "transpose-view", "gather-rows", "fourier"])
def test_every_kind_of_task_is_taken(engine, task):
    """NumPy, in place, views, integer inputs, complex outputs."""
    found = survey(TASKS / task, engine)

    assert shows(found)["fp32"] is Shows.AS_DECLARED
    assert all(c.elements for c in costs(found, "fp8-e4m3fn/row"))


def test_a_task_that_cannot_be_judged_raises(surveyed):
    with pytest.raises(TaskFault):
        surveyed(REFERENCE.replace("x * 2", "x * float('nan')"))
