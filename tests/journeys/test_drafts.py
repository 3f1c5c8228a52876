"""A reviewer's words are never lost: not to a broken connection, not to a second page, not to a reload."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STATE = "#save-state"


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
