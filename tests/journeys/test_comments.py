"""Comments as hands make them: a click on a line number, a drag over several, `c` on a line, and nothing lost."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SAVED = "#save-state[data-state=saved]"


def test_a_click_a_drag_and_a_key_open_comments_at_their_lines(review):
    number = "#source tr[data-line='{}'] .ln"

    review.click(number.format(3))
    review.keyboard.type("One line.")
    review.hover(number.format(9))
    review.mouse.down()
    review.hover(number.format(7))
    review.mouse.up()
    review.keyboard.type("Three lines, c and 1 typed.")
    review.keyboard.press("Escape")
    review.evaluate("document.activeElement.blur()")
    review.hover("#source tr[data-line='5'] .src")
    review.keyboard.press("c")
    review.keyboard.type("By key.")
    review.wait_for_selector(SAVED)

    notes = ["solution.py:3: One line.", "solution.py:5: By key.", "solution.py:7-9: Three lines, c and 1 typed."]
    assert [note.strip() for note in review.locator("#source tr.said").all_inner_texts()] == notes
    assert review.locator("#rubric input[type=radio]:checked").count() == 0
    review.reload()
    assert [note.strip() for note in review.locator("#source tr.said").all_inner_texts()] == notes


def test_in_the_rubric_c_is_the_rationale_wherever_the_pointer_rests(review):
    review.hover("#source tr[data-line='4'] .src")
    review.keyboard.press("j")
    review.keyboard.press("c")

    assert review.evaluate("document.activeElement.name").startswith("rationale.")


def test_evidence_is_cited_in_the_comment_at_hand(review):
    review.locator("#comments textarea").first.focus()
    review.locator("#panel-correctness h2 .cite").click()

    assert "stage.correctness" in review.locator("[name='comment.evidence']").first.input_value()
    assert review.locator("[data-chips] input").evaluate_all("all => all.map(one => one.value).join('')") == ""


def test_enter_in_a_line_of_text_submits_nothing(review):
    address = review.url
    review.locator("[name='comment.line']").first.press("Enter")

    assert review.url == address and review.locator("#refusal").count() == 0
