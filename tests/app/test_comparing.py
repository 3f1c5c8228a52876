"""A diff for reading: what changed with its surroundings, nothing lost between the rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.submissions.comparing import compare, pairs

TEXT = st.lists(st.sampled_from(["a", "b", "c", "d()", ""]), min_size=1, max_size=40).map("\n".join)


def test_a_changed_line_stands_beside_what_it_was_with_its_surroundings():
    old = [f"line {n}" for n in range(1, 21)]
    new = [*old[:9], "line ten", *old[10:]]

    diff = compare(("a.txt", "\n".join(old)), ("a.txt", "\n".join(new)))

    assert [row.kind for row in diff.rows] == ["gap", *["same"] * 3, "changed", *["same"] * 3, "gap"]
    assert (diff.rows[4].old.number, str(diff.rows[4].old.html)) == (10, "line 10")
    assert (str(diff.rows[4].new.html), diff.rows[0].skipped, diff.rows[-1].skipped) == ("line ten", 6, 7)
    assert (diff.added, diff.removed) == (1, 1)


def test_a_file_that_only_one_revision_has_stands_beside_nothing():
    gone, new = pairs({"a.txt": "x\ny"}, {"b.txt": "z"})

    assert {row.kind for row in gone.rows} >= {"removed"} and gone.old_name == "a.txt"
    assert {row.kind for row in new.rows} <= {"added", "changed"} and new.new_name == "b.txt"


def test_equal_texts_have_no_difference():
    diff = compare(("a.txt", "x\n" * 50), ("a.txt", "x\n" * 50))
    assert (diff.added, diff.removed, [row.kind for row in diff.rows]) == (0, 0, ["gap"])


@given(TEXT, TEXT)
def test_every_line_of_both_is_shown_or_counted(old, new):
    diff = compare(("a.txt", old), ("a.txt", new))
    equal = sum(row.skipped for row in diff.rows)
    lines = [text.removesuffix("\n").split("\n") for text in (old, new)]
    for side, expected in zip(("old", "new"), lines, strict=True):
        numbers = [line.number for row in diff.rows if (line := getattr(row, side))]
        assert numbers == sorted(set(numbers)) and len(numbers) + equal == len(expected)
    for row in diff.rows:
        assert row.kind != "same" or row.old.html == row.new.html


def test_what_is_beyond_a_page_is_said_to_be_cut():
    long = "\n".join(f"line {n}" for n in range(25_000))
    assert compare(("a.txt", long), ("a.txt", long + "\nmore")).cut
