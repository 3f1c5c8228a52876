"""What an evaluation leaves in a folder."""

from __future__ import annotations

import json

import numpy as np
import pytest

from app.domain.report import Report
from app.domain.request import EvaluationRequest
from tests.kernels.engine import TASKS, ZOO
from workers.judge import artefacts
from workers.judge.pipeline import evaluate

ONE_OFF = "def solution(x):\n    print('hello\\x1b[2J')\n    y = x * 2\n    y[3] += 0.5\n    return y\n"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "kept"


def listed(place):
    return json.loads((place / "outputs.json").read_text())


def test_a_refused_output_lies_beside_the_expected_one(bench, place):
    report = bench.judge(ONE_OFF, artefacts_folder=place)
    assert Report.from_json(json.loads((place / "report.json").read_text())).verdict is report.verdict
    assert {(o["workload"], o["family"]) for o in listed(place)} >= {("open", "task"), ("prime-sizes", "task")}
    first = next(o for o in listed(place) if o["workload"] == "open")
    got, want, oracle, error = (np.load(place / first["files"][k]) for k in ("got", "want", "oracle", "error"))
    assert got.dtype == want.dtype == np.float32
    assert oracle.dtype == error.dtype == np.float64
    assert got.shape == (64,)
    assert list(np.flatnonzero(np.abs(error) > 0.1)) == [3]
    assert error[3] == pytest.approx(0.5)
    assert np.array_equal(want[:3], got[:3])


def test_log_and_source_are_what_was_judged(bench, place):
    report = bench.judge(ONE_OFF, artefacts_folder=place)
    assert "hello" in (place / "log.txt").read_text()
    assert "\x1b" not in (place / "log.txt").read_text()
    identity = json.loads((place / "submission.json").read_text())
    assert (identity["sha256"], identity["main"]) == (report.submission.sha256, "kernel.py")
    assert (place / "submission" / "kernel.py").read_text() == ONE_OFF


def test_an_accepted_submission_leaves_no_outputs(bench, place):
    bench.judge("def solution(x):\n    return x * 2\n", artefacts_folder=place)
    assert listed(place) == []
    assert not (place / "outputs").exists()


def test_every_launch_is_told_by_call(engine, place):
    evaluate(EvaluationRequest(TASKS / "rmsnorm-bf16", ZOO / "rmsnorm-bf16/good.py", artefacts_folder=place), engine)
    launches = json.loads((place / "launches.json").read_text())
    assert [launch["kernel"] for launch in launches["wide"]["first"]] == ["_rows"]
    assert launches["wide"]["first"][0]["grid"] == [4, 1, 1]


def test_bfloat16_is_kept_as_float32(engine, place):
    wrong = ZOO / "rmsnorm-bf16/weight_forgotten.py"
    evaluate(EvaluationRequest(TASKS / "rmsnorm-bf16", wrong, artefacts_folder=place), engine)
    first = listed(place)[0]
    assert first["dtypes"]["got"] == "bfloat16"
    assert np.load(place / first["files"]["got"]).dtype == np.float32


@pytest.mark.parametrize(
    ("returned", "files"),
    [("x[1:] * 2", {"got", "want", "oracle"}), ("(x * 2, x)", {"got", "want", "oracle"})],
    ids=["shape", "count"],
)
def test_other_shapes_are_kept_without_an_error(bench, place, returned, files):
    bench.judge(f"def solution(x):\n    return {returned}\n", artefacts_folder=place)
    kept = [o["files"].keys() for o in listed(place)]
    assert kept[0] >= files - {"error"}
    assert ("error" in kept[0]) is (returned == "(x * 2, x)")
    assert all(k <= {*files, "error"} for k in kept)


def test_what_a_check_refuses_is_kept(engine, place):
    evaluate(EvaluationRequest(TASKS / "topk", ZOO / "topk/unsorted.py", artefacts_folder=place), engine)
    assert "check" in {o["family"] for o in listed(place)}


def test_large_outputs_are_left_out_and_said(bench, place, monkeypatch):
    monkeypatch.setattr(artefacts, "OUTPUT_BYTES", 100)
    bench.judge(ONE_OFF, artefacts_folder=place)
    assert all(o["files"] == {} and "at most" in o["left_out"] for o in listed(place))


def test_names_of_workloads_are_no_paths(bench, place):
    task = bench.task("generation").replace('name = "open"', 'name = "../../open"')
    bench.judge(ONE_OFF, task=task, artefacts_folder=place)
    assert {p.parent for p in place.rglob("*.npy")} == {place / "outputs"}
