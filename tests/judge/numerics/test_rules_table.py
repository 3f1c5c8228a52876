"""The thirty kernels of `tests/run_rules.py`: our verdict is right on each, whatever the named rules say."""

from __future__ import annotations

import dataclasses

import pytest

from app.domain.report import Verdict
from tests.run_rules import FOLDER, NAMES, OURS, kernels
from tests.run_rules import judge as judged

# One of every kind, both ways where that takes no longer than a second or two.
SAMPLE = [
    "absolute-maximum/flushes_subnormals",
    "gemm-bf16/drops_a_thousandth_of_k",
    "layer-norm-bf16/float32_inside",
    "layer-norm-bf16/truncates",
    "scan/by_blocks",
    "softmax/exp2",
]
ALL = {kernel.name: kernel for kernel in kernels()}


def assert_judged_right(kernel, engine):
    report = judged(kernel, engine)

    assert not kernel.wrong(report)[OURS], (report.verdict, [f.message for f in report.findings])
    assert set(kernel.wrong(report)) == set(NAMES)  # every rule had something to say
    if kernel.honest:
        assert not report.findings, "nobody is accused of less precision than the reference has"


@pytest.mark.parametrize("name", SAMPLE)
def test_sample(engine, name):
    assert_judged_right(ALL[name], engine)


@pytest.mark.matrix
@pytest.mark.parametrize("name", sorted(set(ALL) - set(SAMPLE)))
def test_all(engine, name):
    assert_judged_right(ALL[name], engine)


def test_as_many_honest_as_faulty_ones():
    assert [sum(kernel.honest is honest for kernel in ALL.values()) for honest in (True, False)] == [15, 15]


def test_every_kernel_says_what_it_does_and_every_task_is_used():
    assert all(kernel.path.read_text().startswith("# ") for kernel in ALL.values())
    assert {kernel.task for kernel in ALL.values()} == set((FOLDER / "tasks").iterdir())


def test_a_fault_that_is_small_everywhere_is_hidden_from_bounds_on_its_size(engine):
    kernel = ALL["absolute-maximum/flushes_subnormals"]

    wrong = kernel.wrong(judged(kernel, engine))

    assert not wrong[OURS]
    assert wrong["kernelbench"] and wrong["torch.testing"] and wrong["backendbench"]
    assert not wrong["sol-execbench"]  # zeros throughout are refused there


def test_only_a_wrong_result_is_the_right_verdict_on_a_faulty_kernel(engine):
    kernel = ALL["absolute-maximum/flushes_subnormals"]
    report = judged(kernel, engine)

    assert report.verdict is Verdict.WRONG_RESULT
    assert kernel.wrong(dataclasses.replace(report, verdict=Verdict.RUNTIME_ERROR))[OURS]
