"""Complaint 13 (PrairieLearn#3786): two pages edit one draft.  Both texts are read side by side, and none is lost."""

from __future__ import annotations

import re

from tests.pages.test_reviewing import FULL, claimed

HTML = {"Accept": "text/html"}
DESK = {**FULL, "feedback": "From the desk.", "comment.body": "Desk's remark."}
PHONE = {
    **FULL, "feedback": "From the phone.", "score.correct": "2", "rationale.correct": "", "evidence.correct": "",
    "comment.body": "Phone's remark.",
}  # fmt: skip


def at_odds(house):
    """The page that the phone gets when it saves over what the desk has saved."""
    browser, page = claimed(house)
    path = page.url.path
    browser.post(f"{path}/draft", {"version": "0", **DESK})
    return browser, path, browser.post(f"{path}/draft", {"version": "0", **PHONE}, headers=HTML)


def keys(page):
    return re.findall(r'formaction="/reviews/[^/]+/take/([^"]+)"', page.text)


def conflict_of(page):
    return page.text.split("data-conflict")[1].split("</section>")[0] if "data-conflict" in page.text else ""


def test_it_is_read_field_by_field_and_not_as_json(full_house):
    _, _, page = at_odds(full_house)
    shown = conflict_of(page)

    assert page.status_code == 409
    assert keys(page)[0] == "score.correct" and keys(page)[-1] == "feedback" and len(keys(page)) == 3
    for words in ("level 0", "level 2", "The tail is never written.", "Comment on solution.py:15", "Desk&#39;s remark.",
                  "Phone&#39;s remark.", "From the desk.", "From the phone."):  # fmt: skip
        assert words in shown, words
    assert "robust" not in shown and "{" not in shown
    assert 'data-state="conflict">Not saved' in page.text


def test_one_field_is_taken_and_nothing_is_saved_before_one_says_so(full_house):
    browser, path, _ = at_odds(full_house)

    after = browser.post(f"{path}/take/feedback", {"version": "1", **PHONE})

    assert "feedback" not in keys(after) and len(keys(after)) == 2
    assert "From the desk.</textarea>" in after.text and "Phone&#39;s remark.</textarea>" in after.text
    assert "Desk&#39;s remark.</textarea>" in browser.get(path).text

    kept = browser.post(f"{path}/draft", {"version": "1", **PHONE, "feedback": "From the desk."}, headers=HTML)
    assert kept.url.path == path and not conflict_of(kept)
    assert "From the desk.</textarea>" in kept.text and "Phone&#39;s remark.</textarea>" in kept.text


def test_when_all_is_taken_it_is_the_other_text_and_saved(full_house):
    browser, path, _ = at_odds(full_house)
    same = {**DESK, "feedback": "From the phone."}

    after = browser.post(f"{path}/take/feedback", {"version": "1", **same})

    assert after.url.path == path and not conflict_of(after) and 'name="version" value="1"' in after.text


def test_a_submit_does_not_bury_what_another_page_saved(full_house):
    browser, path, _ = at_odds(full_house)

    page = browser.post(f"{path}/submit", {"version": "0", **PHONE})

    assert page.status_code == 409 and "From the desk." in conflict_of(page)
    assert "Review by you" not in browser.get(path).text
    done = browser.post(f"{path}/submit", {"version": "1", **FULL})
    assert "Review by you" in done.text


def test_the_page_that_saves_as_one_types_is_given_the_same_comparison(full_house):
    browser, path, page = at_odds(full_house)

    answer = browser.post(f"{path}/draft", {"version": "0", **PHONE}).json()

    assert answer["version"] == 1 and answer["conflict"]["feedback"] == "From the desk."
    assert keys(type("Page", (), {"text": answer["shown"]})) == keys(page)
    assert "<html" not in answer["shown"]


def test_a_save_sent_again_is_no_conflict_with_itself(full_house):
    browser, page = claimed(full_house)
    path = page.url.path
    browser.post(f"{path}/draft", {"version": "0", **FULL})

    again = browser.post(f"{path}/draft", {"version": "0", **FULL, "active_seconds": "9"})

    assert (again.status_code, again.json()["version"], again.json()["conflict"]) == (200, 1, None)


def test_nobody_takes_into_the_draft_of_another(full_house):
    _, path, _ = at_odds(full_house)
    ria = full_house.browser("ria")
    ria.get("/queue")

    assert ria.post(f"{path}/take/feedback", {"version": "1", **PHONE}).status_code == 404


def test_hostile_words_are_shown_as_words(full_house):
    browser, path, _ = at_odds(full_house)

    page = browser.post(
        f"{path}/draft", {"version": "0", **PHONE, "feedback": "<script>x</script>\x1b[2J"}, headers=HTML
    )

    assert "<script>x" not in conflict_of(page) and "&lt;script&gt;x" in conflict_of(page)
    assert "\x1b" not in conflict_of(page)
