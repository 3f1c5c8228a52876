"""The answers to a reviewer's twelve questions say what the evidence says, and no more."""

from __future__ import annotations

import dataclasses

from app.domain.report import OutputResult, StageStatus
from app.evaluations import panels
from app.reviews.questions import Setting, answers
from app.submissions.differences import Changed
from tests.pages import sample_reports

ALONE = Setting(anchors={"solution.py": "solution-py"}, changes=None, compare="", reviews_in=0, others=())


def asked(report, setting=ALONE):
    evidence = panels.for_viewer(report, sees_hidden=True, citable=False)
    return {answer.question: answer for answer in answers(evidence, setting)}


def test_the_worst_element_is_of_a_failing_output_though_another_is_further_off():
    far = sample_reports.workload("square", outputs=(sample_reports.output(max_ulp=1e9, worst=_worst(1e9)),))
    wrong = sample_reports.wrong_result()
    found = asked(dataclasses.replace(wrong, workloads=(far, *wrong.workloads)))["Which element is worst?"]
    assert " on tail: " in found.says and found.says.endswith("outside what is allowed")
    assert found.place == "#numerics.tail.out"


def test_what_was_not_measured_is_said_with_its_reason():
    found = asked(sample_reports.compile_error())
    assert found["Faster than which baseline?"].says.startswith("not measured")
    assert found["Which element is worst?"].says.startswith("not measured")
    assert found["Do tails and odd sizes work?"].says.startswith("not tried")


def test_that_nothing_was_found_reaches_as_far_as_what_was_measured():
    said = asked(sample_reports.accepted())["What do I tell the author?"].says
    assert said.startswith("no error and no warning in what was measured (benchmark, profile not)")


def test_an_output_of_another_shape_has_no_worst_element_and_no_sign_of_its_precision():
    bare = OutputResult("out", (8, 99), "float32", False, "shape", 800)
    report = dataclasses.replace(
        sample_reports.accepted(), workloads=(sample_reports.workload("tail", StageStatus.FAILED, outputs=(bare,)),)
    )
    found = asked(report)
    assert "has no values to compare" in found["Which element is worst?"].says
    assert "no sign" not in found["In which precision?"].says


def test_a_line_leads_to_the_source():
    assert asked(sample_reports.wrong_result())["At which line?"].place == "#solution-py-L15"
    assert asked(sample_reports.accepted())["At which line?"].says == "no finding names a line"


def test_sizes_that_are_wrong_are_named():
    drawn = sample_reports.workload("square, cols=127", StageStatus.FAILED, family="square, cols=127")
    report = dataclasses.replace(sample_reports.accepted(), workloads=(drawn,))
    assert asked(report)["Do tails and odd sizes work?"].says == "wrong or not judged on square, cols=127"


def test_others_are_counted_and_named_only_when_they_may_be():
    waiting = asked(sample_reports.accepted(), dataclasses.replace(ALONE, reviews_in=2))
    assert waiting["Who else reviewed it?"].says == "2 reviews are in, and hidden until yours is"
    seen = asked(sample_reports.accepted(), dataclasses.replace(ALONE, reviews_in=2, others=("Reviewer 1",)))
    assert seen["Who else reviewed it?"].says == "Reviewer 1"


def test_changes_are_counted_by_file():
    setting = dataclasses.replace(ALONE, changes=[Changed("solution.py", 3, 1)])
    found = asked(sample_reports.accepted(), setting)["What changed since the last revision?"]
    assert found.says == "solution.py +3 \N{MINUS SIGN}1"
    assert (
        asked(sample_reports.accepted())["What changed since the last revision?"].says == "this is the first revision"
    )


def _worst(ulp):
    return (sample_reports.WorstElement((0, 0), 1.0, 2.0, ulp),)
