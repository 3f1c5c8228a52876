"""Complaints 28 and 38 on the pages: one corrects what one submitted, and everybody who may reads both revisions."""

from __future__ import annotations

import pytest

from app.assignments import service as assignments
from app.domain.review import Decision
from app.models import Review, TaskVersion
from app.reviews import queries, service
from app.submissions import queries as submission_queries
from tests import factories
from tests.pages.test_newer_evidence import evaluated_again
from tests.pages.test_reviewing import FULL, claimed
from tests.pages.test_task_designs import answers, designed, opened

__all__ = ["designed"]

REASON = "I had misread the mask."
REDONE = {
    **FULL,
    "score.correct": "2",
    "rationale.correct": "",
    "evidence.correct": "",
    "decision": "accept_with_notes",
}
HTML = {"Accept": "text/html"}


@pytest.fixture
def submitted(full_house):
    """A browser whose one review is in, and where that is."""
    return full_house, *submitted_by(full_house, "rob")


def submitted_by(house, login):
    browser, page = claimed(house, login)
    done = browser.post(f"{page.url.path}/submit", {"version": "0", **FULL})
    assert done.url.path == page.url.path and "Correct this review" in done.text
    return browser, page.url.path


def corrected(browser, path, **fields):
    draft = browser.post(f"{path}/correct")
    return browser.post(f"{draft.url.path}/submit", {"version": "0", **REDONE, "what_changed": REASON, **fields})


def test_it_starts_with_all_that_was_said_and_holds_no_place_in_the_queue(submitted):
    _, browser, path = submitted
    draft = browser.post(f"{path}/correct")

    assert draft.url.path != path and "You correct your review." in draft.text
    for said in ("The tail is never written.</textarea>", "Mask the tail.</textarea>", "Here.</textarea>",
                 'value="revise" checked', 'name="confidence" value="3" checked', 'value="finding.1"'):  # fmt: skip
        assert said in draft.text, said
    assert "no longer held" not in draft.text and "yours until" not in draft.text
    assert browser.post(f"{path}/correct").url.path == draft.url.path
    assert "Go on with the correction" in browser.get(path).text


def test_both_revisions_are_read_and_what_differs_side_by_side(submitted):
    _, browser, path = submitted
    after = corrected(browser, path)

    assert after.status_code == 200 and "revision 2, submitted" in after.text and REASON in after.text
    before = browser.get(path).text
    assert "Revision 1, as it was said then." in before and REASON in before and "The tail is never written." in before
    assert "Correct this review" not in before and "Correct this review" in after.text
    differs = browser.get(f"{after.url.path}/changes").text
    for words in (
        "level 0",
        "level 2",
        "revise",
        "accept with notes",
        "The tail is never written.",
        "finding.1",
        REASON,
    ):
        assert words in differs, words
    assert "Overall feedback" not in differs and "Comment on" not in differs
    assert browser.get(f"{path}/changes").status_code == 404


def test_a_refused_one_leads_to_the_line_that_lacks_and_keeps_what_was_typed(submitted):
    _, browser, path = submitted
    refused = corrected(browser, path, what_changed=" ", feedback="Typed and kept.")

    assert refused.status_code == 422 and '<a href="#what_changed">what changed</a>' in refused.text
    assert 'id="what_changed"' in refused.text and "Typed and kept.</textarea>" in refused.text


def test_what_one_has_changed_so_far_is_read_before_submitting(submitted):
    _, browser, path = submitted
    draft = browser.post(f"{path}/correct").url.path
    assert "No answer differs" in browser.get(f"{draft}/changes").text
    browser.post(f"{draft}/draft", {"version": "0", **REDONE, "what_changed": REASON}, headers=HTML)

    differs = browser.get(f"{draft}/changes").text

    assert "accept with notes" in differs and REASON in differs and "not submitted yet" in differs
    assert f'value="{REASON}"' in browser.get(draft).text


def test_it_says_that_the_evidence_has_changed_since(submitted):
    house, browser, path = submitted
    evaluated_again(house, path.rpartition("/")[2])

    draft = browser.post(f"{path}/correct").text

    assert "The evidence has changed since you scored it" in draft and "and is accepted." in draft


