"""Lines of one text found again in another: by their content, and never where they are not."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.submissions.differences import lines_of, matches, ported

OLD = ["import triton", "", "def load(x):", "    return x", "", "def store(y):", "    return y", ")"]
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", ""]), max_size=30)


class TestMatches:
    def test_what_stayed_is_matched_around_what_changed(self):
        new = ["import triton", "import torch", *OLD[1:]]
        assert [(m.old, m.new, m.length) for m in matches(OLD, new)] == [(0, 0, 1), (1, 2, 7)]

    @given(TEXTS, TEXTS)
    def test_matches_are_equal_lines_in_one_order(self, old, new):
        found = matches(old, new)
        for match in found:
            assert old[match.old : match.old + match.length] == new[match.new : match.new + match.length]
        for first, second in pairwise(found):
            assert first.old + first.length <= second.old and first.new + first.length <= second.new

    @given(TEXTS)
    def test_a_text_is_all_of_itself(self, text):
        assert sum(m.length for m in matches(text, text)) == len(text)

    def test_two_edits_far_apart_in_a_long_file_are_two_edits(self):
        old = [f"    value_{n} = load({n})" if n % 2 else "" for n in range(20_000)]
        new = [*old[:3], "added", *old[3:19_000], *old[19_001:]]
        assert [(m.old, m.new, m.length) for m in matches(old, new)] == [
            (0, 0, 3), (3, 4, 18_997), (19_001, 19_001, 999),
        ]  # fmt: skip

    def test_finds_as_much_as_the_standard_library_where_no_line_is_its_own(self):
        old, new = ["x", "y"] * 20, ["y", "x"] * 20
        expected = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        assert sum(m.length for m in matches(old, new)) == sum(b.size for b in expected)


class TestPorted:
    def test_lines_pushed_down_are_followed(self):
        assert ported(OLD, ["# a licence", *OLD], 3, 4) == (4, 5)

    def test_a_removed_line_is_gone_though_its_like_stands_elsewhere(self):
        old = ["a = 1", "b = 2", "x = 0", "c = 3", "x = 0"]
        new = ["a = 1", "b = 2", "c = 3", "x = 0"]
        assert ported(old, new, 3, 3) is None
        assert ported(old, new, 5, 5) == (4, 4)

    def test_a_changed_line_is_gone(self):
        assert ported(OLD, [line.replace("return x", "return 2 * x") for line in OLD], 4, 4) is None

    def test_a_range_of_which_one_line_changed_is_gone(self):
        assert ported(OLD, [line.replace("return x", "return 2 * x") for line in OLD], 3, 4) is None

    def test_a_moved_function_is_found_where_it_went(self):
        assert ported(OLD, [OLD[0], "", *OLD[5:7], "", *OLD[2:4], ")"], 6, 7) == (3, 4)

    def test_what_now_stands_twice_is_not_guessed_at(self):
        assert ported(["moved()", "a"], ["a", "moved()", "moved()"], 1, 1) is None
        assert ported(["moved()", "a"], ["a", "moved()"], 1, 1) == (2, 2)

    def test_a_lone_bracket_is_not_sought(self):
        assert ported([")", "a", "b"], ["a", "b", ")"], 1, 1) is None
        assert ported(["x)", "a", "b"], ["a", "b", "x)"], 1, 1) == (3, 3)

    @pytest.mark.parametrize(("start", "end"), [(0, 1), (9, 9), (3, 2), (1, 99)])
    def test_lines_that_never_were_are_nowhere(self, start, end):
        assert ported(OLD, OLD, start, end) is None

    @given(TEXTS, TEXTS)
    def test_the_lines_found_are_the_lines_sought(self, old, new):
        for start in range(1, len(old) + 1):
            place = ported(old, new, start, start)
            assert place is None or new[place[0] - 1] == old[start - 1]


def test_lines_are_counted_as_the_page_counts_them():
    assert lines_of("a\r\nb\n\n") == ["a", "b", ""]
