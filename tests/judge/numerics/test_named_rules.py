import ml_dtypes
import numpy as np
import pytest

from app.domain.report import OutputResult, StageStatus, WorkloadResult
from workers.judge import named_rules
from workers.judge.named_rules import RULES, RuleTally, rules, tightest, worst

ALL = {rule.name for rule in RULES}


def by_rule(got, ref, pieces=1):
    tally = RuleTally(ref.dtype)
    for g, r in zip(np.array_split(got, pieces), np.array_split(ref, pieces), strict=True):
        tally.add(g, r)
    return rules(tally)


def passing(got, ref):
    said = by_rule(np.asarray(got, np.float32), np.asarray(ref, np.float32))
    return {name for name, verdict in said.items() if verdict == "pass"}


def test_equal_values_pass_everywhere_and_far_ones_nowhere():
    ref = np.linspace(1, 2, 1000)
    assert passing(ref, ref) == ALL
    assert passing(ref * 2, ref) == set()


def test_zeros_pass_where_outputs_lie_below_atol():
    """23_Softmax of KernelBench: values near 2.4e-4 under an atol of 1e-2."""
    ref = np.full(1000, 2.4e-4)
    assert passing(ref * 0, ref) == {"kernelbench-v0", "flashinfer-bench", "backendbench"}


def test_one_percent_of_garbage_passes_where_a_ratio_is_enough():
    ref = np.ones(1000)
    got = ref.copy()
    got[:10] = 1e6
    assert passing(got, ref) == {"sol-execbench"}
    got[10] = 1e6
    assert passing(got, ref) == set()


def test_who_lets_a_nan_pass():
    ref = np.ones(1000)
    ref[3] = np.nan
    agreed = {"kernelbot", "backendbench", "jax"}
    assert passing(ref, ref) == agreed | {"pygpubench"}
    assert passing(np.ones(1000), ref) == {"pygpubench"}
    assert passing(ref, np.ones(1000)) == set()


def test_infinities_that_agree():
    ref = np.ones(1000)
    ref[3] = -np.inf
    assert passing(ref, ref) == ALL - {"flashinfer-bench", "sol-execbench"}
    assert passing(-ref, ref) == set()


def test_swapped_operands_change_the_verdict():
    """The allowance is a share of the second operand."""
    small, large = np.full(100, 1000.0), np.full(100, 1010.05)
    assert "kernelbench-v0" not in passing(large, small)
    assert "kernelbench-v0" in passing(small, large)


def test_sum_either_and_both_differ():
    """At |ref| = 1, an error of 1.5e-2 is within atol + rtol and beyond each of them."""
    ref = np.ones(100)
    assert passing(ref + 1.5e-2, ref) == {"kernelbench-v0", "sol-execbench", "backendbench"}


def test_thresholds_follow_the_dtype():
    ref = np.ones(100, np.float32)
    got = ref + np.float32(5e-3)
    assert by_rule(got, ref)["kernelbench"] == "fail"
    low = by_rule(got.astype(ml_dtypes.bfloat16), ref.astype(ml_dtypes.bfloat16))
    assert (low["kernelbench"], low["torch.testing"], low["jax"], low["kernelbot"]) == ("pass", "pass", "pass", "fail")


def test_torch_wants_fp8_exact_where_jax_allows_a_tenth():
    ref = np.ones(100, ml_dtypes.float8_e4m3fn)
    said = by_rule((ref.astype(np.float32) * 1.125).astype(ref.dtype), ref)
    assert (said["torch.testing"], said["jax"]) == ("fail", "pass")


def test_integers_complex_and_nothing():
    assert by_rule(np.array([1, 2]), np.array([1, 2])) == dict.fromkeys(ALL, "pass")
    assert by_rule(np.array([1, 2]), np.array([1, 3]))["kernelbench-v0"] == "fail"
    ref = np.array([3 + 4j])
    assert by_rule(ref + 0.03j, ref)["kernelbench-v0"] == "pass"
    assert by_rule(ref + 0.07j, ref)["kernelbench-v0"] == "fail"
    assert by_rule(np.empty(0), np.empty(0)) == dict.fromkeys(ALL, "pass")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "int32"])
def test_what_is_not_looked_at_twice_is_within_every_rule(rng, dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    atol, rtol = tightest(dtype)
    ref = rng.standard_normal(10_000) * 10.0 ** rng.integers(-9, 6, 10_000)
    share = 0.5 if dtype == np.float64 else 0.999  # of an allowance of a few ulp: the sum here rounds too
    got = ref + (atol + rtol * abs(ref)) * rng.uniform(-share, share, 10_000)
    assert not any(rule.violated(got, ref, rule.of(dtype)) for rule in RULES)


def test_pieces_and_merging_change_nothing(rng):
    ref = rng.standard_normal(1000).astype(np.float32)
    got = (ref * (1 + rng.uniform(-1, 1, 1000) * 10.0 ** rng.integers(-8, 0, 1000))).astype(np.float32)
    whole, halves = RuleTally(ref.dtype), [RuleTally(ref.dtype) for _ in range(2)]
    whole.add(got, ref)
    for n, half in enumerate(halves):
        half.add(got[n * 500 : n * 500 + 500], ref[n * 500 : n * 500 + 500])
    halves[0].merge(halves[1])
    assert whole == halves[0] and by_rule(got, ref, 7) == rules(whole)


def workload(*outputs, family="task"):
    return WorkloadResult("w", family, StageStatus.PASSED, outputs)


def test_the_report_takes_the_worst_of_the_tasks_own_workloads():
    good = OutputResult("y", (1,), "float32", True, "tolerance", 1, rules=dict.fromkeys(ALL, "pass"))
    bad = OutputResult("y", (1,), "float32", True, "tolerance", 1, rules={**good.rules, "jax": "fail"})
    other = OutputResult("y", (2,), "float32", False, "shape", 1)
    assert worst([workload(good), workload(bad)])["jax"] == "fail"
    assert worst([workload(good), workload(bad, family="repeat")]) == dict.fromkeys(ALL, "pass")
    assert worst([workload(good, other)]) == dict.fromkeys(ALL, "fail")
    assert worst([workload(OutputResult("y", (1,), "float32", True, "check (task-defined)", 1))]) == {}


def test_every_rule_has_another_name():
    assert len(ALL) == len(RULES) == len(named_rules.rules(RuleTally(np.dtype(np.float32))))
