"""Keys of one's own, pressed: the own key acts, the usual one no longer does, and nothing fires while typing."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_an_own_key_acts_and_the_usual_one_does_not(review):
    address = review.url
    review.goto("/account/keys")
    review.fill("#key-questions", "x")
    review.click("button.primary")
    review.goto(address)
    review.keyboard.press("q")
    assert not review.evaluate("document.getElementById('questions').open")
    review.keyboard.press("x")
    assert review.evaluate("document.getElementById('questions').open")
    review.focus("#feedback-text")
    review.keyboard.type("xx")
    assert review.input_value("#feedback-text").endswith("xx")
    assert review.evaluate("document.getElementById('questions').open")
