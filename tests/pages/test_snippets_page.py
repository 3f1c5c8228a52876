"""Texts to insert, on their pages: listed with figures, put into a box by the server, kept as one's own."""

from __future__ import annotations

import html
import re

from tests.pages.test_feedback_page import SAID, draft, version_of

__all__ = ["draft"]


def test_without_scripts_what_was_typed_is_kept_and_a_text_put_behind_it(draft, full_house):
    browser, path = draft
    listed = browser.post(f"{path}/snippets/choose", SAID | {"feedback": "Dear author,", "version": "0"})
    assert listed.url.path == f"{path}/snippets" and "Rationale for Correct" in html.unescape(listed.text)
    assert "Comment 1, solution.py:15" in listed.text
    given = {"snippet": "wrong-element", "into": "comment.1", "version": version_of(listed)}
    page = browser.post(f"{path}/snippets", given)
    assert "Here.\n\n`out[0, 96]` on `tail`" in html.unescape(page.text) and "Dear author," in page.text

    stale = browser.post(f"{path}/snippets", given | {"snippet": "tail", "into": "feedback"})
    assert stale.status_code == 409 and "changed in another page" in stale.text
    for wrong in ({"snippet": "no-such"}, {"into": "comment.9"}):
        refused = browser.post(f"{path}/snippets", given | {"version": version_of(page)} | wrong)
        assert refused.status_code in (404, 422) and "Texts to insert" in refused.text
    kept = browser.get(path).text
    assert "The last, partial block" not in kept and version_of(page) == version_of(browser.get(path))

    boxes = re.findall(r'<textarea id="(rationale|comment-body|feedback)-', kept)
    assert kept.count("data-texts>") == len(boxes) > 3
    ria = full_house.browser("ria")
    assert ria.get(f"{path}/preview").status_code == ria.post(f"{path}/preview/text").status_code == 404
    assert ria.get(f"{path}/snippets").status_code == 404
    assert ria.post(f"{path}/snippets", {"snippet": "tail", "into": "feedback"}).status_code == 404


def test_a_script_gets_the_list_and_a_gap_is_hinted_and_a_rationale_has_figures(draft):
    browser, path = draft
    first = browser.get(f"{path}/snippets", headers={"Accept": "application/json"}).json()[0]
    assert first["group"] == "For what was found here" and first["gaps"] == []
    assert "`out[0, 96]` on `tail` is 0 where 0.01130 is right" in first["text"]

    typed = SAID | {"feedback": "Use a mask. [speedup: not known here]", "rationale.correct": "Off by {{max_upl}}."}
    assert "still to be filled in" in browser.post(f"{path}/hints", typed).text
    read = browser.post(f"{path}/preview/text", {"text": "*Off* by {{max_ulp}}, <b>{{oops}}</b>"}).text
    assert "<html" not in read and "<em>Off</em> by 4.19" in read and "<b>" not in read
    assert "<code>{{oops}}</code> stands for nothing" in read
    whole = browser.post(f"{path}/preview/page", SAID | {"feedback": "## Mind *it*", "version": "0"})
    assert whole.url.path == f"{path}/preview" and "<h4>Mind <em>it</em></h4>" in whole.text
    assert "Here." in whole.text and "Nothing written" not in whole.text
    version = version_of(browser.get(path))
    refused = browser.post(f"{path}/submit", typed | {"version": version})
    assert refused.status_code == 422 and "{{max_upl}} stands for nothing" in refused.text
    right = typed | {"rationale.correct": "Off by {{max_ulp}}.", "version": version_of(refused)}
    page = browser.post(f"{path}/submit", right)
    assert page.url.path == path and "Off by 4.19" in page.text


def test_own_texts_are_added_changed_ordered_and_refused_as_typed(house):
    browser = house.browser("rob")
    for title in ("First", "Second"):
        page = browser.post("/account/snippets", {"title": title, "text": "{{max_ulp}} ULP, <b>mind you</b>"})
    ids = re.findall(r'<section class="panel" id="(snp_\w+)"', page.text)
    browser.post(f"/account/snippets/{ids[1]}/move", {"step": "-1"})
    browser.post(f"/account/snippets/{ids[0]}", {"title": "Renamed", "text": "x", "kind": "fusion"})
    page = browser.get("/account/snippets").text
    assert page.index("Second") < page.index("Renamed") and "<b>mind" not in page and "&lt;b&gt;mind you" in page
    assert "Second" not in browser.post(f"/account/snippets/{ids[1]}/delete").text

    for address in ("/account/snippets", f"/account/snippets/{ids[0]}"):
        refused = browser.post(address, {"title": "Mine", "text": "{{oops}} there", "kind": ""})
        assert refused.status_code == 422 and 'value="Mine"' in refused.text and "\n{{oops}} there" in refused.text
        assert "{{oops}} stands for nothing" in refused.text
    assert house.browser("ada").post(f"/account/snippets/{ids[0]}/delete").status_code == 404
    assert house.browser("sue").get("/account/snippets").status_code == 403
