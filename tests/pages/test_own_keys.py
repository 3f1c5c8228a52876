"""Keys of one's own: chosen on the account's pages, refused with a word, shown on the review page."""

from __future__ import annotations

import html
import json
import re

import pytest

from app.accounts import keys
from app.errors import Invalid
from tests.pages.test_reviewing import claimed


def test_the_usual_keys_are_apart_and_none_is_a_level():
    for page in (keys.REVIEW, keys.LINKS):
        usual = [one.key for one in keys.bound({}, page)]
        assert len(set(usual)) == len(usual) > 0 and not set(usual) & set("1234567")
    assert keys.chosen({}) == {}


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ({"next": "k"}, "is the key for \N{LEFT DOUBLE QUOTATION MARK}next criterion"),
        ({"next": "jj"}, "type one character"),
        ({"next": "3"}, "1 to 7 choose levels"),
    ],
)
def test_keys_that_cannot_be_are_refused_with_a_word(typed, fault):
    with pytest.raises(Invalid) as refused:
        keys.chosen(typed)
    assert any(fault in said for said in refused.value.details["problems"].values())


def test_two_may_change_places():
    assert keys.chosen({"next": "k", "previous": "j"}) == {"next": "k", "previous": "j"}


def test_a_key_is_one_thing_on_each_page():
    assert keys.chosen({"link": "j"}) == {"link": "j"}
    own = {"link": "j", "bench": "y"}
    assert keys.by_action(own, keys.LINKS) == {"link": "j"}
    assert (keys.by_action(own, keys.REVIEW)["bench"], keys.by_action(own, keys.REVIEW)["next"]) == ("y", "j")
    assert "link" not in keys.by_action(own, keys.REVIEW)


def test_own_keys_are_on_the_sheet_and_in_the_hints(full_house):
    rob, page = claimed(full_house)
    own = {"questions": "x", "next": ".", "confirm": "y", "link": "g", "bench": "h"}
    kept = rob.post("/account/keys", own)
    assert 'value="x"' in kept.text and kept.url.path == "/account/keys"
    path = page.url.path
    page = rob.get(path).text
    bound = json.loads(html.unescape(re.search(r'data-keys="([^"]*)"', page).group(1)))
    assert (bound["questions"], bound["next"], bound["previous"]) == ("x", ".", "k")
    assert 'answered <kbd class="needs-js">x</kbd>' in page
    assert page.count("<kbd>y</kbd>") > 1, "on the sheet and beside what it confirms"
    assert "link" not in bound and bound["bench"] == "h"
    links = rob.get(f"{path}/links").text
    assert 'id="link-form" data-key="g"' in links and "<kbd>g</kbd> links what is picked" in links
    assert 'answered <kbd class="needs-js">q</kbd>' in claimed(full_house, "ria")[1].text


def test_a_refusal_keeps_what_was_typed_and_changes_nothing(full_house):
    rob = full_house.browser("rob")
    rob.post("/account/keys", {"next": "."})
    refused = rob.post("/account/keys", {"next": "k", "cite": "é"})
    assert refused.status_code == 422 and 'value="é"' in refused.text and "already" in refused.text
    assert 'name="next" value="."' in rob.get("/account/keys").text
    assert 'name="next" value="j"' in rob.post("/account/keys", {"reset": "1"}).text