def test_a_withdrawn_one_leaves_the_review_as_it_was(submitted):
    _, browser, path = submitted
    was = browser.get(path).text.split("<dl")[1].split("csrf")[0]
    draft = browser.post(f"{path}/correct").url.path
    browser.post(f"{draft}/draft", {"version": "0", **REDONE})

    back = browser.post(f"{draft}/withdraw")
    contested = browser.post(f"{draft}/contest", {"code": "verdict", "reason": "It is wrong."})

    assert back.url.path == path and back.text.split("<dl")[1].split("csrf")[0] == was
    assert browser.get(draft).status_code == 404
    assert contested.status_code == 404, "nobody could read what it comes from"


def test_once_decided_the_page_says_why_not(submitted):
    house, browser, path = submitted
    with house.database.write() as session:
        review = queries.find(session, path.rpartition("/")[2])
        service.decide(
            session, house.viewers["ada"], review.subject_id, decision=Decision.REVISE, confidence=3, reason="So."
        )
    page = browser.get(path).text

    assert "Correct this review" not in page and "An adjudicator decided on" in page.replace("an adj", "An adj")
    assert browser.post(f"{path}/correct").status_code == 409


def test_the_author_reads_the_review_as_it_stands_and_reaches_the_first_one(full_house):
    rob, path = _both_in(full_house, "suspect")
    corrected(rob, path)
    sue = full_house.browser("sue")
    scores = sue.get(f"/submissions/{full_house.submissions['suspect']}/reviews").text

    assert scores.count("Reviewer 1</a>") == 1 and scores.count("Reviewer 2</a>") == 1
    assert "corrected" in scores and "accept with notes" in scores
    with full_house.database.read() as session:
        after = session.query(Review).filter_by(revision=2).one().public_id
    now = sue.get(f"/reviews/{after}").text
    assert REASON in now and f'href="{path}"' in now and "Correct this review" not in now
    assert "The tail is never written." in sue.get(path).text
    assert "level 2" in sue.get(f"/reviews/{after}/changes").text


def test_what_differs_names_no_hidden_workload_to_the_author(full_house):
    rob, path = _both_in(full_house, "wrong_result")
    hidden = "workload.n1000.max_ulp"
    after = corrected(
        rob, path, **{"evidence.correct": hidden, "score.correct": "0", "rationale.correct": "See there."}
    )
    address = f"{after.url.path}/changes"

    assert hidden in rob.get(address).text
    author = full_house.browser("sue").get(address).text
    assert "n1000" not in author and "a hidden workload" in author


def test_what_differs_is_as_blind_as_the_review(submitted):
    house, browser, path = submitted
    after = corrected(browser, path).url.path
    for login in ("ria", "sue"):
        assert house.browser(login).get(f"{after}/changes").status_code == 404
    assert "Rob" in house.browser("ada").get(f"{after}/changes").text


def _both_in(house, name):
    """Two people's reviews of one submission, by hand; the first one's browser and review."""
    browsers = {}
    for login in ("rob", "ria"):
        with house.database.write() as session:
            submission = submission_queries.find(session, house.submissions[name])
            subject = submission_queries.subject_of(session, submission.id)
            free = next(s for s in assignments.queries.slots_of(session, subject.id) if s.state == "open").public_id
        browser = house.browser(login)
        browser.get("/queue")
        path = browser.post(f"/queue/{free}/claim").url.path
        done = browser.post(f"{path}/submit", {"version": "0", **FULL})
        assert "Review by you" in done.text, done.text[:2000]
        browsers[login] = browser, path
    return browsers["rob"]


def test_the_review_of_a_tasks_design_is_corrected_beside_its_record_as_it_is_now(designed):
    browser, page = opened(designed)
    path = page.url.path
    browser.post(f"{path}/submit", answers(version="0"))
    with designed.database.write() as session:
        task = session.query(TaskVersion).one()
        factories.make_evaluated(session, designed.settings, author=designed.viewers["sue"], task=task)

    draft = browser.post(f"{path}/correct")
    assert "evaluations: 1 then, 2 now" in draft.text and "Zeros pass: bind the tail.</textarea>" in draft.text
    after = browser.post(
        f"{draft.url.path}/submit", answers(version="0", decision="reject", what_changed="It is worse.")
    )

    differs = browser.get(f"{after.url.path}/changes").text
    assert "reject" in differs and "It is worse." in differs and "its record (evaluations: 2)" in differs
    health = designed.browser("ada").get("/tasks/row-softmax/reviews").text
    assert health.count(">Rob</a>") == 1 and "corrected" in health
