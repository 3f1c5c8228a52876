"""The product's one sentence, in a browser: a kernel goes in, evidence comes out, a person scores it, data leaves."""

from __future__ import annotations

import json
import re

import pytest

from tests.pages.sample_reports import SOURCE

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FEEDBACK = "The tail of each row is never written: mask the last block."


def test_upload_watch_review_by_keyboard_and_export(signed_in):
    submitter = signed_in("sue")
    seen = submit_and_watch(submitter)
    assert seen >= {"running", "done"}
    assert "hidden-1" in submitter.inner_text("#live") and "n1000" not in submitter.inner_text("#live")

    reviewer = signed_in("rob")
    review_id = review_by_keyboard(reviewer)

    row = export(signed_in("ada"))
    assert row["review"]["id"] == review_id
    assert row["review"]["feedback"] == FEEDBACK
    assert row["review"]["decision"] == "revise"
    assert row["review"]["scores"]["correct"]["evidence"] == ["stage.correctness"]
    assert row["evaluation"]["verdict"] == "wrong_result"
    assert row["submission"]["files"][0]["text"] == SOURCE


def test_without_scripts_pages_can_be_read_and_forms_sent(signed_in):
    page = signed_in("sue", java_script_enabled=False)

    for address, words in (
        ("/submissions", "Verdict"),
        ("/tasks/row-softmax", "Softmax over each row."),
        ("/catalogue", "Wrong values"),
    ):
        page.goto(address)
        assert words in page.inner_text("main")
    page.goto("/submissions/new")
    page.select_option("#task", "row-softmax")
    page.fill("#source", SOURCE + "# sent without scripts\n")
    page.click("main form button.primary")

    assert "Stages" in page.content() and "sub_" in page.url


def submit_and_watch(page) -> set[str]:
    """Send a kernel and stay on its page until the report is there; the states seen on the way."""
    page.goto("/submissions/new")
    page.select_option("#task", "row-softmax")
    page.set_input_files("#files", {"name": "solution.py", "mimeType": "text/x-python", "buffer": SOURCE.encode()})
    page.fill("#title", "floor grid")
    page.click("main form button.primary")
    page.wait_for_url(re.compile("/submissions/sub_"))
    seen: set[str] = set()
    page.wait_for_selector("#live .stage:has-text('running')", timeout=30_000)
    seen.add("running")
    page.wait_for_selector("#live [data-live=no]", state="attached", timeout=60_000)
    assert "Wrong result" in page.inner_text("#live")
    return seen | {"done"}


def review_by_keyboard(page) -> str:
    """From the queue to the next item without the pointer; the id of the review."""
    page.goto("/queue")
    page.get_by_role("button", name="Claim Row softmax").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/reviews/rev_"))
    review_id = page.url.rpartition("/")[2]
    for key in page.eval_on_selector_all("fieldset.criterion[data-key]", "all => all.map(one => one.dataset.key)"):
        score(page, key)
        page.keyboard.press("j")
    for press in ("j", "c"):
        page.keyboard.press(press)
    assert page.evaluate("document.activeElement.id") == "feedback-text"
    page.keyboard.type(FEEDBACK)
    for press in ("Escape", "j", "3", "j", "3"):
        page.keyboard.press(press)
    page.wait_for_selector("#save-state:has-text('Saved')")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile("/queue$"))
    assert "All done" in page.inner_text("main")
    return review_id


def score(page, key: str) -> None:
    """Score the criterion at hand by keys, as its caps, gates and proposals ask."""
    here = page.locator(f"#criterion-{key}")
    assert "current" in here.get_attribute("class"), key
    if here.locator("[data-propose]").count():
        page.keyboard.press("0")
    elif key == "correct":
        for press in ("1", "]", "e", "c"):
            page.keyboard.press(press)
        page.keyboard.press("End")
        page.keyboard.type("the tail is never written")
        page.keyboard.press("Escape")
    else:
        page.keyboard.press("4" if key == "judgeable" else "3")
        if "Capped" in here.inner_text():
            for press in ("c", "Tab"):
                page.keyboard.press(press)
            assert page.evaluate("document.activeElement.name") == f"false.{key}"
            page.keyboard.type("1 2 3 4 j k: typing fires no key")
            page.keyboard.press("Escape")
    assert here.locator("input:checked").count() == 1, key


def export(page) -> dict:
    """Ask for an export on its page and read its one row."""
    page.goto("/exports")
    page.click("text=Make the export")
    link = page.wait_for_selector("a[download]", timeout=30_000)
    answer = page.request.get(link.get_attribute("href"))
    assert answer.ok
    lines = answer.text().splitlines()
    assert len(lines) == 1
    return json.loads(lines[0])
