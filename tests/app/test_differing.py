"""Two texts of one draft: every field that differs is named, and any of them can be taken from the other."""

from __future__ import annotations

import copy

import pytest

from app.reviews.differing import are_the_same, differences, taken

TITLES = {"correct": "Correct", "speed": "Speed"}
MINE = {
    "scores": {
        "correct": {"level": 2, "state": "scored", "rationale": "The tail\nis masked.", "evidence": ["finding.1"]},
        "speed": {"level": None, "state": "cannot_judge", "rationale": "not measured"},
    },
    "comments": [
        {"path": "solution.py", "line": 3, "end_line": 5, "body": "Mask these."},
        {"path": "solution.py", "line": 9, "body": "Only mine."},
        {"path": "solution.py", "line": 11, "body": "In both."},
    ],
    "feedback": "Mine.", "decision": "accept_with_notes", "confidence": 2, "acknowledged": [], "active_seconds": 7,
}  # fmt: skip
THEIRS = {
    "scores": {
        "correct": {"level": 0, "state": "scored", "rationale": "The tail\nis never written.", "evidence": []},
        "speed": {"level": None, "state": "cannot_judge", "rationale": "not measured", "evidence": []},
    },
    "comments": [
        {"path": "solution.py", "line": 11, "end_line": None, "body": "In both.", "severity": None},
        {"path": "solution.py", "line": 3, "end_line": 5, "body": "Rename these.", "severity": "must_change"},
        {"path": None, "line": None, "body": "Only theirs."},
    ],
    "feedback": "Theirs.", "decision": None, "confidence": None, "acknowledged": ["rul_1"], "active_seconds": 90,
}  # fmt: skip


def found(mine=MINE, theirs=THEIRS):
    return {one.title: one for one in differences(mine, theirs, TITLES, {"rul_1": "3 Dec, Correct"})}


def test_only_what_differs_is_named_as_people_call_it():
    assert list(found()) == [
        "Correct", "Comment on solution.py:3-5", "Comment on solution.py:9", "Comment on the whole submission",
        "Overall feedback", "Decision", "Confidence", "Rulings read",
    ]  # fmt: skip


def test_a_criterion_shows_answer_rationale_and_evidence_of_both():
    parts = {part.label: part for part in found()["Correct"].parts}
    assert (parts["Answer"].mine, parts["Answer"].theirs) == ("level 2", "level 0")
    assert (parts["Evidence"].mine, parts["Evidence"].theirs) == ("finding.1", "")
    assert [(line.text, line.is_only_here) for line in parts["Rationale"].my_lines] == [
        ("The tail", False), ("is masked.", True),
    ]  # fmt: skip
    assert parts["Rationale"].their_lines[1].text == "is never written."


def test_comments_are_paired_by_place_and_said_to_be_missing():
    both, mine, theirs = (
        found()[f"Comment on {place}"] for place in ("solution.py:3-5", "solution.py:9", "the whole submission")
    )
    assert [part.label for part in both.parts] == ["Comment", "Weight and kind"]
    assert both.parts[1].theirs == "must change"
    assert (mine.in_mine, mine.in_theirs) == (True, False)
    assert (theirs.in_mine, theirs.in_theirs) == (False, True)


def test_the_same_words_are_no_conflict_however_they_came():
    assert are_the_same(MINE, copy.deepcopy(MINE) | {"active_seconds": 1, "comments": MINE["comments"][::-1]})
    assert not are_the_same(MINE, THEIRS)


@pytest.mark.parametrize("title", list(found()))
def test_a_field_taken_differs_no_more_and_all_others_stay(title):
    key, before = found()[title].key, copy.deepcopy(MINE)
    after = taken(MINE, THEIRS, key)
    assert title not in found(after) and before == MINE
    assert set(found(after)) == set(found()) - {title}


def test_all_fields_taken_one_after_another_are_the_other_text():
    text = MINE
    while left := differences(text, THEIRS, TITLES, {}):
        text = taken(text, THEIRS, left[0].key)
    assert are_the_same(text, THEIRS)
    assert text["active_seconds"] == 7


@pytest.mark.parametrize("key", ["", "scores", "version", "comments.x.y", "comments.none.none", "active_seconds"])
def test_a_key_of_nothing_that_differs_takes_nothing(key):
    assert taken(MINE, THEIRS, key) == MINE
