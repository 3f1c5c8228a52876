"""The overall feedback: put together from the reviewer's own words, with figures for variables, and looked over."""

from __future__ import annotations

import dataclasses

import pytest

from app.domain.report import Finding, OutputResult, Severity, StageName
from app.domain.task import KINDS
from app.evaluations import panels
from app.kit.prose import prose
from app.reviews import feedback, variables
from app.reviews.hints import hints
from app.rubrics import content as rubrics
from app.rubrics import service
from tests.pages import sample_reports

RUBRICS = {path.stem: rubrics.read_yaml(path.read_text()) for path in service.DATA.glob("*.yaml")}
COMMENT = {"path": "solution.py", "line": 12, "end_line": 14, "body": "Mask the tail.", "criterion": "correct"}


def evidence():
    return panels.for_viewer(sample_reports.wrong_result(), sees_hidden=False)


def known(report=None):
    return (report or sample_reports.wrong_result()).for_submitter()


def draft(**given):
    scores = {"correct": {"level": 0, "rationale": "The tail is wrong.", "evidence": ["numerics.tail.out"]}}
    return {"scores": scores, "comments": [COMMENT], "feedback": "", "decision": "revise"} | given


class TestAssembling:
    def test_every_kind_of_task_has_headings_and_every_criterion_a_place(self):
        for kind in KINDS:
            homes = feedback.skeletons()[kind]
            rubric = next(r for r in RUBRICS.values() if kind in r.kinds)
            named = [key for keys in homes.values() for key in keys]
            known = {criterion.key for criterion in rubric.criteria}
            assert set(named) | {"judgeable"} == known and len(named) == len(set(named)), kind

    def test_of_a_task_design_too(self):
        named = {key for keys in feedback.skeletons()["task_version"].values() for key in keys}
        assert named == {criterion.key for criterion in RUBRICS["task-design"].criteria}

    def test_a_reason_a_citation_and_a_comment_come_under_their_heading(self):
        text = feedback.assembled("generation", RUBRICS["generation"].criteria, draft())
        right, rest = text.split("# What to do next")
        assert right.startswith("# Is it right?\n\n- **Correct** (0 of 3: ")
        assert "The tail is wrong. (evidence: `numerics.tail.out`)" in right
        assert "\n  - `solution.py:12-14`: Mask the tail." in right and not rest.strip()

    def test_a_high_score_without_a_word_says_nothing_and_a_low_one_its_descriptor(self):
        scores = {"correct": {"level": 3}, "robust": {"level": 1}}
        text = feedback.assembled("generation", RUBRICS["generation"].criteria, draft(scores=scores, comments=[]))
        assert "**Correct**" not in text and "**Robust** (1 of 3: " in text

    def test_comments_on_nothing_in_particular_come_last(self):
        loose = COMMENT | {"criterion": None}
        text = feedback.assembled("generation", RUBRICS["generation"].criteria, draft(scores={}, comments=[loose]))
        assert text.startswith("# At lines\n\n- `solution.py:12-14`: Mask the tail.")

    def test_nothing_said_is_nothing_assembled(self):
        assert feedback.assembled("generation", RUBRICS["generation"].criteria, {}) == ""

    def test_what_was_typed_stays_and_nothing_is_said_twice(self):
        text = feedback.assembled("generation", RUBRICS["generation"].criteria, draft())
        once = feedback.appended("Dear author,", text)
        assert once.startswith("Dear author,\n\n# ") and feedback.appended(once, text) == once

    def test_names_of_hidden_workloads_stay_hidden(self):
        scores = {"correct": {"level": 0, "rationale": "Wrong.", "evidence": ["numerics.n1000.out"]}}
        said = feedback.assembled(
            "generation", RUBRICS["generation"].criteria, draft(scores=scores), evidence().citation
        )
        assert "n1000" not in said and "a hidden workload" in said


