"""What an author claims is settled by measurements: never against an honest author, and with the cell that shows it."""

from __future__ import annotations

import dataclasses
import json

import pytest

from app.cli_evaluate import summary
from app.domain import claims
from app.domain.cells import run_keys
from app.domain.report import (
    Build,
    EvidenceLevel,
    OutputResult,
    Report,
    Scope,
    StageName,
    StageStatus,
    SubmissionIdentity,
    TaskIdentity,
    Verdict,
    WorkloadResult,
    WorstElement,
)
from app.domain.request import EvaluationRequest
from app.domain.task import Workload
from tests.judge.conftest import REFERENCE, TASK
from workers.judge import author_claims
from workers.judge.faults import SubmissionError
from workers.judge.pipeline import evaluate

OPEN, SECRET = Workload("open", {"n": 64}), Workload("prime", {"n": 61}, hidden=True)
HISTOGRAM = (0,) * 10 + (1,) + (0,) * 53


def output(**fields):
    given = {
        "name": "out", "shape": (64,), "dtype": "float32", "ok": True, "decided_by": "tolerance", "elements": 64,
        "max_abs_error": 1e-6, "max_rel_error": 2e-7, "max_ulp": 2.3, "reference_max_ulp": 0.5,
        "expected_dtype": "float32",
    }  # fmt: skip
    return OutputResult(**given | fields)


def report(*runs, verdict=Verdict.ACCEPTED, builds=(), framework="torch"):
    return Report(
        verdict, Scope(EvidenceLevel.EMULATED), "", TaskIdentity("t", 1, "0"),
        SubmissionIdentity("0", framework, ("k.py",)), "host:torch", workloads=runs, builds=builds,
    )  # fmt: skip


def run(name="open", family="task", status=StageStatus.PASSED, **fields):
    return WorkloadResult(name, family, status, (output(**fields),), hidden=name == "prime")


def settled(statement, *runs, workloads=(OPEN, SECRET), **about):
    (claim,) = author_claims.settle(claims.read(statement), report(*(runs or (run(),)), **about), workloads, [])
    return claim


class TestErrors:
    @pytest.mark.parametrize(
        ("statement", "status"),
        [
            ({"max_ulp": 2.5}, "confirmed"),
            ({"max_ulp": 1}, "contradicted"),
            ({"max_ulp": 2}, "not_measured"),  # 2.3 is within the figure's rounding, and the reference's 0.5
            ({"max_ulp": 1.9}, "not_measured"),  # counted from the reference it may be 1.8
            ({"max_ulp": 1.5, "against": "exact"}, "contradicted"),
            ({"max_ulp": 2.3, "against": "reference"}, "not_measured"),
            ({"max_ulp": 2.8, "against": "reference"}, "confirmed"),
            ({"max_ulp": 0}, "contradicted"),
            ({"max_ulp": 1, "device": "H100"}, "not_measured"),
            ({"max_ulp": 1, "workloads": ["other"]}, "not_measured"),
            ({"max_ulp": 1, "output": "out7"}, "not_measured"),
            ({"max_abs_error": 1e-6}, "confirmed"),
        ],
    )
    def test_a_bound_is_read_with_its_rounding_and_the_references_own_error(self, statement, status):
        assert settled(statement).status == status

    def test_the_reason_names_the_number_and_the_cell_shows_it(self):
        claim = settled({"max_ulp": 1}, run(), run(family="repeat", max_ulp=9.0))
        assert claim.evidence == ("numerics.open-repeat.out",) and "9" in claim.reason and "`open`" in claim.reason

    def test_an_absolute_error_leaves_room_for_the_references_own(self):
        near = {"max_abs_error": 9.1e-7, "error_exponent": -30, "reference_error_histogram": HISTOGRAM}
        assert settled({"max_abs_error": 1e-7}, run(**near)).status == "not_measured"
        assert settled({"max_abs_error": 1e-7}, run(**near | {"max_abs_error": 2e-6})).status == "contradicted"

    def test_a_relative_error_at_a_subnormal_number_contradicts_nothing(self):
        subnormal = (WorstElement((0,), 3e-45, 1e-45, 1.0),)
        normal = (WorstElement((0,), 1.1, 1.0, 838861.0),)
        assert settled({"max_rel_error": 1e-6}, run(max_rel_error=2.0, worst=subnormal)).status == "not_measured"
        assert settled({"max_rel_error": 1e-6}, run(max_rel_error=0.1, worst=normal)).status == "contradicted"

    def test_without_an_oracle_only_a_wrong_output_contradicts(self):
        assert settled({"max_ulp": 1}, run(reference_max_ulp=None)).status == "not_measured"
        assert settled({"max_ulp": 1}, run(reference_max_ulp=None, ok=False)).status == "contradicted"
        strict = {"max_ulp": 1, "against": "reference"}
        assert settled(strict, run(reference_max_ulp=None)).status == "contradicted"

    @pytest.mark.parametrize("decided_by", ["shape", "dtype", "check (task-defined)"])
    def test_what_was_not_compared_confirms_nothing(self, decided_by):
        claim = settled({"max_ulp": 1}, run(decided_by=decided_by, max_ulp=0.0, ok=decided_by.startswith("check")))
        assert (claim.status, claim.evidence) == ("not_measured", ())

    def test_a_nan_where_a_number_belongs_contradicts_every_bound(self):
        claim = settled({"max_abs_error": 1.0}, run(ok=False, nan_mismatch=3, max_abs_error=0.0))
        assert claim.status == "contradicted" and "3 NaN" in claim.reason

    def test_hidden_workloads_sound_nothing_out(self):
        claim = settled({"max_ulp": 5}, run(), run("prime", max_ulp=99.0))
        assert claim.status == "confirmed" and "prime" not in claim.reason

    def test_a_workload_that_was_not_run_leaves_it_open(self):
        tail = dataclasses.replace(OPEN, name="tail")
        claim = settled({"max_ulp": 5}, run(), workloads=(OPEN, tail))
        assert claim.status == "not_measured" and "`tail`" in claim.reason

    def test_inputs_outside_the_contract_count_for_nothing(self):
        odd = dataclasses.replace(run(family="huge", max_ulp=1e9), decides=False)
        assert settled({"max_ulp": 5}, run(), odd).status == "confirmed"


