"""Every question that a reviewer asks of a submission is answered within two keys; `python -m tests.run_questions`
prints them with the time that each took.
"""

from __future__ import annotations

import pytest

from tests.journeys.twelve_questions import KEYS_MAX, QUESTIONS, ask, asked_house, open_draft

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(tmp_path_factory, chromium):
    with asked_house(tmp_path_factory.mktemp("asked")) as (url, address):
        yield open_draft(chromium, url, address), address


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.asks)
def test_a_question_is_answered_within_two_keys(page, question):
    assert len(question.keys) <= KEYS_MAX
    answered = ask(*page, question)
    assert answered.text
