"""The one sentence beside the verdict never seems to contradict the numbers below it."""

from app.domain.report import EvidenceLevel, Finding, Scope, Severity, StageName, StageStatus, Verdict, WorkloadResult
from workers.judge.verdicts import headline

SCOPE = Scope(EvidenceLevel.EMULATED, ("short", "long"), ())


def ran(name, status):
    return WorkloadResult(name, "task", status, (), 0.1)


def error(code, workload):
    return Finding(code, Severity.ERROR, StageName.INTEGRITY, "said elsewhere", workload=workload)


def test_right_values_and_a_wrong_result_name_what_is_wrong():
    runs = [ran("short", StageStatus.PASSED), ran("long", StageStatus.PASSED)]
    findings = [error("integrity.input_mutated", "short"), error("integrity.output_aliased", "short"),
                error("integrity.input_mutated", "long")]  # fmt: skip
    said = headline(Verdict.WRONG_RESULT, runs, SCOPE, findings)
    assert said.startswith("Wrong result: changes its input, output shares memory on 2 of 2 workloads, ")


def test_wrong_values_speak_for_themselves():
    runs = [ran("short", StageStatus.PASSED), ran("long", StageStatus.FAILED)]
    said = headline(Verdict.WRONG_RESULT, runs, SCOPE, [error("numerics.wrong_values", "long")])
    assert said.startswith("Wrong result on 1 of 2 workloads, ")
