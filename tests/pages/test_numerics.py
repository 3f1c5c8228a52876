"""The numerics panel: its groups, where other rules part with the judge, and the same numbers as plain text."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import REPOSITORY
from app.domain.report import Report, StageStatus
from app.evaluations.numerics import OutputView, rule_rows
from app.evaluations.numerics_text import detail, overview, rule_lines
from app.evaluations.panels import Evidence
from tests import factories
from tests.pages import sample_reports
from tests.pages.sample_reports import output, report, workload

RUNTIME = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
GEMM = REPOSITORY / "tests" / "kernels" / "rules"


def outside(name: str, family: str, **overrides):
    return workload(name, family=family, decides=False, **overrides)


class TestGroups:
    def test_runs_that_mean_the_same_stand_together(self):
        runs = (
            workload("b"), workload("a"),
            workload("a", family="new values, same memory"), workload("b", family="repeat"),
            workload("a", family="repeat"), workload("a", family="huge"),
            outside("a", "nan", status=StageStatus.FLAGGED),
        )  # fmt: skip

        groups = Evidence(report(workloads=runs)).groups

        assert [(group.title, len(group.rows), group.failing) for group in groups] == [
            ("Workloads", 2, 0),
            ("The same again", 3, 0),
            ("Further inputs of the contract", 1, 0),
            ("Inputs outside the contract", 1, 1),
        ]
        again = [(row.workload.name, row.family) for row in groups[1].rows]
        assert again == [("b", "repeat"), ("a", "repeat"), ("a", "new values, same memory")]


class TestRuleRows:
    def test_a_rule_parts_on_the_outputs_where_it_says_otherwise(self):
        bad = output(ok=False, rules={"loose": "pass", "strict": "fail"})
        good = output(rules={"loose": "pass", "strict": "fail"})
        runs = (workload("bad", StageStatus.FAILED, outputs=(bad,)), workload("good", outputs=(good,)))

        loose, strict = rule_rows(runs, {})

        assert (loose.passes, loose.lenient_on, loose.strict_on) == (True, ("bad \u00b7 out",), ())
        assert (strict.passes, strict.lenient_on, strict.strict_on) == (False, (), ("good \u00b7 out",))
        assert rule_lines([loose, strict]) == [
            "1 of 2 named rules would pass bad \u00b7 out: loose",
            "1 of 2 named rules would fail good \u00b7 out: strict",
        ]

    def test_inputs_of_the_judges_own_are_not_asked(self):
        """The rules' harnesses would never have drawn them."""
        drawn = workload("a", StageStatus.FAILED, family="huge", outputs=(output(ok=False, rules={"loose": "pass"}),))

        rows = rule_rows((workload("a", outputs=(output(rules={"loose": "pass"}),)), drawn), {})

        assert [row.disagrees for row in rows] == [False]
        assert rule_lines(rows) == ["all 1 named rules agree on the task's workloads"]

    def test_the_reports_word_counts_where_no_output_has_one(self):
        plain = workload("tail", StageStatus.FAILED, outputs=(output(ok=False, rules={}),))

        assert rule_rows((plain,), {"loose": "pass"})[0].lenient_on == ("tail",)


class TestOutputView:
    def test_no_quantile_lies_above_the_largest(self):
        view = OutputView(output(quantiles_ulp=(176.0, 224.0, 224.0, 223.0), max_ulp=223.4))

        assert [value for _, value in view.quantiles] == [176.0, 223.4, 223.4, 223.0, 223.4]

    def test_an_output_without_distributions_has_none_to_show(self):
        bare = OutputView(output(ulp_histogram=(), reference_ulp_histogram=(), error_exponent=None, error_map=()))

        assert bare.ulps is None and bare.errors is None and bare.map is None


class TestText:
    def test_every_number_of_the_charts_is_in_it(self):
        worst = sample_reports.wrong_result().workloads[1].outputs[0]

        text = detail(OutputView(worst))

        assert "32 of 800 elements wrong; decided by special positions" in text
        counts = {int(n) for n in re.findall(r"\d+", text)}
        assert {n for n in (*worst.ulp_histogram, *worst.error_histogram) if n} <= counts
        assert text.count("X") == 2  # in the legend, and in the map
        assert "[0, 96]" in text and "NaN" in text

    def test_the_overview_has_a_line_for_each_output_and_counts_what_passed_again(self):
        runs = (workload("a", outputs=(output("x"), output("y"))), workload("a", family="repeat"),
                workload("a", StageStatus.FAILED, family="repeat"), outside("a", "nan"))  # fmt: skip

        head, *lines, last = overview(runs)

        assert head.split()[:3] == ["workload", "inputs", "output"]
        assert [line.split()[:2] for line in lines[:2]] == [["a", "x"], ["a", "y"]]
        assert "repeat" in lines[2] and "failed" in lines[2] and "nan, outside the contract" in lines[3]
        assert last == "and 1 calls with the same inputs or memory again, all passed"


def page_of(house, made: Report, login: str = "rob") -> str:
    with house.database.write() as session:
        submission, _, _ = factories.make_evaluated(session, house.settings, report=made, author=house.viewers["sue"])
        address = f"/submissions/{submission.public_id}"
    return house.browser(login).get(address).text


def test_the_panel_says_in_words_what_its_charts_draw(house):
    page = page_of(house, sample_reports.wrong_result())

    assert "allowed 1.00\u2009\u00d7\u200910\u207b\u2076 to 2.10" in page
    assert '<path class="cross"' in page and "special mismatch: 1" in page
    assert "1 of 2 would pass what fails here</strong>: kernelbench." in page
    assert page.count("<summary>As text</summary>") == page.count('class="error-map"')


def test_a_submitter_sees_no_hidden_numbers_in_charts_rules_or_text(house):
    page = page_of(house, sample_reports.wrong_result(), login="sue")

    assert "tail \u00b7 out" in page
    assert "n1000" not in page


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not RUNTIME.exists(), reason="the torch runtime is not installed here")
def test_a_report_that_the_engine_wrote_is_shown_whole(house, tmp_path: Path):
    """A GEMM that drops a thousandth of K: seven published rules would let its positive inputs pass."""
    file, kernel = tmp_path / "report.json", GEMM / "faulty" / "gemm-bf16" / "drops_a_thousandth_of_k.py"
    command = ["evaluate", str(GEMM / "tasks" / "gemm-bf16"), str(kernel), "--json", str(file)]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("workbench")), *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    made = Report.from_json(json.loads(file.read_text()))

    page = page_of(house, made)

    assert "7 of 11 named rules would pass positive \u00b7 out" in done.stderr
    assert "7 of 11 would pass what fails here" in page
    details = sum(bool(o.ulp_histogram) for w in made.workloads for o in w.outputs)
    assert page.count('class="error-map"') == page.count("<summary>As text</summary>") == details > 0
    for worst in made.workloads[0].outputs[0].worst[:1]:
        assert f"[{', '.join(map(str, worst.index))}]" in page


def test_every_output_of_a_report_without_the_newer_numbers_is_shown(house):
    bare = dataclasses.replace(output(), error_exponent=None, error_map=(), quantiles_ulp=(), rules={}, worst=())

    assert "ULP error of out on old" in page_of(house, report(workloads=(workload("old", outputs=(bare,)),)))
