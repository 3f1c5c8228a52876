"""What a submission prints, names or writes is text: it never becomes markup, script, or a terminal's command."""

from __future__ import annotations

import pytest

from tests.pages.sample_reports import HOSTILE

RAW = ("<script>alert", "<img src=x", "\x1b", "\u202e", 'href="javascript')


def harmless(text: str) -> bool:
    return not any(raw in text for raw in RAW)


@pytest.mark.parametrize("login", ["sue", "rob", "max"])
def test_a_hostile_report_is_shown_as_text(full_house, login):
    browser = full_house.browser(login)

    for path in ("/submissions", f"/submissions/{full_house.submissions['hostile']}"):
        page = browser.get(path)
        assert page.status_code == 200
        assert harmless(page.text), path
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text


def test_a_hostile_report_is_text_on_the_queue_and_the_review_page(full_house):
    browser = full_house.browser("rob")
    queue = browser.get("/queue")
    assert harmless(queue.text)
    title = queue.text.index("&lt;script&gt;alert(1)")
    slot = queue.text[title:].split('action="/queue/')[1].split("/")[0]

    review = browser.post(f"/queue/{slot}/claim")

    assert review.url.path.startswith("/reviews/")
    assert harmless(review.text)
    assert "\\x1b[31mred" in review.text and "\\u202e" in review.text


def test_what_people_type_is_text_too(full_house):
    browser = full_house.browser("rob")
    browser.get("/queue")
    review = browser.post("/queue/next")
    path = review.url.path

    saved = browser.post(
        f"{path}/draft", {"version": "0", "feedback": HOSTILE, "rationale.correct": f"</textarea>{HOSTILE}"}
    )
    shown = browser.get(path)
    previewed = browser.post(
        f"{path}/preview", {"feedback": f"{HOSTILE} [x](javascript:alert(3)) ![x](http://e.example/t.png)"}
    )

    assert saved.status_code == 200
    assert "</textarea>&lt;" not in shown.text and harmless(shown.text.replace("\x1b", "").replace("\u202e", ""))
    assert harmless(previewed.text)
    assert "<img" not in previewed.text and 'href="javascript' not in previewed.text