class TestOthers:
    def test_a_task_that_cannot_be_judged_contradicts_nobody(self):
        assert settled({"max_ulp": 0}, run(ok=False), verdict=Verdict.INVALID_TASK).status == "not_measured"

    def test_speed_waits_for_a_device(self):
        claim = settled({"speedup": 1.8, "baseline": "torch.softmax", "device": "H100"})
        assert (claim.status, claim.reason) == ("not_measured", "not measured here: no device")
        assert claim.text == "1.8 times faster than torch.softmax on H100"

    @pytest.mark.parametrize("statement", ["overlaps copies", {"text": "overlaps copies"}, {"root_cause": "a race"}])
    def test_words_are_for_a_person(self, statement):
        claim = settled(statement)
        assert (claim.status, claim.checkable) == ("not_measured", False)

    def test_an_authors_words_break_no_terminal(self):
        words = settled({"text": "fast\x1b[31m \u202e"})
        place = settled({"max_ulp": 1, "workloads": ["\x1b[31m"]})
        assert "\x1b" not in words.text + place.text + place.reason and "\u202e" not in words.text

    def test_a_dtype_is_contradicted_only_where_it_never_comes_out_right(self):
        tail = dataclasses.replace(OPEN, name="tail")
        assert settled({"dtypes": ["fp32"]}).status == "confirmed"
        assert settled({"dtypes": ["fp32", "bf16"]}).status == "not_measured"
        assert settled({"dtypes": ["fp32"]}, run(ok=False, status=StageStatus.FAILED)).status == "contradicted"
        mixed = settled({"dtypes": ["fp32"]}, run(), run("tail", ok=False), workloads=(OPEN, tail))
        assert mixed.status == "not_measured"

    def test_shapes_are_judged_by_the_workloads_in_their_range(self):
        drawn = Workload("open, n=7", {"n": 7}, drawn=True)
        wrong = run("open, n=7", "drawn from the contract", StageStatus.FAILED, ok=False)
        both = {"workloads": (OPEN, SECRET, drawn)}
        assert settled({"shapes": {"n": {"min": 1, "max": 64}}}, run(), wrong, **both).status == "contradicted"
        assert settled({"shapes": {"n": {"min": 8, "max": 64}}}, run(), wrong, **both).status == "confirmed"
        odd = {"shapes": {"n": {"min": 1, "max": 64, "multiple_of": 3}}}
        assert settled(odd, run(), wrong, **both).status == "not_measured"

    def test_environments_are_judged_by_their_builds(self):
        builds = (Build("cuda:sm_80", ok=True), Build("cuda:sm_90a", ok=False))
        assert settled({"environments": ["cuda:sm_80"]}, builds=builds).status == "confirmed"
        bad = settled({"environments": ["cuda:sm_80", "cuda:sm_90a"]}, builds=builds)
        assert (bad.status, bad.evidence) == ("contradicted", ("build.2",))
        assert settled({"environments": ["hip:gfx942"]}, builds=builds).status == "not_measured"


