"""Only the stages asked for run; the rest is said, and never counts as passed."""

from __future__ import annotations

import pytest

from app.domain.report import EvidenceLevel, StageName, StageStatus, Verdict
from app.domain.request import EvaluationRequest
from app.domain.task import TaskError
from tests.kernels.engine import TASKS, ZOO
from workers.judge.pipeline import evaluate

DOUBLE = "def solution(x):\n    return x * 2\n"
TRIPLE = "def solution(x):\n    return x * 3\n"
KEEPS_INPUT = "def solution(x):\n    return x.mul_(2)\n"
ALL_THAT_DECIDE = (StageName.COMPILE, StageName.CORRECTNESS, StageName.INTEGRITY, StageName.SANITIZE)


class NoSandboxes:
    """Whoever starts anything is told off."""

    def start(self, *_):
        raise AssertionError("a process was started")


def statuses(report):
    return {stage.name: stage.status for stage in report.stages}


def codes(report):
    return {finding.code for finding in report.findings}


def test_reading_the_source_starts_no_process():
    request = EvaluationRequest(
        TASKS / "softmax", ZOO / "softmax/decoy.py", stages=(StageName.INSPECT,), environments=("cuda:sm_90",)
    )
    report = evaluate(request, NoSandboxes())
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "not asked for: compile, correctness, integrity, sanitize, benchmark, profile" in report.not_checked
    assert statuses(report)[StageName.INSPECT] is not StageStatus.NOT_MEASURED
    assert {s.reason for s in report.stages[1:]} == {"not asked for"}
    assert report.scope.evidence is EvidenceLevel.STATIC


def test_all_stages_that_decide_can_accept(bench):
    report = bench.judge(DOUBLE, stages=ALL_THAT_DECIDE)
    assert report.verdict is Verdict.ACCEPTED
    assert "not asked for: inspect, benchmark, profile" in report.not_checked


@pytest.mark.parametrize("left_out", ALL_THAT_DECIDE)
def test_one_deciding_stage_less_is_inconclusive(bench, left_out):
    report = bench.judge(DOUBLE, stages=tuple(s for s in ALL_THAT_DECIDE if s is not left_out))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert statuses(report)[left_out] is StageStatus.NOT_MEASURED
    assert report.workloads or left_out is StageName.CORRECTNESS


def test_an_optimization_needs_its_benchmark(bench):
    task = bench.task("optimization")
    assert bench.judge(DOUBLE, task=task).verdict is Verdict.INCONCLUSIVE
    report = bench.judge(DOUBLE, task=task, stages=ALL_THAT_DECIDE)
    assert report.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("submission", "stage", "verdict", "status"),
    [
        (TRIPLE, "correctness", Verdict.WRONG_RESULT, StageStatus.FAILED),
        (TRIPLE, "integrity", Verdict.INCONCLUSIVE, StageStatus.PASSED),
        (KEEPS_INPUT, "integrity", Verdict.WRONG_RESULT, StageStatus.FAILED),
        ("def solution(x)", "compile", Verdict.COMPILE_ERROR, StageStatus.FAILED),
        ("def solution(x)", "correctness", Verdict.COMPILE_ERROR, StageStatus.FAILED),
        ("def solution(x)", "integrity", Verdict.INCONCLUSIVE, StageStatus.NOT_MEASURED),
        ("raise OSError", "compile", Verdict.RUNTIME_ERROR, StageStatus.FAILED),
        ("def solution(x):\n    raise OSError", "compile", Verdict.INCONCLUSIVE, StageStatus.PASSED),
        ("def solution(x):\n    raise OSError", "correctness", Verdict.RUNTIME_ERROR, StageStatus.FAILED),
        ("def solution(x):\n    raise OSError", "integrity", Verdict.INCONCLUSIVE, StageStatus.NOT_MEASURED),
        ("def solution(x):\n    raise OSError", "profile", Verdict.INCONCLUSIVE, StageStatus.NOT_MEASURED),
    ],
)
def test_what_a_stage_alone_finds_decides(bench, submission, stage, verdict, status):
    report = bench.judge(submission, stages=(StageName(stage),))
    assert report.verdict is verdict, codes(report)
    assert statuses(report)[StageName(stage)] is status
    assert all(s.reason == "not asked for" for s in report.stages if s.name != stage)
    assert {f.stage for f in report.findings} <= {StageName(stage)}
    assert bool(report.workloads) <= (stage == "correctness")


def test_a_faulty_task_is_said_whatever_was_asked(bench):
    broken = "def make_inputs(*, seed, n):\n    return 1\ndef reference(x):\n    raise ValueError\n"
    assert bench.judge(DOUBLE, reference=broken, stages=(StageName.INTEGRITY,)).verdict is Verdict.INVALID_TASK


def test_a_stage_shows_what_was_found_after_it(bench):
    """An untouched tail is found while answers are compared; the stage that it belongs to has failed."""
    report = bench.judge(
        "import torch\ndef solution(x):\n    y = torch.empty_like(x)\n    y[1:] = x[1:] * 2\n    return y"
    )
    assert "integrity.uninitialised_output" in codes(report)
    assert statuses(report)[StageName.INTEGRITY] is StageStatus.FAILED


def test_environments_take_the_place_of_the_tasks_own(bench):
    listed = '[environments]\ncompile = ["cuda:sm_80"]\n'
    kernel = (ZOO / "numpy-diff/good_kernel.py").read_text().replace("def solution", "def other") + DOUBLE
    report = bench.judge(kernel, extra=listed)
    assert report.scope.environments_not_built == ("cuda:sm_80",)
    report = bench.judge(kernel, extra=listed, environments=("hip:gfx942", "tpu:v5e"))
    assert report.scope.environments_not_built == ("hip:gfx942",)
    assert "builds for tpu:v5e: not for triton" in report.not_checked
    assert report.verdict is Verdict.INCONCLUSIVE


def test_what_is_no_environment_is_refused(bench):
    with pytest.raises(TaskError, match="environments: must be <target>"):
        bench.judge(DOUBLE, environments=("sm_90",))
