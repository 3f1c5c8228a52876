"""A reviewer's words are never lost: not to a broken connection, not to a second page, not to a reload."""

from __future__ import annotations

import pytest

from tests.journeys.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STATE = "#save-state"
# Not by its words: "Not saved" has them too.
SAVED = f"{STATE}[data-state=saved]"


def test_the_save_state_tells_the_truth_and_nothing_is_lost(review):
    box = "#rationale-robust"
    review.fill(box, "saved at once")
    review.wait_for_selector(SAVED)

    review.route("**/draft", lambda route: route.abort())
    review.fill(box, "typed while the connection was gone")
    review.wait_for_selector(f"{STATE}:has-text('Not saved: no connection')")
    review.on("dialog", lambda dialog: dialog.accept())
    review.reload()

    assert review.input_value(box) == "saved at once"
    review.unroute("**/draft")
    review.click("text=Restore it")
    assert review.input_value(box) == "typed while the connection was gone"
    review.wait_for_selector(SAVED)
    review.reload()
    assert review.input_value(box) == "typed while the connection was gone"

    other = review.context.new_page()
    other.goto(review.url)
    other.fill(box, "from the other page")
    other.wait_for_selector(SAVED)
    review.fill(box, "from this page")
    review.wait_for_selector(f"{STATE}:has-text('changed in another page')")
    assert "from the other page" in review.inner_text("#conflict")
    assert review.input_value(box) == "from this page"
    review.click("text=Keep mine")
    review.wait_for_selector(SAVED)
    other.reload()
    assert other.input_value(box) == "from this page"


def test_of_two_pages_one_field_is_taken_from_the_other_and_nothing_is_saved_meanwhile(review):
    other = review.context.new_page()
    other.goto(review.url)
    other.fill("#rationale-robust", "robust, from the other page")
    other.fill("#feedback-text", "feedback, from the other page")
    other.wait_for_selector(SAVED)
    review.fill("#rationale-robust", "robust, from this page")
    review.fill("#feedback-text", "feedback, from this page")
    review.wait_for_selector("#conflict .differs >> nth=1")
    assert [title.lower() for title in review.locator("#conflict h3").all_inner_texts()][1] == "overall feedback"

    review.click("#conflict .differs:has-text('Overall feedback') button")
    review.wait_for_selector(f"{STATE}[data-state=conflict]")
    assert review.input_value("#feedback-text") == "feedback, from the other page"
    assert review.input_value("#rationale-robust") == "robust, from this page"
    assert review.locator("#conflict .differs").count() == 1
    review.fill("#rationale-robust", "robust, from this page, typed on")
    review.wait_for_selector("#conflict .differs:has-text('from this page, typed on')")
    other.reload()
    assert other.input_value("#rationale-robust") == "robust, from the other page"

    review.click("text=Keep mine")
    review.wait_for_selector(SAVED)
    other.reload()
    assert other.input_value("#rationale-robust") == "robust, from this page, typed on"
    assert other.input_value("#feedback-text") == "feedback, from the other page"


def test_without_scripts_the_other_text_is_seen_and_taken_too(review, signed_in):
    plain = signed_in("rob", java_script_enabled=False)
    plain.goto(review.url)
    review.fill("#feedback-text", "from the page with scripts")
    review.wait_for_selector(SAVED)
    plain.fill("#feedback-text", "from the plain page")
    plain.locator("button[formaction$='/draft']").first.click()
    assert "from the page with scripts" in plain.inner_text("#conflict")

    plain.click("#conflict .differs:has-text('Overall feedback') button")
    assert plain.input_value("#feedback-text") == "from the page with scripts"


def test_an_expired_sign_in_keeps_the_text_and_sends_it_again(review):
    """Complaints 19 to 21 (Appraise#39, hypothesis#2078): scores and text were gone after a forced sign-in."""
    box = "#rationale-code"
    kept = [cookie for cookie in review.context.cookies() if cookie["name"] == "workbench_visitor"]
    review.context.clear_cookies()
    review.context.add_cookies(kept)
    review.fill(box, "typed after the sign-in had expired")
    review.wait_for_selector(f"{STATE}:has-text('Not saved: you are signed out')")
    assert review.input_value(box) == "typed after the sign-in had expired"

    other = review.context.new_page()
    other.goto(review.url)
    other.fill("#login", "rob")
    other.fill("#password", PASSWORD)
    other.press("#password", "Enter")
    other.wait_for_selector("#rubric, main h1")

    review.wait_for_selector(SAVED, timeout=20_000)
    other.goto(review.url)
    assert other.input_value(box) == "typed after the sign-in had expired"
