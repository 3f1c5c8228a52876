"""A report arranged for reading: order, ids that name one thing each, and what a submitter must not learn."""

from __future__ import annotations

import dataclasses
import re

from app.domain.report import Finding, Severity, StageName, StageStatus, WorstElement
from app.evaluations.panels import Evidence, cell_id, for_viewer
from tests.pages import sample_reports
from tests.pages.sample_reports import report, workload

WORST = WorstElement((0,), "nan", 1.0, float("inf"))


def families(name: str, *, hidden: bool = False, status: StageStatus = StageStatus.PASSED):
    runs = [workload(name, hidden=hidden, family=family) for family in ("task", "repeat", "new values, same memory")]
    return (*runs[:2], dataclasses.replace(runs[2], status=status))


class TestTop:
    def test_the_gravest_of_each_kind_comes_once_and_names_where_else(self):
        top = Evidence(sample_reports.wrong_result()).top

        assert [row.finding.severity for row in top] == [Severity.ERROR, Severity.ERROR, Severity.WARNING]
        wrong = next(row for row in top if row.finding.code == "numerics.wrong_values")
        assert wrong.also_on == ("n1000",)
        assert (
            wrong.counter_example
            == "workload tail, out[0, 96]: got 0, want 0.01130, 4.19\u2009\u00d7\u200910\u2076 ULP"
        )


class TestHeadline:
    def test_what_stands_beside_it_is_not_said_twice(self):
        made = report()
        alone = dataclasses.replace(made, headline=f"Accepted, {made.scope.sentence()}")
        counted = sample_reports.wrong_result()
        counted = dataclasses.replace(counted, headline=f"Wrong result on 2 of 4 workloads, {counted.scope.sentence()}")

        assert Evidence(alone).headline == ""
        assert Evidence(counted).headline == "Wrong result on 2 of 4 workloads"


class TestWorkloads:
    def test_each_run_of_a_workload_has_a_key_of_its_own(self):
        rows = Evidence(report(workloads=families("square"))).workloads

        assert [row.key for row in rows] == ["square", "square-repeat", "square-new-values-same-memory"]
        assert [row.family for row in rows] == ["", "repeat", "new values, same memory"]

    def test_a_hidden_workload_says_once_that_it_failed(self):
        whole = report(workloads=(*families("square"), *families("n1000", hidden=True, status=StageStatus.FAILED)))

        rows = for_viewer(whole, sees_hidden=False).workloads

        assert [row.workload.status for row in rows if row.workload.hidden] == [StageStatus.FAILED]


class TestOutsideTheContract:
    def test_it_is_neither_counted_nor_taken_for_the_reference_s_error_nor_for_a_counter_example(self):
        own = workload("square", family="task")
        huge = dataclasses.replace(own.outputs[0], ok=False, reference_max_ulp=1e9, worst=(WORST,))
        outside = dataclasses.replace(own, family="huge", status=StageStatus.FLAGGED, outputs=(huge,), decides=False)
        findings = tuple(
            Finding(code, Severity.WARNING, StageName.CORRECTNESS, "words", workload="square")
            for code in ("numerics.precision_downgrade", "numerics.outside_contract")
        )
        evidence = Evidence(report(workloads=(own, outside), findings=findings))

        assert (evidence.passed_workloads, len(evidence.deciding_runs)) == (1, 1)
        assert "10\u2079" not in evidence.task_health
        assert ["got nan" in (row.counter_example or "") for row in evidence.findings] == [False, True]
        assert not any(row.is_failing for row in evidence.workloads)


class TestCitation:
    def test_hidden_names_do_not_travel_in_citations(self):
        seen = for_viewer(sample_reports.wrong_result(), sees_hidden=False)

        assert seen.citation("numerics.tail.out") == "numerics.tail.out"
        assert seen.citation("numerics.n1000.out") == "a hidden workload"
        assert seen.citation("worst.n1000-repeat.out.1") == "a hidden workload"

    def test_a_cell_id_is_one_word(self):
        assert cell_id("numerics", 'a b."<c>', "out") == "numerics.a-b-c.out"


class TestTricks:
    def test_nothing_is_cleared_that_was_not_looked_at(self):
        off = report(stages=sample_reports.stages(integrity=StageStatus.NOT_MEASURED))

        assert {trick.state for trick in Evidence(off).tricks} == {"unknown"}

    def test_a_static_hit_is_a_hint_and_no_accusation(self):
        states = {t.kind.code: t.state for t in Evidence(sample_reports.wrong_result()).tricks}

        assert states["integrity.output_cache"] == "hint"
        assert states["integrity.uninitialised_output"] == "seen"


class TestStage:
    def test_a_stage_that_is_not_in_the_report_was_not_measured(self):
        assert Evidence(report(stages=())).stage(StageName.SANITIZE).status is StageStatus.NOT_MEASURED


def test_ids_on_a_page_are_unique(full_house):
    from tests import factories

    with full_house.database.write() as session:
        made = report(workloads=(*families("square"), *families("tail")))
        submission, _, _ = factories.make_evaluated(
            session, full_house.settings, report=made, author=full_house.viewers["sue"]
        )
        paths = [f"/submissions/{submission.public_id}", f"/submissions/{full_house.submissions['wrong_result']}"]
    browser = full_house.browser("rob")

    for path in paths:
        ids = re.findall(r'\sid="([^"]+)"', browser.get(path).text)
        assert sorted(ids) == sorted(set(ids)), path
