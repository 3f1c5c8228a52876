"""The report: what one evaluation found, as the judge writes it and everybody else reads it.

`Report.to_json` and `Report.from_json` are the one format that crosses every boundary
(`workbench schema report` prints its shape).  Durations are seconds unless a name says otherwise.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.domain.as_json import built, plain

SCHEMA_VERSION = 1


class Verdict(StrEnum):
    """What the machine concludes.  People conclude a `Decision`, which stands beside it."""

    ACCEPTED = "accepted"
    WRONG_RESULT = "wrong_result"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    COMPILE_ERROR = "compile_error"
    SUSPECT = "suspect"
    INVALID_TASK = "invalid_task"
    INCONCLUSIVE = "inconclusive"


# The first that holds is the verdict; every other fact stays a finding.
PRECEDENCE = (
    Verdict.INVALID_TASK,
    Verdict.SUSPECT,
    Verdict.COMPILE_ERROR,
    Verdict.MEMORY_LIMIT,
    Verdict.TIME_LIMIT,
    Verdict.RUNTIME_ERROR,
    Verdict.WRONG_SHAPE,
    Verdict.WRONG_DTYPE,
    Verdict.WRONG_RESULT,
    Verdict.INCONCLUSIVE,
    Verdict.ACCEPTED,
)

VERDICT_TITLES = {
    Verdict.ACCEPTED: "Accepted",
    Verdict.WRONG_RESULT: "Wrong result",
    Verdict.WRONG_SHAPE: "Wrong shape",
    Verdict.WRONG_DTYPE: "Wrong dtype",
    Verdict.RUNTIME_ERROR: "Runtime error",
    Verdict.TIME_LIMIT: "Time limit",
    Verdict.MEMORY_LIMIT: "Memory limit",
    Verdict.COMPILE_ERROR: "Compile error",
    Verdict.SUSPECT: "Suspect",
    Verdict.INVALID_TASK: "Invalid task",
    Verdict.INCONCLUSIVE: "Inconclusive",
}


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Tier(StrEnum):
    """How much an integrity finding proves: only `hard` makes a submission suspect."""

    HARD = "hard"
    SUPPORT = "support"
    TELEMETRY = "telemetry"


class StageStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    FLAGGED = "flagged"
    NOT_MEASURED = "not_measured"
    ERROR = "error"


class StageName(StrEnum):
    INSPECT = "inspect"
    COMPILE = "compile"
    CORRECTNESS = "correctness"
    INTEGRITY = "integrity"
    SANITIZE = "sanitize"
    BENCHMARK = "benchmark"
    PROFILE = "profile"


class EvidenceLevel(StrEnum):
    """Where the evidence comes from, strongest first."""

    DEVICE = "device"
    EMULATED = "emulated"
    SIMULATED = "simulated"
    STATIC = "static"


@dataclass(frozen=True)
class Location:
    file: str
    line: int | None = None


@dataclass(frozen=True)
class Finding:
    """One observation with its proof; `code` is in the register (`app.domain.findings`)."""

    code: str
    severity: Severity
    stage: StageName
    message: str
    tier: Tier | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    location: Location | None = None
    workload: str | None = None

    @property
    def gravity(self) -> tuple[int, int]:
        """For sorting: errors first, and of integrity findings those that prove most."""
        return _SEVERITIES.index(self.severity), _TIERS.index(self.tier)


# The gravest first; a finding without a tier is a plain fact, and needs no further proof.
_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_TIERS = (Tier.HARD, None, Tier.SUPPORT, Tier.TELEMETRY)


@dataclass(frozen=True)
class Stage:
    name: StageName
    status: StageStatus
    seconds: float = 0.0
    reason: str | None = None


@dataclass(frozen=True)
class WorstElement:
    index: tuple[int, ...]
    got: float | str
    want: float | str
    ulp: float


@dataclass(frozen=True)
class OutputResult:
    """One output compared with its expected value; errors are against the float64 oracle where there is one.

    `ulp_histogram` and `reference_ulp_histogram` have 64 bins: bin 0 counts elements below 1 ulp, bin k
    those with 2**(k-1) <= ulp < 2**k, the last everything above and every special mismatch.
    `error_histogram` and `reference_error_histogram` share 64 bins of absolute errors, in the output's unit:
    bin 0 counts errors below 2**e, bin k those with 2**(e+k-1) <= error < 2**(e+k), where e is `error_exponent`;
    no finite error lies beyond bin 62, and the last has every special mismatch.  The reference's two are empty
    without an oracle.  `allowed_error` is the least and the largest error that the deciding rule allows an element
    (empty where it counts ulp alone), `allowed_ulp` what `max_ulp` allows (`None` without one).
    `budget_basis` says how the error budget was made.  `normalised_rms` is the root mean square error
    over that of the truth, `bias_ulp` the mean of (got - truth).  `quantiles_ulp`: 50, 90 and 99 %, rounded
    up to an eighth of an octave, and 99.9 %.  `error_map`: log2 of the largest ulp distance in each cell
    of at most 32 x 32.  `rules`: pass or fail by the rules of other harnesses.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    ok: bool
    decided_by: str
    elements: int
    mismatched: int = 0
    max_abs_error: float = 0.0
    max_rel_error: float = 0.0
    max_ulp: float = 0.0
    p999_ulp: float = 0.0
    ulp_histogram: tuple[int, ...] = ()
    reference_ulp_histogram: tuple[int, ...] = ()
    error_exponent: int | None = None
    error_histogram: tuple[int, ...] = ()
    reference_error_histogram: tuple[int, ...] = ()
    allowed_error: tuple[float, ...] = ()
    allowed_ulp: float | None = None
    worst: tuple[WorstElement, ...] = ()
    reference_max_ulp: float | None = None
    budget_ratio: float | None = None
    nan_mismatch: int = 0
    inf_mismatch: int = 0
    expected_shape: tuple[int, ...] | None = None
    expected_dtype: str | None = None
    budget_basis: str = ""
    normalised_rms: float | None = None
    bias_ulp: float | None = None
    quantiles_ulp: tuple[float, ...] = ()
    error_map: tuple[tuple[float, ...], ...] = ()
    rules: dict[str, str] = field(default_factory=dict)

    @property
    def budget_share(self) -> float | None:
        """`budget_ratio`, and infinite where NaN or infinities differ: no budget of finite errors pays for those."""
        if self.budget_ratio is None:
            return None
        return math.inf if self.nan_mismatch or self.inf_mismatch else self.budget_ratio


