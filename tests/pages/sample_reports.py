"""Reports as the engine writes them, one for each state that a page has to show."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.domain.report import (
    Build,
    Claim,
    Diagnostic,
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

HOSTILE = "<script>alert(1)</script> \x1b[31mred\x1b[0m \u202etxt <img src=x onerror=alert(2)>"
NO_DEVICE = "no CUDA device on this machine"


def bins(**counts: int) -> tuple[int, ...]:
    """A 64-bin histogram from `b0=…, b3=…`."""
    filled = [0] * 64
    for name, count in counts.items():
        filled[int(name[1:])] = count
    return tuple(filled)


def output(name: str = "out", **overrides: Any) -> OutputResult:
    values: dict[str, Any] = {
        "name": name,
        "shape": (8, 100),
        "dtype": "float32",
        "ok": True,
        "decided_by": "tolerance",
        "elements": 800,
        "max_abs_error": 5.96e-8,
        "max_rel_error": 1.19e-7,
        "max_ulp": 2.0,
        "p999_ulp": 2.0,
        "reference_max_ulp": 2.0,
        "budget_ratio": 0.41,
        "ulp_histogram": bins(b0=612, b1=171, b2=17),
        "reference_ulp_histogram": bins(b0=640, b1=150, b2=10),
        "error_exponent": -40,
        "error_histogram": bins(b8=31, b9=402, b10=301, b11=66),
        "reference_error_histogram": bins(b7=12, b8=60, b9=420, b10=260, b11=48),
        "allowed_error": (1.0e-6, 2.1e-6),
        "quantiles_ulp": (0.8125, 1.25, 1.875, 2.25),
        "error_map": tuple(tuple(float((7 * r + c) % 4) - 2 for c in range(32)) for r in range(8)),
        "normalised_rms": 7.8e-8,
        "bias_ulp": -0.05,
        "budget_basis": "S first-order, 16 draws; g(K) = \u221aK; K = 100",
        "rules": {"kernelbench": "pass", "kernelbot": "pass"},
    }
    return OutputResult(**(values | overrides))


def workload(name: str, status: StageStatus = StageStatus.PASSED, **overrides: Any) -> WorkloadResult:
    values: dict[str, Any] = {"family": "task", "outputs": (output(),), "seconds": 0.31, "calls": 3}
    return WorkloadResult(name=name, status=status, **(values | overrides))


def stages(**statuses: StageStatus) -> tuple[Stage, ...]:
    unmeasured = {StageName.BENCHMARK: NO_DEVICE, StageName.PROFILE: NO_DEVICE}
    made = []
    for n, name in enumerate(StageName):
        status = statuses.get(name.value, StageStatus.NOT_MEASURED if name in unmeasured else StageStatus.PASSED)
        reason = unmeasured.get(name, "nothing to run") if status is StageStatus.NOT_MEASURED else None
        made.append(Stage(name, status, 0.0 if reason else (0.02, 3.41, 1.87, 0.94, 0.6, 0, 0)[n], reason))
    return tuple(made)


def report(**overrides: Any) -> Report:
    """An accepted softmax in Triton, run by the interpreter; override any field."""
    values: dict[str, Any] = {
        "verdict": Verdict.ACCEPTED,
        "scope": Scope(
            EvidenceLevel.EMULATED,
            ("square", "tail", "one-column"),
            ("huge",),
            ("cuda:sm_80", "hip:gfx942"),
            ("tpu:v5e",),
        ),
        "headline": "All workloads that can run here match the oracle within the task's tolerance.",
        "task": TaskIdentity("row-softmax", 1, "4be1" * 16),
        "submission": SubmissionIdentity("9c70" * 16, "triton", ("solution.py",)),
        "mode": "interpreter:triton",
        "not_checked": ("speed: no device", "workload `huge`: needs a device", "accumulator precision: not modelled"),
        "stages": stages(),
        "workloads": (workload("square"), workload("tail"), workload("one-column"), _too_large()),
        "builds": (_build("cuda:sm_80"), _build("hip:gfx942")),
        "claims": (
            Claim("1.8 times faster than torch.softmax on H100", "not_measured", (), "not measured here: no device"),
            Claim("error at most 2 ULP", "confirmed", ("numerics.tail.out",), "measured 2 on `tail`"),
            Claim("reads each row once", "not_measured", (), "for a person to judge", checkable=False),
        ),
        "rules": {"kernelbench": "pass", "kernelbot": "pass"},
        "environment": {
            "host": "worker-1",
            "device": "none",
            "versions": {"python": "3.11.2", "triton": "3.7.1", "torch": "2.13.0"},
            "limits": {"memory_mb": 8192, "seconds": 60, "network": "none", "processes": 64},
        },
        "replay": Replay("workbench evaluate row-softmax solution.py --replay report.json", "ab" * 32),
        "log": "",
    }
    return Report(**(values | overrides))


def accepted() -> Report:
    return report()


def wrong_result() -> Report:
    """The tail of a floor-divided grid: never written, on one public and one hidden workload."""
    worst = tuple(
        WorstElement((0, 96 + n), "nan" if n == 3 else 0.0, 0.0113 + n / 1e4, 4194304.0 - n) for n in range(6)
    )
    bad = output(
        ok=False,
        mismatched=32,
        max_abs_error=0.0142,
        max_rel_error=1.0,
        max_ulp=4194304.0,
        p999_ulp=4194304.0,
        budget_ratio=1.19e5,
        ulp_histogram=bins(b0=580, b1=171, b2=17, b23=31, b63=1),
        error_histogram=bins(b8=31, b9=370, b10=301, b11=66, b34=31, b63=1),
        error_map=tuple(tuple(-1.0 if c < 31 else 64.0 if r == 0 else 22.0 for c in range(32)) for r in range(8)),
        quantiles_ulp=(0.8125, 1.75, 4194304.0, 4194304.0),
        bias_ulp=-167772.0,
        normalised_rms=0.198,
        rules={"kernelbench": "pass", "kernelbot": "fail"},
        worst=worst,
        nan_mismatch=1,
        decided_by="special_positions",
    )
    failing = workload("tail", StageStatus.FAILED, outputs=(bad,))
    hidden = workload("n1000", StageStatus.FAILED, outputs=(bad,), hidden=True)
    return report(
        verdict=Verdict.WRONG_RESULT,
        headline="32 of 800 elements of `out` were never written on workload `tail`.",
        stages=stages(correctness=StageStatus.FAILED, integrity=StageStatus.FLAGGED, inspect=StageStatus.FLAGGED),
        workloads=(workload("square"), failing, hidden, workload("one-column"), _too_large()),
        rules={"kernelbench": "pass", "kernelbot": "fail"},
        findings=(_wrong_values("tail"), _unwritten(), _wrong_values("n1000"), _narrow_index(), _static_hint()),
        claims=(
            Claim("right for cols from 1 to 4096", "contradicted", ("numerics.tail.out",), "`out` is wrong on `tail`"),
            Claim("1.8 times faster than torch.softmax on H100", "not_measured", (), "not measured here: no device"),
        ),
    )


def suspect() -> Report:
    """A result cached by address, proved by refilling the storage."""
    proof = Finding(
        "integrity.output_cache",
        Severity.ERROR,
        StageName.INTEGRITY,
        "Refilling the same storage with new values returned the earlier result.",
        Tier.HARD,
        {"calls": 3, "same_bytes": True, "probe": "refill_storage", "elements_stale": 1000},
        Location("solution.py", 18),
        "public",
    )
    return report(
        verdict=Verdict.SUSPECT,
        headline="The result of an earlier call is returned for new contents.",
        stages=stages(integrity=StageStatus.FAILED),
        findings=(proof,),
        workloads=(workload("public"),),
        scope=Scope(EvidenceLevel.EMULATED, ("public",), (), ("cuda:sm_80",)),
        claims=(),
    )


def compile_error() -> Report:
    told = Diagnostic(Severity.ERROR, 'identifier "blockldx" is undefined', Location("solution.cu", 7))
    found = Finding(
        "compile.error",
        Severity.ERROR,
        StageName.COMPILE,
        told.message,
        location=told.location,
        evidence={"environment": "cuda:sm_80"},
    )
    off = StageStatus.NOT_MEASURED
    return report(
        verdict=Verdict.COMPILE_ERROR,
        headline="The source does not compile for cuda:sm_80.",
        mode="emulated:cuda-on-cpu",
        submission=SubmissionIdentity("77aa" * 16, "cuda", ("solution.cu",)),
        stages=stages(compile=StageStatus.FAILED, correctness=off, integrity=off, sanitize=off),
        builds=(dataclasses.replace(_build("cuda:sm_80"), ok=False, diagnostics=(told,), resources={}, artefacts=()),),
        workloads=(),
        findings=(found,),
        claims=(),
        rules={},
        scope=Scope(EvidenceLevel.STATIC, (), ("square", "tail"), (), ("hip:gfx942",)),
        not_checked=("correctness: nothing to run",),
    )


def hostile() -> Report:
    """Everything that a submission can put into a report, at its worst."""
    found = Finding(
        "runtime.crash",
        Severity.ERROR,
        StageName.CORRECTNESS,
        HOSTILE,
        evidence={"traceback": HOSTILE, HOSTILE: HOSTILE},
        location=Location(HOSTILE, 3),
        workload=HOSTILE,
    )
    told = Diagnostic(Severity.WARNING, HOSTILE, Location(HOSTILE, 1))
    build = dataclasses.replace(
        _build(HOSTILE), diagnostics=(told,), artefacts=(HOSTILE,), resources={HOSTILE: HOSTILE}
    )
    broken = workload(HOSTILE, StageStatus.ERROR, outputs=(output(HOSTILE, ok=False),), reason=HOSTILE)
    return report(
        verdict=Verdict.RUNTIME_ERROR,
        headline=HOSTILE,
        not_checked=(HOSTILE,),
        findings=(found,),
        builds=(build,),
        workloads=(broken,),
        log=HOSTILE,
        claims=(Claim(HOSTILE, "not_measured", (HOSTILE,), HOSTILE),),
        environment={HOSTILE: HOSTILE},
        profile={HOSTILE: {HOSTILE: HOSTILE}},
    )


def measured() -> Report:
    """An optimisation measured on a device: one workload faster, one the same, one slower."""
    rows = [
        ("square", 38.2, 61.9, 1.62, (1.58, 1.66)),
        ("tail", 9.13, 9.07, 0.993, (0.96, 1.03)),
        ("huge", 912.0, 701.0, 0.769, (0.76, 0.78)),
    ]
    benchmark = {
        "timer": "CUDA events, interleaved, L2 flushed",
        "workloads": [
            {
                "name": name,
                "candidate": {"median_us": mine, "interval_us": [mine * 0.98, mine * 1.02]},
                "baselines": [{"name": "torch.softmax", "median_us": theirs}],
                "speedup": ratio,
                "speedup_interval": list(interval),
                "floor_us": mine * 0.6,
            }
            for name, mine, theirs, ratio, interval in rows
        ],
    }
    profile = {
        "roofline": {"limiter": "memory", "fraction_of_bound": 0.83, "intensity_flop_per_byte": 0.62},
        "occupancy": {"theoretical": 0.5, "limited_by": "registers", "registers_per_thread": 96},
    }
    measured_stages = stages(benchmark=StageStatus.PASSED, profile=StageStatus.PASSED)
    scope = Scope(EvidenceLevel.DEVICE, ("square", "tail", "huge"), (), ("cuda:sm_90a",), (), accumulator_modelled=True)
    return report(
        scope=scope,
        mode="device:cuda",
        benchmark=benchmark,
        profile=profile,
        stages=measured_stages,
        not_checked=(),
        workloads=tuple(workload(name) for name in ("square", "tail", "huge")),
        claims=(Claim("1.6x faster than torch.softmax", "contradicted", ("benchmark.3",)),),
    )


def _build(environment: str) -> Build:
    used = {"registers": 32, "shared_bytes": 4096, "spill_bytes": 0}
    return Build(environment, ok=True, seconds=1.7, resources=used, artefacts=("kernel.ptx",))


def _too_large() -> WorkloadResult:
    return workload(
        "huge", StageStatus.NOT_MEASURED, outputs=(), seconds=None, reason="needs a device: about 3 h to interpret"
    )


def _wrong_values(name: str) -> Finding:
    return Finding(
        "numerics.wrong_values",
        Severity.ERROR,
        StageName.CORRECTNESS,
        "32 of 800 elements differ by more than the tolerance and the reference's own error.",
        workload=name,
        evidence={"mismatched": 32, "elements": 800, "seed": 1182},
    )


def _unwritten() -> Finding:
    return Finding(
        "integrity.uninitialised_output",
        Severity.ERROR,
        StageName.INTEGRITY,
        "Elements from index 96 on still hold the poison that was put there before the call.",
        Tier.SUPPORT,
        {"first_index": "[0, 96]", "count": 32, "poison": "0x7fa5a5a5"},
        Location("solution.py", 15),
        "tail",
    )


def _narrow_index() -> Finding:
    return Finding(
        "runtime.index_overflow",
        Severity.WARNING,
        StageName.SANITIZE,
        "`row * stride` is computed in 32 bits and wraps from 2 147 483 648 elements on.",
        evidence={"largest_index": 2**31},
        location=Location("solution.py", 9),
    )


def _static_hint() -> Finding:
    return Finding(
        "integrity.output_cache",
        Severity.INFO,
        StageName.INSPECT,
        "A module-level dictionary is keyed by `data_ptr()`.",
        Tier.TELEMETRY,
        {"name": "_plans"},
        Location("solution.py", 4),
    )


ALL = {
    "accepted": accepted,
    "wrong_result": wrong_result,
    "suspect": suspect,
    "compile_error": compile_error,
    "hostile": hostile,
    "measured": measured,
}
SOURCE = '''"""Row softmax in Triton: one program a row."""
import torch
import triton
import triton.language as tl

_plans = {}


@triton.jit
def _softmax(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
    # Subtract the largest element, so that exp cannot overflow.
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0))


def solution(x):
    out = torch.empty_like(x)
    _softmax[(x.shape[0],)](x, out, x.shape[1], x.stride(0), BLOCK=32 * (x.shape[1] // 32))
    return out
'''
