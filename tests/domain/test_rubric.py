"""Totals, gates, and what a submit lacks."""

import pytest

from app.domain.rubric import CANNOT_JUDGE, NOT_APPLICABLE, Criterion, Rubric, Score, problems, total

LEVELS = {3: "best", 2: "good", 1: "poor", 0: "none"}


def criterion(key, weight=0.0, **overrides):
    return Criterion(key, key.title(), "", weight, LEVELS, **overrides)


BUILD = criterion("build", 20, gate=True, still_asked=("explained",))
JUDGEABLE = Criterion("judgeable", "Judgeable", "", 0, {3: "yes", 0: "no"}, gate=True, evidence_levels=())
CORRECT = criterion("correct", 60, evidence_levels=(0, 1, 3))
EXPLAINED = criterion("explained", 20)
RUBRIC = Rubric("r", "R", (JUDGEABLE, BUILD, CORRECT, EXPLAINED))
YES = {"judgeable": Score(3)}


class TestTotal:
    def test_is_the_weighted_mean_of_what_applies_in_hundredths(self):
        scores = {"build": Score(3), "correct": Score(2), "explained": Score(0)}
        assert total(RUBRIC, scores).points == pytest.approx((20 * 3 + 60 * 2 + 20 * 0) / 100 * 100 / 3)

    @pytest.mark.parametrize("state", [NOT_APPLICABLE, CANNOT_JUDGE])
    def test_what_is_not_scored_weighs_nothing(self, state):
        scores = {"build": Score(3), "correct": Score(None, state, "no device"), "explained": Score(0)}
        assert total(RUBRIC, scores).points == pytest.approx(50)

    def test_a_closed_gate_stands_in_place_of_a_total(self):
        closed = total(RUBRIC, {"build": Score(0), "correct": Score(3)})
        assert (closed.points, closed.gated_by) == (None, "build")

    def test_nothing_scored_is_said_and_is_no_zero(self):
        assert total(RUBRIC, YES).points is None


class TestProblems:
    def test_every_criterion_is_asked(self):
        assert set(problems(RUBRIC, YES)) == {"build", "correct", "explained"}

    def test_a_closed_gate_asks_only_for_what_it_leaves_open(self):
        closed = {**YES, "build": Score(0, rationale="NameError", evidence=("finding.1",))}
        assert set(problems(RUBRIC, closed)) == {"explained"}

    def test_of_two_closed_gates_both_have_to_leave_it_open(self):
        no = Score(0, rationale="the reference raises")
        assert problems(RUBRIC, {"judgeable": no, "build": Score(0, "scored", "NameError", ("finding.1",))}) == {}

    @pytest.mark.parametrize("key", ["build", "correct", "explained"])
    @pytest.mark.parametrize("level", [0, 1])
    def test_a_low_level_needs_rationale_and_evidence_on_gates_too(self, key, level):
        said = Score(level, rationale="because")
        assert "rationale" in problems(RUBRIC, {key: Score(level, evidence=("verdict",))})[key]
        assert "evidence" in problems(RUBRIC, {key: said})[key]
        assert key not in problems(RUBRIC, {key: Score(level, rationale="because", evidence=("verdict",))})

    def test_a_high_level_needs_evidence_where_the_rubric_says_so(self):
        assert "evidence" in problems(RUBRIC, {"correct": Score(3)})["correct"]
        assert "explained" not in problems(RUBRIC, {"explained": Score(3)})

    def test_a_trivial_middle_score_needs_nothing(self):
        assert "correct" not in problems(RUBRIC, {"correct": Score(2)})

    @pytest.mark.parametrize("state", [NOT_APPLICABLE, CANNOT_JUDGE])
    def test_what_is_not_judged_needs_a_reason(self, state):
        assert "correct" in problems(RUBRIC, {"correct": Score(None, state, " ")})
        assert "correct" not in problems(RUBRIC, {"correct": Score(None, state, "no device")})

    def test_a_gate_with_two_levels_has_no_others(self):
        assert "0, 3" in problems(RUBRIC, {"judgeable": Score(2)})["judgeable"]
