"""The same things in another order, and entries of sparse matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench_checks import is_permutation, same_coo, same_csr, same_items, same_rows, sorts

ROWS = arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(0, 2))


class TestOrders:
    def test_permutations(self):
        assert is_permutation(np.array([[2, 0, 1], [0, 1, 2]]))
        assert is_permutation(np.array([[0, 1], [1, 0]]), axis=0)
        assert is_permutation(np.array([[2, 0, 1], [0, 1, 1]])) == (False, "index [1, 2] is 1 once more")
        assert not is_permutation(np.array([1, 2, 3]))

    def test_sorted_copies(self):
        source = np.array([[3.0, 1.0, 3.0, np.nan]])
        assert sorts(np.array([[1.0, 3.0, 3.0, np.nan]]), source)
        assert sorts(np.array([[np.nan, 3.0, 3.0, 1.0]]), source, descending=True)
        assert sorts(np.array([[1.0, 1.0, 3.0, np.nan]]), source).message.startswith("value [0, 1] is 1.0 instead of 3")

    @given(st.lists(st.floats(-100, 100), min_size=1, max_size=12), st.integers(0, 2**31))
    def test_items_pair_up_whenever_they_can(self, want, seed):
        """Each moved within its own tolerance, then shuffled."""
        random, want = np.random.default_rng(seed), np.array(want)
        moved = want + random.uniform(-1, 1, want.size) * (0.1 + 0.5 * np.abs(want)) * 0.999
        assert same_items(random.permutation(moved), want, atol=0.1, rtol=0.5)

    def test_items_count_as_often_as_they_occur(self):
        assert same_items([1, 2, 2], [2, 1, 2])
        assert same_items([1, 2, 2], [1, 1, 2]) == (
            False,
            "item [1] is 2; in ascending order 1 would come there",
        )
        assert not same_items([1, 2], [1, 2, 2])

    @given(ROWS, st.integers(0, 2**31))
    def test_rows_in_any_order(self, rows, seed):
        shuffled = np.random.default_rng(seed).permutation(rows)
        assert same_rows(shuffled, rows)
        shuffled[-1, -1] += 1
        assert not same_rows(shuffled, rows)

    def test_rows_name_what_is_too_much_or_missing(self):
        assert same_rows([[0, 1], [2, 3]], [[2, 3], [4, 5]]).message == "row [0] is not wanted, or not so often"
        assert same_rows([[4, 5], [2, 3]], [[0, 1], [2, 3]]).message.endswith("[0] is missing")


def coo(*entries):
    return np.array([[r, c] for r, c, _ in entries]).T.reshape(2, -1), np.array([v for *_, v in entries], float)


class TestSparse:
    def test_entries_in_any_order(self):
        want = coo((0, 1, 2), (3, 0, 4), (3, 5, 1))
        assert same_coo(*coo((3, 5, 1), (0, 1, 2), (3, 0, 4.0000001)), *want, rtol=1e-6)

    @pytest.mark.parametrize(
        ("entries", "says"),
        [
            ([(0, 1, 2), (3, 0, 5)], "the entry at [3, 0] is 5.0 instead of 4.0"),
            ([(0, 1, 2)], "the entry at [3, 0] is missing"),
            ([(0, 1, 2), (3, 0, 4), (1, 1, 0)], "there is an entry at [1, 1], where none is wanted"),
            ([(0, 1, 2), (3, 0, 1), (3, 0, 3)], "place [3, 0] occurs 2 times"),
        ],
    )
    def test_says_which_entry_is_wrong(self, entries, says):
        assert same_coo(*coo(*entries), *coo((0, 1, 2), (3, 0, 4))) == (False, says)

    def test_repeated_and_stored_zeros_where_they_are_allowed(self):
        got = coo((0, 1, 2), (3, 0, 1), (3, 0, 3), (1, 1, 0))
        assert same_coo(*got, *coo((0, 1, 2), (3, 0, 4)), add_repeated=True, drop_zeros=True)

    def test_columns_of_a_row_in_any_order(self):
        want = [0, 2, 2, 3], [1, 4, 0], [5.0, 6.0, 7.0]
        assert same_csr(([0, 2, 2, 3], [4, 1, 0], [6.0, 5.0, 7.0]), want)
        assert not same_csr(([0, 2, 2, 3], [0, 1, 4], [7.0, 5.0, 6.0]), want)
        assert same_csr(([0, 2, 1, 3], [1, 4, 0], [5.0, 6.0, 7.0]), want).message == (
            "row pointer [2] is less than the one before"
        )

    def test_nothing_at_all_is_an_answer(self):
        empty = np.zeros((2, 0), int), np.zeros(0)
        assert same_coo(*empty, *empty)
        assert not same_coo(*empty, *coo((0, 0, 1)))
