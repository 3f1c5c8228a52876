"""The overall feedback on its page: assembled, looked over, previewed as the author reads it, and handed in."""

from __future__ import annotations

import re

import pytest

from tests.pages.test_reviewing import FULL

SAID = FULL | {"comment.criterion": "correct"}


@pytest.fixture
def draft(full_house):
    """A browser on the draft of a submission with a wrong result, and the draft's path."""
    browser = full_house.browser("rob")
    for _ in full_house.submissions:
        page = browser.post("/queue/next")
        if "numerics.wrong" in page.text:
            return browser, page.url.path
        token = re.search(r'name="token" value="([^"]*)"', page.text).group(1)
        slot = re.search(r"/queue/(slt_\w+)/heartbeat", page.text).group(1)
        browser.post(f"/queue/{slot}/skip", {"token": token, "kind": "later"})
    raise AssertionError("no submission with a wrong result")


def version_of(page):
    return re.search(r'name="version" value="(\d+)"', page.text).group(1)


def test_without_scripts_it_is_put_together_and_kept(draft):
    browser, path = draft
    page = browser.post(f"{path}/assemble", SAID | {"feedback": "Dear author,", "version": "0"})
    box = page.text.split('id="feedback-text"')[1].split("</textarea>")[0]
    assert "Dear author," in box and "# Is it right?" in box and "The tail is never written." in box
    assert "`solution.py:15`: Here." in box and version_of(page) == "1"
    assert box in browser.get(path).text


def test_a_script_gets_the_text_alone_and_nothing_is_kept(draft):
    browser, path = draft
    answer = browser.post(
        f"{path}/assemble", SAID | {"feedback": "", "version": "0"}, headers={"Accept": "application/json"}
    )
    assert "The tail is never written." in answer.json()["feedback"]
    assert version_of(browser.get(path)) == "0"


def test_the_preview_is_what_the_author_reads(draft):
    browser, path = draft
    text = browser.post(f"{path}/preview", SAID | {"feedback": "Off by {{max_ulp}} ULP, {{speedup}}, {{oops}}."}).text
    assert "<html" not in text and "{{max_ulp}}" not in text
    assert "Off by 4.19" in text and "not measured" in text
    assert "solution.py:15" in text and "Revise" in text.replace("revise", "Revise")
    assert "stands for nothing" in text and "{{oops}}" in text


def test_hints_have_places_and_keep_nobody(draft):
    browser, path = draft
    typed = SAID | {"comment.criterion": "", "evidence.correct": "", "feedback": "# What to do next\n"}
    text = browser.post(f"{path}/hints", typed).text
    assert 'href="#criterion-correct"' in text and 'href="#feedback"' in text
    assert "nothing keeps you from submitting" in text
    assert browser.post(f"{path}/hints", SAID | {"feedback": "Use a mask."}).text.strip() == ""


def test_a_name_that_stands_for_nothing_is_refused_with_the_list(draft):
    browser, path = draft
    page = browser.post(f"{path}/submit", SAID | {"feedback": "Off by {{max_upl}}."})
    assert page.status_code == 422
    assert "{{max_upl}} stands for nothing; there are verdict, task, finding" in page.text


def test_nobody_else_assembles_or_previews(draft, full_house):
    _, path = draft
    for step in ("assemble", "preview", "hints"):
        assert full_house.browser("ria").post(f"{path}/{step}", SAID).status_code == 404


def test_what_is_handed_in_has_the_figures(draft):
    browser, path = draft
    page = browser.post(f"{path}/submit", SAID | {"feedback": "Off by {{max_ulp}} ULP: mask the tail."})
    assert page.url.path == path, page.text[:300]
    assert "Off by 4.19" in page.text and "{{" not in page.text
