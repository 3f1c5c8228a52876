"""Contested findings: the adjudicators' list, both runs of one side by side, and how it is settled."""

from __future__ import annotations

import dataclasses

import pytest

from app.domain.report import Verdict
from app.evaluations import precision
from app.models import Contest
from app.reviews import contests, queries, service
from tests.journeys.sample_house import claimed_review
from tests.pages import sample_reports

CODE = "numerics.wrong_values"


@pytest.fixture
def contest_id(full_house) -> str:
    """The public id of a contest by rob whose second run waits for a worker."""
    with full_house.database.write() as session:
        draft = claimed_review(session, full_house, full_house.viewers["rob"], full_house.submissions["wrong_result"])
        reason = "The mask is there, look at line 15. <b>x</b>"
        return service.contest_finding(session, full_house.viewers["rob"], draft, code=CODE, reason=reason).public_id


def run_again(house, contest_id, report):
    """A worker runs what was asked for."""
    from app.evaluations import service as evaluations

    with house.database.write() as session:
        rerun = queries.find_contest(session, house.viewers["ada"], contest_id).rerun
        attempt = evaluations.claim(session, house.settings, rerun.public_id, "test-worker")
        evaluations.record(session, house.settings, attempt, report)


def test_it_waits_in_the_list_with_its_reason_and_what_the_second_run_says(full_house, contest_id):
    ada = full_house.browser("ada")
    page = ada.get("/contests").text
    assert CODE in page and "look at line 15. &lt;b&gt;" in page and "still running again" in page
    run_again(full_house, contest_id, sample_reports.wrong_result())
    assert "the same finding again" in ada.get("/contests").text


@pytest.mark.parametrize(
    ("report", "says"),
    [
        (sample_reports.accepted(), "the finding is gone, and the verdict is accepted"),
        (dataclasses.replace(sample_reports.wrong_result(), findings=()), "the finding is gone"),
        (dataclasses.replace(sample_reports.wrong_result(), verdict=Verdict.SUSPECT),
         "the same finding again, and the verdict is suspect"),
    ],
)  # fmt: skip
def test_what_became_of_it_is_said(full_house, contest_id, report, says):
    run_again(full_house, contest_id, report)
    with full_house.database.read() as session:
        assert contests.again(queries.find_contest(session, full_house.viewers["ada"], contest_id)) == says


def test_settling_needs_a_word_and_its_reviewer_reads_it(full_house, contest_id):
    ada = full_house.browser("ada")
    refused = ada.post(f"/contests/{contest_id}", {"upheld": "true", "because": " "})
    assert refused.status_code == 422 and "say why you settle it so" in refused.text
    ada.post(f"/contests/{contest_id}", {"upheld": "true", "because": "Line 15 masks the tail."})
    assert "Nothing is contested" in ada.get("/contests").text
    settled = ada.get("/contests?state=settled").text
    assert "the finding was false" in settled and "found false 1" in settled
    with full_house.database.read() as session:
        review = queries.find_contest(session, full_house.viewers["ada"], contest_id).review
        path = f"/reviews/{review.public_id}"
    assert "Line 15 masks the tail." in full_house.browser("rob").get(path).text


def test_nobody_settles_twice_or_what_they_contested(full_house, contest_id):
    ada, rob = full_house.browser("ada"), full_house.browser("rob")
    assert rob.get(f"/contests/{contest_id}").status_code == 403
    ada.post(f"/contests/{contest_id}", {"upheld": "false", "because": "It is wrong."})
    again = ada.post(f"/contests/{contest_id}", {"upheld": "true", "because": "Or not."})
    assert again.status_code == 409
    assert "the finding stands" in ada.get(f"/contests/{contest_id}").text


def test_both_runs_stand_side_by_side(full_house, contest_id):
    run_again(full_house, contest_id, sample_reports.wrong_result())
    page = full_house.browser("ada").get(f"/contests/{contest_id}").text
    assert page.count("Wrong values") >= 2 and "As contested" in page and "Run again" in page


def test_the_list_goes_on_by_cursor_and_filters_by_finding(full_house, contest_id):
    with full_house.database.write() as session:
        first = queries.find_contest(session, full_house.viewers["ada"], contest_id)
        session.add_all(
            Contest(evaluation_id=first.evaluation_id, review_id=first.review_id, raised_by_id=first.raised_by_id,
                    finding_code="verdict", reason=f"again {n}")
            for n in range(60)
        )  # fmt: skip
    ada = full_house.browser("ada")
    page = ada.get("/contests").text
    assert "Older ones" in page and CODE not in page.split("<table")[1]
    assert ada.get(f"/contests?code={CODE}").text.count("/contests/cts_") == 1
    cursor = page.split("cursor=")[1].split('"')[0]
    assert CODE in ada.get(f"/contests?state=open&cursor={cursor}").text.split("<table")[1]


def test_the_record_of_a_rule_stands_beside_its_findings(full_house, contest_id):
    run_again(full_house, contest_id, sample_reports.wrong_result())
    with full_house.database.write() as session:
        contest = queries.find_contest(session, full_house.viewers["ada"], contest_id)
        service.settle_contest(session, full_house.viewers["ada"], contest, upheld=True, because="it is there")
        review = contest.review.public_id
    rob = full_house.browser("rob")
    for path in (f"/reviews/{review}", f"/submissions/{full_house.submissions['wrong_result']}", "/catalogue"):
        assert "contested and settled 1 time, found false 1: not enough to say" in rob.get(path).text, path


def test_few_contests_say_nothing_of_a_rule():
    assert "not enough to say" in precision.Record(2, 1).said
    assert precision.Record(5, 1).said == "contested and settled 5 times, found false 1"
