"""A reviewer's words are never lost: not to a broken connection, not to a second page, not to a reload."""

from __future__ import annotations

import re

import pytest

from tests.pages.sample_reports import SOURCE

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STATE = "#save-state"


@pytest.fixture
def review(signed_in):
    """The review page of the one item there is."""
    author = signed_in("sue")
    author.goto("/submissions/new")
    author.select_option("#task", "row-softmax")
    author.fill("#source", SOURCE)
    author.click("main form button.primary")
    author.wait_for_selector("#live [data-live=no]", state="attached", timeout=60_000)
    page = signed_in("rob")
    page.goto("/queue")
    page.locator("button:has-text('Claim'), button:has-text('Go on')").first.click()
    page.wait_for_url(re.compile("/reviews/rev_"))
    return page


def test_the_save_state_tells_the_truth_and_nothing_is_lost(review):
    box = "#rationale-robust"
    review.fill(box, "saved at once")
    review.wait_for_selector(f"{STATE}:has-text('Saved')")

    review.route("**/draft", lambda route: route.abort())
    review.fill(box, "typed while the connection was gone")
    review.wait_for_selector(f"{STATE}:has-text('Not saved: no connection')")
    review.on("dialog", lambda dialog: dialog.accept())
    review.reload()

    assert review.input_value(box) == "saved at once"
    review.unroute("**/draft")
    review.click("text=Restore it")
    assert review.input_value(box) == "typed while the connection was gone"
    review.wait_for_selector(f"{STATE}:has-text('Saved')")
    review.reload()
    assert review.input_value(box) == "typed while the connection was gone"

    other = review.context.new_page()
    other.goto(review.url)
    other.fill(box, "from the other page")
    other.wait_for_selector(f"{STATE}:has-text('Saved')")
    review.fill(box, "from this page")
    review.wait_for_selector(f"{STATE}:has-text('changed in another page')")
    assert "from the other page" in review.inner_text("#restore")
    assert review.input_value(box) == "from this page"
    review.click("text=Keep mine")
    review.wait_for_selector(f"{STATE}:has-text('Saved')")
    other.reload()
    assert other.input_value(box) == "from this page"