class TestVariables:
    def test_figures_of_the_worst_output_that_the_author_may_know(self):
        said = variables.filled("{{max_ulp}} ULP at {{ worst_index }} of {{output}} on {{workload}}", known())
        assert said == "4.19\u2009\u00d7\u200910\u2076 ULP at [0, 96] of `out` on `tail`"

    def test_what_was_not_measured_says_so(self):
        assert variables.filled("{{speedup}}", known()) == variables.NOT_MEASURED
        assert variables.filled("{{max_ulp}}", None) == variables.NOT_MEASURED

    def test_an_unknown_name_stays_and_is_told(self):
        text = "{{max_upl}} and {{verdict}}"
        assert variables.unknown([text]) == ["max_upl"]
        assert variables.filled(text, known()) == "{{max_upl}} and wrong result"

    def test_hostile_names_are_code_and_no_markdown(self):
        said = variables.filled("{{output}}", known(sample_reports.hostile()))
        assert said.startswith("`") and said.count("`") == 2

    def test_a_name_of_several_lines_stays_one_piece_of_code(self):
        task = dataclasses.replace(known().task, name="a\n\n# Accepted\n\nwell done")
        said = variables.filled("On {{task}}.", dataclasses.replace(known(), task=task))
        assert prose(said) == "<p>On <code>a # Accepted well done</code>.</p>\n"

    def test_an_output_that_was_never_compared_has_no_error(self):
        bare = OutputResult("out", (8, 99), "float32", False, "shape", 800)
        other = sample_reports.report(workloads=(sample_reports.workload("tail", outputs=(bare,)),))
        said = variables.filled("{{output}}: {{max_ulp}}, {{mismatched}}", known(other))
        assert said == "`out`: not measured, not measured"

    def test_a_wrong_element_is_one_that_is_wrong(self):
        said = variables.filled("{{wrong_element}}", known())
        assert said == "`out[0, 96]` on `tail` is 0 where 0.01130 is right"
        assert variables.filled("{{wrong_element}}", known(sample_reports.accepted())) == "no wrong element"

    def test_that_nothing_was_found_reaches_as_far_as_what_was_measured(self):
        accepted = sample_reports.accepted()
        assert variables.filled("{{finding}}", known(accepted)) == "no error or warning in what was measured"

    def test_the_line_is_of_the_gravest_finding_as_in_the_questions(self):
        wrong = known()
        turned = dataclasses.replace(wrong, findings=tuple(reversed(wrong.findings)))
        assert variables.filled("{{line}}", turned) == variables.filled("{{line}}", wrong) == "`solution.py:15`"

    def test_names_of_things_keep_their_capitals_in_a_sentence(self):
        found = Finding("numerics.nan_mismatch", Severity.ERROR, StageName.CORRECTNESS, "words")
        said = variables.filled("{{finding}}", dataclasses.replace(known(), findings=(found,)))
        assert said == "NaN where a number belongs, or the reverse"

    def test_braces_of_a_program_are_left_alone(self):
        assert variables.unknown(["`int a[1][1] = {{0}};`"]) == []

    def test_what_is_inserted_has_a_gap_where_nothing_is_known(self):
        said = variables.inserted("{{max_ulp}} ULP, {{speedup}}, {{oops}}", known())
        assert said == "4.19\u2009\u00d7\u200910\u2076 ULP, [speedup: not known here], [oops: no such name]"
        assert variables.gaps(said) == ["speedup", "oops"]
        assert variables.gaps("[speedup: 2] [see: not known]") == []

    @pytest.mark.parametrize("variable", variables.VARIABLES, ids=lambda v: v.name)
    def test_every_variable_has_a_value_or_none_for_every_report(self, variable):
        for make in sample_reports.ALL.values():
            assert isinstance(variable.of(known(make())), str)


class TestHints:
    TITLES = {"correct": "Correct"}  # noqa: RUF012

    def said(self, earlier=(), **given):
        return [hint.says for hint in hints(draft(**given), self.TITLES, earlier)]

    def test_a_draft_that_says_where_and_what_gets_none(self):
        assert self.said(feedback="Mask the tail: use the row's length.") == []

    def test_a_low_score_without_a_place(self):
        bare = {"correct": {"level": 0, "rationale": "Wrong."}}
        [hint] = hints(draft(scores=bare, comments=[]), self.TITLES)
        assert hint.place == "criterion-correct" and "no comment shows where" in hint.says

    @pytest.mark.parametrize(
        ("comment", "count"),
        [
            ({"path": None, "line": None, "body": "Slow."}, 1),
            ({"path": None, "line": None, "body": "Slow.", "evidence": ["benchmark.1"]}, 0),
            ({"body": "This is wrong.", "severity": "must_change"}, 1),
            ({"body": "Use a mask here.", "severity": "must_change"}, 0),
            ({"path": None, "line": None, "body": "Lovely.", "severity": "praise"}, 0),
        ],
    )
    def test_a_comment_about_nothing_or_without_a_deed(self, comment, count):
        found = hints(draft(comments=[COMMENT, COMMENT | {"end_line": None} | comment]), self.TITLES)
        assert [hint.place for hint in found] == ["comment-2"] * count

    def test_a_heading_without_a_word(self):
        assert any("What to do next" in says for says in self.said(feedback="# What to do next\n"))

    def test_a_revision_asked_for_without_a_next_step(self):
        assert any("what the author should do next" in says for says in self.said(feedback="Not good."))
        assert self.said(feedback="Not good.", decision="accept") == []

    def test_the_same_words_as_last_time(self):
        text = "Mask the tail of the row before the store, and run the odd sizes again before you send it."
        assert any("the same as feedback that you gave before" in says for says in self.said([text], feedback=text))
        assert self.said(["Use one pass for the maximum and the sum."], feedback=text) == []
