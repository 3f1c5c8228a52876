"""From what was noted to one verdict, its scope and its headline."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.findings import known
from app.domain.report import (
    PRECEDENCE,
    VERDICT_TITLES,
    Finding,
    Scope,
    Severity,
    StageName,
    StageStatus,
    Verdict,
    WorkloadResult,
)


def deciding(kind: str) -> tuple[StageName, ...]:
    """The stages without which a submission to a task of this kind cannot be accepted."""
    always = (StageName.COMPILE, StageName.CORRECTNESS, StageName.INTEGRITY, StageName.SANITIZE)
    return (*always, StageName.BENCHMARK) if kind == "optimization" else always


def decide(noted: Iterable[Verdict]) -> Verdict:
    """The first by precedence; accepted when nothing speaks against it."""
    found = set(noted)
    return next((verdict for verdict in PRECEDENCE if verdict in found), Verdict.ACCEPTED)


def headline(verdict: Verdict, workloads: Iterable[WorkloadResult], scope: Scope, findings: Iterable[Finding]) -> str:
    """One sentence for people.  It names no value and no hidden workload, so it may be shown to anybody."""
    findings = list(findings)
    errors = [f for f in findings if f.severity is Severity.ERROR and f.workload in scope.workloads_run]
    wrong = {w.name for w in workloads if w.status is StageStatus.FAILED}
    failed = len(wrong | {f.workload for f in errors})
    if verdict is Verdict.SUSPECT:
        return f"{VERDICT_TITLES[verdict]}: {_suspicion({f.code for f in findings})}"
    if verdict is Verdict.ACCEPTED:
        return f"Accepted, {scope.sentence()}"
    if verdict is Verdict.INVALID_TASK:
        return "Invalid task: no answer to it could be judged"
    if verdict is Verdict.INCONCLUSIVE:
        return f"Inconclusive: a deciding stage was not measured here; {scope.sentence()}"
    if verdict is Verdict.COMPILE_ERROR:
        return "Compile error: the submission does not load"
    # Where every value is right, what is wrong has to be said, or the numbers seem to contradict it.
    says_why = verdict is Verdict.WRONG_RESULT and not wrong
    why = _titles(f.code for f in errors) if says_why else ""
    return f"{VERDICT_TITLES[verdict]}{why} on {failed} of {len(scope.workloads_run)} workloads, {scope.sentence()}"


def _titles(codes: Iterable[str]) -> str:
    titles = [known(code).title for code in dict.fromkeys(codes)]
    return f": {', '.join(title[0].lower() + title[1:] for title in titles)}" if titles else ""


def _suspicion(codes: set[str]) -> str:
    if codes & {"integrity.no_custom_kernel", "integrity.decoy_kernel", "integrity.kernel_never_ran"}:
        return "no kernel of its own did the work"
    if "integrity.timer_patched" in codes:
        return "it replaces the functions that measure or check it"
    if "integrity.side_stream" in codes:
        return "it leaves work on a stream that nobody waits for"
    return "an integrity probe proved a breach of the task's policy"
