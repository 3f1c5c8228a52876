# ruff: noqa: E501 - tables read better in long lines
"""The report: a strict round trip, and what a submitter never sees."""

from __future__ import annotations

import json
import math

import pytest

from app.domain.report import (
    PRECEDENCE,
    EvidenceLevel,
    Finding,
    Location,
    OutputResult,
    Replay,
    Report,
    Scope,
    Severity,
    Stage,
    StageName,
    StageStatus,
    SubmissionIdentity,
    TaskIdentity,
    Tier,
    Verdict,
    WorkloadResult,
    WorstElement,
)
from workers.judge.verdicts import decide, headline

SECRETS = ("prime-sizes", "4243.5", "7171717", "deadbeef", "n == 911", "/submission/leak.py")


def report() -> Report:
    worst = WorstElement((1, 2), 4243.5, "nan", math.inf)
    output = OutputResult("out", (3, 4), "float32", ok=False, decided_by="special", elements=12, max_abs_error=4243.5,
                          max_ulp=math.inf, worst=(worst,), nan_mismatch=1, expected_shape=(3, 4))  # fmt: skip
    scope = Scope(EvidenceLevel.EMULATED, ("open", "prime-sizes"), ("prime-sizes-too",))
    workloads = (
        WorkloadResult("open", "task", StageStatus.PASSED, (), 0.1),
        WorkloadResult("prime-sizes", "task", StageStatus.FAILED, (output,), 0.25, "4243.5 is wrong", hidden=True),
        WorkloadResult("prime-sizes", "repeat", StageStatus.FAILED, (output,), 0.25, None, hidden=True),
        WorkloadResult(
            "prime-sizes-too", "task", StageStatus.NOT_MEASURED, reason="prime-sizes-too is long", hidden=True
        ),
    )
    findings = (
        Finding("numerics.nan_mismatch", Severity.ERROR, StageName.CORRECTNESS, "1 of 12 on `prime-sizes`: 4243.5",
                evidence={"value": 4243.5}, location=Location("/submission/leak.py", 3), workload="prime-sizes"),
        Finding("integrity.decoy_kernel", Severity.ERROR, StageName.INTEGRITY, "stays the same", Tier.HARD),
    )  # fmt: skip
    return Report(
        Verdict.WRONG_RESULT, scope, headline(Verdict.WRONG_RESULT, workloads, scope, ()), TaskIdentity("t", 1, "0" * 64),
        SubmissionIdentity("1" * 64, "triton", ("a.py",)), "interpreter:triton",
        not_checked=("repeats of `prime-sizes`: one call takes 9.0 s", "`prime-sizes-too`: not run"),
        stages=(Stage(StageName.CORRECTNESS, StageStatus.FAILED, 0.3),), workloads=workloads, findings=findings,
        replay=Replay("workbench evaluate t a.py", "deadbeef", {"prime-sizes|task|0": 7171717}), log="n == 911",
    )  # fmt: skip


def test_the_round_trip_is_exact():
    before = report()
    after = Report.from_json(json.loads(json.dumps(before.to_json(), allow_nan=False)))
    assert after == before
    assert after.workloads[1].outputs[0].max_ulp == math.inf


@pytest.mark.parametrize("change", [{"schema_version": 2}, {"verdict": "splendid"}, {"scope": {}}])
def test_another_shape_is_refused(change):
    with pytest.raises(ValueError):
        Report.from_json({**report().to_json(), **change})


def test_a_missing_part_is_refused():
    data = report().to_json()
    del data["task"]
    with pytest.raises(ValueError, match="lacks task"):
        Report.from_json(data)


def test_a_submitter_sees_nothing_of_hidden_workloads():
    shown = json.dumps(report().for_submitter().to_json())
    assert [secret for secret in SECRETS if secret in shown] == []


def test_a_submitter_sees_that_hidden_workloads_failed():
    shown = report().for_submitter()
    hidden = [w for w in shown.workloads if w.hidden]
    assert {w.name for w in hidden} <= {"hidden-1", "hidden-2", "hidden-3"}
    assert StageStatus.FAILED in {w.status for w in hidden}
    assert all(not w.outputs and w.seconds is None and w.reason is None for w in hidden)
    assert [f.code for f in shown.findings] == ["numerics.nan_mismatch", "integrity.decoy_kernel"]
    assert shown.verdict is Verdict.WRONG_RESULT


def test_the_first_verdict_by_precedence_holds():
    for n, verdict in enumerate(PRECEDENCE):
        assert decide(PRECEDENCE[n:]) is verdict
    assert decide(()) is Verdict.ACCEPTED
    assert set(PRECEDENCE) == set(Verdict)


def test_hidden_workloads_that_never_ran_stay_hidden():
    """The reference raised: no workload has a result, but scope and findings know their names."""
    import dataclasses

    before = dataclasses.replace(
        report(), workloads=(), hidden_workloads=("prime-sizes", "prime-sizes-too"),
        stages=(Stage(StageName.CORRECTNESS, StageStatus.FAILED, 0.0, "ValueError: n == 911"),),
    )  # fmt: skip
    shown = json.dumps(before.for_submitter().to_json())
    assert [secret for secret in SECRETS if secret in shown] == []
    assert "hidden-1" in shown


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ({}, 0.1),
        ({"nan_mismatch": 1}, math.inf),
        ({"inf_mismatch": 1}, math.inf),
        ({"budget_ratio": None, "nan_mismatch": 1}, None),
    ],
)
def test_no_budget_of_finite_errors_pays_for_a_nan(values, share):
    output = OutputResult(
        "out", (4,), "float32", ok=False, decided_by="tolerance", elements=4, **{"budget_ratio": 0.1} | values
    )

    assert output.budget_share == share
