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


def test_a_text_is_found_by_its_words_and_its_gap_is_ready_to_be_typed_over(review):
    box, open_list = "#feedback-text", "#texts[open] [role=option]"
    review.fill(box, "")
    review.type(box, "Dear author, w")
    review.keyboard.press("Control+/")
    review.wait_for_selector(open_list)
    review.keyboard.type("speed-up, in figures")
    review.keyboard.press("Enter")
    assert review.input_value(box).startswith("Dear author, w Measured, it is [speedup: not known here] at the least")
    review.keyboard.type("twice as fast")
    assert "it is twice as fast at the least" in review.input_value(box)

    review.keyboard.press("Escape")
    review.keyboard.press("w")
    review.wait_for_selector(open_list)
    written = review.input_value(box)
    review.keyboard.press("Escape")
    assert review.evaluate("[document.activeElement.id, document.getElementById('texts').open]") == [box[1:], False]
    assert review.input_value(box) == written