class TestReading:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "claims.json is not JSON"),
            ("[1]", "claim 1: must be an object"),
            ('[{"speed_up": 2}]', "did you mean 'speedup'"),
            ('[{"max_ulp": 2, "speedup": 3}]', "make each a claim of its own"),
            ('[{"speedup": 2}]', "claim 1: baseline: required"),
            ('["fine", {"max_ulp": "2"}]', "claim 2: max_ulp: must be a number"),
            ('[{"max_ulp": -1}]', "at least 0"),
            ('[{"max_ulp": 1e999}]', "must be a finite number"),
            ('[{"max_ulp": true}]', "must be a number"),
            ('[{"max_ulp": 1, "unit": "eps"}]', "unit: unknown key"),
            ('[{"dtypes": ["float31"]}]', "dtypes[1]: must be one of"),
            ('[{"deterministic": false}]', "must be one of True"),
            ('[{"shapes": {"n": {"min": 9, "max": 1}}}]', "shapes.n: min is above max"),
            ('[{"text": " "}]', "must not be empty"),
            ('[{"environments": ["H100"]}]', "<target>[@<version>]:<architecture>"),
        ],
    )
    def test_what_cannot_be_read_names_the_claim_and_the_field(self, text, message):
        with pytest.raises(claims.ClaimsError, match=r"claims\.json") as refused:
            claims.parse(text.encode())
        assert message in str(refused.value)

    def test_one_statement_needs_no_list(self):
        (one,) = claims.parse(b'{"dtypes": ["fp32", "torch.bfloat16"]}')
        assert one.value == ["float32", "bfloat16"] and one.sentence == "right for float32, bfloat16"


def judged(bench, source, stated, task=TASK, **request):
    (bench.folder / "task.toml").write_text(task.format(extra=""))
    (bench.folder / "reference.py").write_text(REFERENCE)
    folder = bench.folder.parent / "kernel"
    folder.mkdir()
    (folder / "kernel.py").write_text(source)
    (folder / "claims.json").write_text(json.dumps(stated))
    return evaluate(EvaluationRequest(bench.folder, folder, framework="torch", **request), bench.sandboxes)


STATED = [
    {"max_ulp": 0}, {"deterministic": True}, {"dtypes": ["float32"]}, {"shapes": {"n": {"min": 64, "max": 64}}},
    {"speedup": 2, "baseline": "torch.mul", "device": "H100"}, "easy to read",
]  # fmt: skip


class TestWholeEvaluation:
    def test_an_honest_author_is_confirmed(self, bench):
        found = judged(bench, "def solution(x):\n    return x * 2\n", STATED).claims
        assert [c.status for c in found] == ["confirmed"] * 4 + ["not_measured"] * 2

    def test_a_terminal_is_told(self, bench):
        told = summary(judged(bench, "def solution(x):\n    return x * 2\n", STATED[:1]))
        assert "claimed: error at most 0 ULP: confirmed; measured 0 on `open`" in told

    def test_a_false_author_is_contradicted_with_a_cell_that_the_report_has(self, bench):
        source = "calls = [0]\n\ndef solution(x):\n    calls[0] += 1\n    return x * 2 * (1 + 5e-7 * calls[0])\n"
        found = judged(bench, source, STATED)
        assert [c.status for c in found.claims[:2]] == ["contradicted"] * 2
        rows = zip(run_keys(found.workloads), found.workloads, strict=True)
        cells = {f"numerics.{key}.{o.name}" for key, w in rows for o in w.outputs}
        assert {cell for c in found.claims[:2] for cell in c.evidence} <= cells
        assert "prime-sizes" not in json.dumps([c.reason for c in found.claims])

    def test_the_references_own_rounding_is_never_held_against_anybody(self, bench):
        # float32 exp misses the exact result by half an ULP or more; counted from the reference it is exact.
        reference = REFERENCE.replace("x * 2", "torch.exp(x)")
        stated = [{"max_ulp": 0}, {"max_abs_error": 0.0}, {"max_rel_error": 0}]
        source = "import torch\n\ndef solution(x):\n    return torch.exp(x)\n"
        (bench.folder / "reference.py").write_text(reference)
        (bench.folder.parent / "claims.json").write_text(json.dumps(stated))
        found = bench.judge(source, reference=reference, framework="torch").claims
        assert [c.status for c in found] == ["not_measured"] * 3

    def test_a_stage_that_was_not_asked_for_contradicts_nothing(self, bench):
        found = judged(bench, "def solution(x):\n    return x * 3\n", STATED, stages=(StageName.COMPILE,))
        assert {c.status for c in found.claims} == {"not_measured"}

    def test_a_file_that_cannot_be_read_is_refused_with_its_place(self, bench):
        with pytest.raises(SubmissionError, match=r"claims\.json: claim 1: max_ulp"):
            judged(bench, "def solution(x):\n    return x\n", [{"max_ulp": "low"}])
