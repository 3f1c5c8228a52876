"""Complaint 46 (RunestoneServer#1013, nbgrader#255): grading again by machine wiped what people had written."""

from __future__ import annotations

from app.domain.report import Verdict
from app.evaluations import service as evaluations
from app.kit import strict_json
from app.models import Review
from app.reviews import queries
from app.submissions import queries as submission_queries
from tests import factories
from tests.pages.test_reviewing import FULL, claimed


def evaluated_again(house, review_id):
    with house.database.write() as session:
        review = queries.find(session, review_id)
        submission = submission_queries.find(session, review.subject.submission.public_id)
        evaluations.request_evaluation(
            session, submission.id, requested_by_id=house.viewers["max"].id, reason="task version"
        )
        return factories.evaluate(
            session, house.settings, submission, factories.make_report(Verdict.ACCEPTED)
        ).public_id


def answers(house, review_id):
    with house.database.read() as session:
        review = queries.find(session, review_id)
        said = {name: getattr(review, name) for name in ("scores", "comments", "feedback", "decision")}
        return strict_json.dump({**said, "draft": queries.draft_of(session, review).content})


def test_evidence_run_again_leaves_human_answers_byte_for_byte_and_says_so(full_house):
    browser, page = claimed(full_house)
    review_id = page.url.path.rpartition("/")[2]
    browser.post(f"{page.url.path}/draft", {"version": "0", **FULL})
    before = answers(full_house, review_id)
    assert "The evidence has changed" not in browser.get(page.url.path).text

    newer = evaluated_again(full_house, review_id)
    shown = browser.get(page.url.path).text

    assert "The evidence has changed since you opened this" in shown
    assert answers(full_house, review_id) == before
    taken = browser.post(f"{page.url.path}/evidence", {"version": "1", **FULL}, headers={"Accept": "text/html"})
    assert "The evidence has changed" not in taken.text
    assert answers(full_house, review_id) == before
    with full_house.database.read() as session:
        assert queries.find(session, review_id).evaluation.public_id == newer


def test_a_submitted_review_keeps_what_it_was_written_from(full_house):
    browser, page = claimed(full_house)
    review_id = page.url.path.rpartition("/")[2]
    browser.post(f"{page.url.path}/submit", {"version": "0", **FULL})
    with full_house.database.read() as session:
        pinned = queries.find(session, review_id).evaluation_id
    before = answers(full_house, review_id)

    evaluated_again(full_house, review_id)

    assert browser.post(f"{page.url.path}/evidence", {"version": "0"}).status_code == 404
    assert answers(full_house, review_id) == before
    with full_house.database.read() as session:
        assert session.query(Review).filter_by(public_id=review_id).one().evaluation_id == pinned
