"""The queue and the review page: claim, draft, refuse with a jump list, submit, and stay blind."""

from __future__ import annotations

import json
import re

FULL = {
    "score.judgeable": "3",
    "score.correct": "0",
    "rationale.correct": "The tail is never written.",
    "evidence.correct": "finding.1",
    "score.robust": "2",
    "score.speed": "cannot_judge",
    "rationale.speed": "not measured",
    "feedback": "Mask the tail.",
    "decision": "revise",
    "confidence": "3",
    "comment.path": "solution.py",
    "comment.line": "15",
    "comment.body": "Here.",
}


def claimed(house, login="rob"):
    """A browser with its first item open, and the path of the review."""
    browser = house.browser(login)
    browser.get("/queue")
    page = browser.post("/queue/next")
    assert page.url.path.startswith("/reviews/rev_"), page.text[:300]
    return browser, page


def test_the_queue_says_why_and_what_with_which_scope(full_house):
    page = full_house.browser("rob").get("/queue").text

    assert page.count("Why this item:") == len(full_house.submissions)
    assert "the judge suspects a trick" in page
    assert "interpreted or emulated on a CPU" in page
    items = page.split('<ol class="queue">')[1]
    assert items.index("Suspect") < items.index("Accepted")


def test_the_first_screen_comes_in_its_order(full_house):
    _, page = claimed(full_house)

    order = ["badge-large", "Not checked:", "Claims", "Task health", "Findings", 'id="source"', 'id="rubric"']
    places = [page.text.index(mark) for mark in order]
    assert places[:1] + sorted(places[1:]) == places or places == sorted(places)


def test_an_honest_empty_queue(house):
    page = house.browser("rob").get("/queue").text

    assert "All done" in page


def test_what_others_hold_is_not_all_done(full_house):
    with full_house.database.write() as session:
        from app.assignments.queue import claim_next

        settings = full_house.settings.model_copy(update={"held_items_max": 100})
        for login in ("rob", "ada", "max"):
            while claim_next(session, settings, full_house.viewers[login]):
                pass

    page = full_house.browser("ria").get("/queue").text

    assert "This is not the end of the queue." in page
    assert "All done" not in page


def test_a_skip_that_needs_a_reason_is_refused_without_one(full_house):
    browser = full_house.browser("rob")
    slot = browser.get("/queue").text.split('action="/queue/slt_')[1].split("/")[0]

    refused = browser.post(f"/queue/slt_{slot}/skip", {"kind": "not_me"})
    taken = browser.post(f"/queue/slt_{slot}/skip", {"kind": "not_me", "reason": "I know the author"})

    assert refused.status_code == 422
    assert taken.url.path == "/queue" and taken.text.count("Why this item:") == len(full_house.submissions) - 1


def test_a_draft_is_kept_and_comes_back(full_house):
    browser, page = claimed(full_house)
    path = page.url.path

    saved = browser.post(f"{path}/draft", {"version": "0", **FULL})
    again = browser.get(path).text

    assert saved.json()["version"] == 1
    for typed in ("The tail is never written.", "finding.1", "Mask the tail.", "Here."):
        assert typed in again, typed
    assert '<input type="radio" name="score.correct" value="0" checked>' in again
    assert 'name="version" value="1"' in again


def test_a_save_on_top_of_an_older_text_shows_both(full_house):
    browser, page = claimed(full_house)
    path = page.url.path
    browser.post(f"{path}/draft", {"version": "0", "feedback": "from one page"})

    other = browser.post(f"{path}/draft", {"version": "0", "feedback": "from another"})

    assert other.status_code == 409
    assert other.json()["conflict"]["feedback"] == "from one page"


def test_an_incomplete_review_is_refused_with_a_list_that_leads_to_each_place(full_house):
    browser, page = claimed(full_house)
    path = page.url.path

    refused = browser.post(f"{path}/submit", {"version": "0", "score.correct": "0", "rationale.robust": "only words"})

    assert refused.status_code == 422
    for place in ("criterion-correct", "criterion-robust", "criterion-speed", "decision", "confidence", "feedback"):
        assert f'href="#{place}"' in refused.text and f'id="{place}"' in refused.text, place
    assert "only words" in refused.text
    assert "only words" in browser.get(path).text


def test_a_complete_review_is_submitted_and_then_read_only(full_house):
    browser, page = claimed(full_house)
    token = page.text.split('name="token" value="')[1].split('"')[0]
    path = page.url.path

    done = browser.post(f"{path}/submit", {"version": "0", "token": token, **FULL})

    assert done.url.path == path
    assert "Review by you" in done.text and "Mask the tail." in done.text and "revise" in done.text
    assert re.findall("<(?:form|textarea|select)[^>]*", done.text.split("<main")[1]) == [
        f'<form class="actions before" method="post" action="{path}/correct"'
    ]


def test_submit_and_next_opens_the_next_item(full_house):
    browser, page = claimed(full_house)
    token = page.text.split('name="token" value="')[1].split('"')[0]

    after = browser.post(f"{page.url.path}/submit", {"version": "0", "token": token, "then": "next", **FULL})

    assert after.url.path.startswith("/reviews/rev_") and after.url.path != page.url.path
    assert 'id="rubric"' in after.text


def test_reviews_are_blind_until_ones_own_is_in(full_house):
    rob, page = claimed(full_house)
    token = page.text.split('name="token" value="')[1].split('"')[0]
    rob.post(f"{page.url.path}/submit", {"version": "0", "token": token, **FULL})
    submission = page.text.split('href="/submissions/sub_')[1].split('"')[0]
    listing = f"/submissions/sub_{submission}/reviews"

    ria, sue, ada = (full_house.browser(login) for login in ("ria", "sue", "ada"))

    assert "The tail is never written." not in ria.get(listing).text
    assert ria.get(page.url.path).status_code == 404
    assert "The tail is never written." not in sue.get(listing).text
    seen = ada.get(listing).text
    assert "The tail is never written." in seen and "Rob" in seen and "Record the decision" in seen


def test_the_author_is_a_pseudonym_to_reviewers(full_house):
    browser, page = claimed(full_house)

    for text in (page.text, browser.get("/submissions").text, browser.get("/queue").text):
        assert "Sue" not in text
    assert full_house.viewers["sue"].pseudonym in page.text


def test_suggestions_never_fill_a_score(full_house):
    _, page = claimed(full_house)

    rubric = page.text.split('id="rubric"')[1]
    assert " checked" not in rubric
    assert "benchmark was not measured" in rubric and 'data-propose="speed"' in rubric


def test_the_heartbeat_extends_and_a_wrong_token_does_not(full_house):
    browser, page = claimed(full_house)
    address = page.text.split('data-heartbeat="')[1].split('"')[0]
    token = page.text.split('name="token" value="')[1].split('"')[0]

    assert "lease_until" in json.loads(browser.post(address, {"token": token}).text)
    assert browser.post(address, {"token": "wrong"}).status_code == 410
