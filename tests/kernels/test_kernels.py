"""The zoo: every specimen is judged as its first line says.  A sample runs by default, all of it under `matrix`."""

from __future__ import annotations

import pytest

from app.domain.report import Report
from tests.kernels.engine import TASKS, Specimen, judge, specimens, warm_sandboxes

# One or two of every family, both ways; each takes about a second.
SAMPLE = (
    "argmax/int32_indices clip-outliers/good_stores_all"
    " difference-of-sums/good dropout/good_fresh_seed_each_call fp8-cast/good"
    " half-any-size/one_block_for_all histogram/good layernorm/entry_not_callable"
    " layernorm/good_thread_pool_kept layernorm/input_changed_late"
    " layernorm/lazy_subclass layernorm/os_exit_zero layernorm/patches_timer_by_setattr"
    " layernorm/thread_writes_late layernorm/writes_into_every_descriptor"
    " matmul/one_element_by_kernel matmul/needed_scrap numpy-diff/good_kernel prefix-sum/good_as_many_totals_as_elements"
    " scale-in-place/autotuned_in_place scale-in-place/good_returns_nothing softmax/decoy"
    " linear-gelu/good_by_order linear-gelu/packed_weights linear-gelu/weights_baked_in"
    " scaled-softmax-gradients/backward_forgets_scale scaled-softmax-gradients/good_triton"
    " token-sampling/greedy softmax/fallback_on_tails softmax/good_glue softmax/pretends_to_be_slow"
    " sparse-answer/good square-plus-one/cached_by_pointer square-plus-one/good_workspace"
    " square-plus-one/one_buffer_for_all square-plus-one/partial_tail statistics/good_tensors_for_numbers"
    " softmax/by_hand_when_odd sum/library_when_short sum/plain_store_race sum/side_stream_left tiny-mean/zeros"
).split()
ALL = {specimen.name: specimen for specimen in specimens()}
SECRET = bytes(range(32))


@pytest.mark.parametrize("name", SAMPLE)
def test_sample(engine, name):
    assert ALL[name].wrong(judge(ALL[name], engine)) is None


@pytest.mark.matrix
@pytest.mark.parametrize("specimen", [s for s in ALL.values() if s.name not in SAMPLE], ids=lambda s: s.name)
def test_zoo(engine, specimen: Specimen):
    assert specimen.wrong(judge(specimen, engine)) is None


@pytest.mark.parametrize(
    "name",
    [
        "square-plus-one/partial_tail",
        pytest.param("softmax/good", marks=pytest.mark.matrix),
        pytest.param("argmax/int32_indices", marks=pytest.mark.matrix),
    ],
)
def test_cold_and_warm_agree(engine, name):
    with warm_sandboxes(warm=False) as cold:
        assert _conclusions(judge(ALL[name], cold, SECRET)) == _conclusions(judge(ALL[name], engine, SECRET))


def test_a_replay_gives_the_same_numbers(engine):
    first = judge(ALL["rmsnorm-bf16/good_rounded_twice"], engine)
    again = judge(ALL["rmsnorm-bf16/good_rounded_twice"], engine, bytes.fromhex(first.replay.secret))
    assert {k: v for k, v in again.replay.seeds.items() if first.replay.seeds.get(k, v) != v} == {}
    assert [w.outputs for w in again.workloads if w.decides] == [w.outputs for w in first.workloads if w.decides]


def test_another_secret_gives_other_inputs(engine):
    reports = [judge(ALL["square-plus-one/constant"], engine) for _ in range(2)]
    first, second = ([w.outputs[0].max_abs_error for w in report.workloads] for report in reports)
    assert first != second


def test_every_task_of_the_zoo_has_an_honest_specimen():
    honest = {s.task.name for s in ALL.values() if "accepted" in s.verdicts}
    assert honest == {folder.name for folder in TASKS.iterdir()}


def _conclusions(report: Report):
    """All that decides; how many families are run for information depends on the time they take."""
    told = [f for f in report.findings if f.code != "numerics.outside_contract"]
    findings = sorted((f.code, f.severity, f.workload or "", f.message) for f in told)
    outputs = [(w.name, w.family, w.status, w.outputs) for w in report.workloads if w.decides]
    return report.verdict, report.headline, findings, outputs
