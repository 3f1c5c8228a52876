"""The bench as hands use it: `b`, a run, its result on the page that is being written, and a citation."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_run_is_asked_for_awaited_and_cited_without_leaving_the_review(review):
    address = review.url
    review.wait_for_selector("#bench-form")
    review.keyboard.press("b")
    assert review.evaluate("document.activeElement.id") == "bench-target"
    review.fill("[name='param.cols']", "127")
    review.fill("#bench-rtol", "b")
    review.keyboard.press("Enter")
    review.wait_for_selector("#bench-history [role=alert]")
    assert review.input_value("#bench-rtol") == "b"

    review.fill("#bench-rtol", "0.5")
    review.keyboard.press("Enter")
    review.wait_for_selector("#bench-history .cite[data-cite]", timeout=60_000)
    review.locator("#bench-history .cite").click()

    cited = review.locator("[data-chips] input").evaluate_all("all => all.map(one => one.value).join('')")
    assert cited.startswith("experiment.xpr_") and review.url == address
    assert review.input_value("[name='param.cols']") == "127"