@dataclass(frozen=True)
class WorkloadResult:
    """What happened on one workload: `status` is passed, failed, not_measured or error.

    `decides` is False for a family of inputs outside the task's contract, which is information; its status is
    flagged where it would be failed.
    """

    name: str
    family: str
    status: StageStatus
    outputs: tuple[OutputResult, ...] = ()
    seconds: float | None = None
    reason: str | None = None
    hidden: bool = False
    calls: int = 0
    decides: bool = True


@dataclass(frozen=True)
class Diagnostic:
    severity: Severity
    message: str
    location: Location | None = None


@dataclass(frozen=True)
class Build:
    environment: str
    ok: bool
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()
    resources: dict[str, Any] = field(default_factory=dict)
    artefacts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """How far the verdict reaches; shown wherever the verdict is."""

    evidence: EvidenceLevel
    workloads_run: tuple[str, ...] = ()
    workloads_not_run: tuple[str, ...] = ()
    environments_built: tuple[str, ...] = ()
    environments_not_built: tuple[str, ...] = ()
    accumulator_modelled: bool = False

    def sentence(self) -> str:
        """The scope in one line, for people."""
        where = {
            EvidenceLevel.DEVICE: "on a device",
            EvidenceLevel.EMULATED: "interpreted or emulated on a CPU",
            EvidenceLevel.SIMULATED: "simulated on a CPU",
            EvidenceLevel.STATIC: "from the source alone",
        }[self.evidence]
        run, total = len(self.workloads_run), len(self.workloads_run) + len(self.workloads_not_run)
        return f"{where}; {run} of {total} workloads run"


@dataclass(frozen=True)
class Claim:
    """What the author says, and what came of it; `evidence` are cells, `reason` says what they show.

    A claim that is not `checkable` is for a person to judge: no machine will ever confirm or contradict it.
    """

    text: str
    status: str  # confirmed | contradicted | not_measured
    evidence: tuple[str, ...] = ()
    reason: str = ""
    checkable: bool = True


@dataclass(frozen=True)
class TaskIdentity:
    name: str
    version: int
    sha256: str


@dataclass(frozen=True)
class SubmissionIdentity:
    sha256: str
    framework: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """What `--replay` needs to draw the same inputs again: the secret is printed after the verdict."""

    command: str
    secret: str
    seeds: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    verdict: Verdict
    scope: Scope
    headline: str
    task: TaskIdentity
    submission: SubmissionIdentity
    mode: str
    not_checked: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    workloads: tuple[WorkloadResult, ...] = ()
    builds: tuple[Build, ...] = ()
    benchmark: dict[str, Any] | str = "not_measured"
    profile: dict[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    rules: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    environment: dict[str, Any] = field(default_factory=dict)
    replay: Replay | None = None
    log: str = ""
    hidden_workloads: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> dict[str, Any]:
        """A plain JSON object; NaN and infinities become the strings "nan", "inf", "-inf"."""
        return typing.cast("dict[str, Any]", plain(self))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """Rebuild a report; raises `ValueError` for another schema version or a missing field."""
        if data.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f"report schema_version {data.get('schema_version')!r}; this reads {SCHEMA_VERSION}")
        return typing.cast("Report", built(cls, data))

    def for_submitter(self) -> Report:
        """The only form a submitter gets: hidden workloads are `hidden-1`…, pass or fail and no more."""
        hidden = dict.fromkeys((*self.hidden_workloads, *(w.name for w in self.workloads if w.hidden)))
        names = {name: f"hidden-{n}" for n, name in enumerate(hidden, 1)}
        hidden_scope = set(names)

        def public(items: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(names.get(item, item) for item in items)

        findings = tuple(
            dataclasses.replace(
                f, workload=names[f.workload], evidence={}, location=None, message="on a hidden workload"
            )
            if f.workload in hidden_scope
            else f
            for f in self.findings
        )
        workloads = tuple(
            WorkloadResult(name=names[w.name], family="hidden", status=w.status, hidden=True) if w.hidden else w
            for w in self.workloads
            if w.decides or not w.hidden
        )
        scope = dataclasses.replace(
            self.scope,
            workloads_run=public(self.scope.workloads_run),
            workloads_not_run=public(self.scope.workloads_not_run),
        )
        return dataclasses.replace(
            self,
            workloads=workloads,
            stages=_without_reasons(self.stages) if names else self.stages,
            hidden_workloads=(),
            rules={} if names else self.rules,
            findings=findings,
            scope=scope,
            replay=None,
            log="" if names else self.log,
            not_checked=tuple(_renamed(line, names) for line in self.not_checked),
            headline=_renamed(self.headline, names),
        )


def _without_reasons(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """A failed stage's reason may quote what a hidden workload raised."""
    return tuple(dataclasses.replace(s, reason=None) if s.status is StageStatus.FAILED else s for s in stages)


def _renamed(text: str, names: dict[str, str]) -> str:
    for real, shown in names.items():
        text = text.replace(f"`{real}`", f"`{shown}`")
    return text
