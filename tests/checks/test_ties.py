"""Equal elements may be named in any order; everything else about them is exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workbench_checks import arg_extreme, arg_sort, top_k
from workbench_checks.ties import stable_order

TIED = np.array([[2.0, 5.0, 5.0, 1.0, 5.0], [3.0, 3.0, 0.0, 3.0, 3.0]])
FEW_VALUES = arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=st.sampled_from([0, 1, 2]))


def spread(rank, source):
    """A random right order: sort by value, equal elements shuffled."""
    keys = rank.permutation(source.shape[1])
    return np.stack([np.lexsort((keys, -row)) for row in source])


class TestArgExtreme:
    @pytest.mark.parametrize("places", [[1, 0], [2, 3], [4, 4]])
    def test_takes_any_of_the_largest(self, places):
        assert arg_extreme(TIED, np.array(places))
        assert arg_extreme(TIED, np.array(places)[:, None])

    def test_names_the_first_that_is_not(self):
        told = arg_extreme(TIED, np.array([1, 2]))
        assert told == (False, "the element at index [1] is 0.0 instead of 3.0 (1 of 2 differ)")

    def test_takes_the_smallest_and_all_elements(self):
        assert arg_extreme(TIED, np.array([3, 2]), largest=False)
        assert arg_extreme(TIED, np.array(4), axis=None)
        assert not arg_extreme(TIED, np.array(5), axis=None)

    def test_a_nan_is_the_answer_where_there_is_one(self):
        source = np.array([[1.0, np.nan, 3.0]])
        assert arg_extreme(source, np.array([1]))
        assert not arg_extreme(source, np.array([2]))

    @pytest.mark.parametrize("places", [[-1, 0], [5, 0], [1.0, 0.0]])
    def test_refuses_what_is_no_index(self, places):
        assert not arg_extreme(TIED, np.array(places))

    def test_near_ties_count_where_scores_are_rounded(self):
        source = np.array([[1.0, 1.0 + 1e-7]])
        assert not arg_extreme(source, np.array([0]))
        assert arg_extreme(source, np.array([0]), rtol=1e-6)


class TestTopK:
    @given(FEW_VALUES, st.integers(0, 2**31), st.data())
    def test_takes_any_order_of_equal_elements(self, source, seed, data):
        k = data.draw(st.integers(1, source.shape[1]))
        places = spread(np.random.default_rng(seed), source)[:, :k]
        values = np.take_along_axis(source, places, 1)
        assert top_k(source, values, places)
        assert top_k(source, None, places)
        assert top_k(source, values, None)
        assert top_k(source, values[:, ::-1], places[:, ::-1], ordered=False)

    @given(FEW_VALUES, st.integers(0, 2**31), st.data())
    def test_refuses_one_wrong_index_unless_it_ties(self, source, seed, data):
        order = spread(np.random.default_rng(seed), source)
        k = data.draw(st.integers(1, source.shape[1]))
        values, places = np.take_along_axis(source, order, 1)[:, :k], order[:, :k].copy()
        row, column = data.draw(st.integers(0, len(source) - 1)), data.draw(st.integers(0, k - 1))
        places[row, column] = other = data.draw(st.integers(0, source.shape[1] - 1))
        once = len(set(places[row])) == k
        assert top_k(source, values, places).ok == (once and source[row, other] == values[row, column])

    @pytest.mark.parametrize(
        ("values", "places", "says"),
        [
            ([[5, 5], [3, 3]], [[1, 1], [0, 1]], "index [0, 1] is 1 once more"),
            ([[5, 5], [3, 3]], [[1, 2], [0, 2]], "the element at index [1, 1] is 0.0 instead of 3 (1 of 4 differ)"),
            ([[5, 2], [3, 3]], [[1, 0], [0, 1]], "value [0, 1] is 2 instead of 5.0 (1 of 4 differ)"),
            ([[5, 5], [3, 3]], [[1, 2], [0, 7]], "index [1, 1] is 7, which is no index from 0 to 4"),
            ([[5, 5]], [[1, 2]], "values has shape (1, 2) instead of (2, 2)"),
        ],
    )
    def test_says_what_is_wrong_where(self, values, places, says):
        assert top_k(TIED, np.array(values), np.array(places)) == (False, says)

    def test_the_smallest_along_another_axis(self):
        assert top_k(TIED.T, np.array([[1.0, 0.0]]), np.array([[3, 2]]), axis=0, largest=False)

    def test_nan_is_the_largest(self):
        source = np.array([[1.0, np.nan, 3.0]])
        assert top_k(source, np.array([[np.nan, 3.0]]), np.array([[1, 2]]))
        assert not top_k(source, np.array([[3.0, 1.0]]), np.array([[2, 0]]))


class TestArgSort:
    @given(FEW_VALUES, st.integers(0, 2**31), st.booleans())
    def test_takes_any_order_of_equal_elements(self, source, seed, descending):
        places = spread(np.random.default_rng(seed), source if descending else -source)
        assert arg_sort(source, places, descending=descending)
        ties = any(len(set(row)) < len(row) for row in source.tolist())
        stable = arg_sort(source, places, descending=descending, stable=True)
        assert stable.ok == (places == stable_order(source, -1, descending)).all()
        assert ties or stable

    def test_descending_keeps_equal_elements_in_their_order(self):
        assert stable_order(TIED, -1, True).tolist() == [[1, 2, 4, 0, 3], [0, 1, 3, 4, 2]]

    def test_refuses_an_index_twice(self):
        assert arg_sort(TIED[:1], np.array([[3, 0, 1, 1, 4]])).message == "index [0, 3] is 1 once more"

    def test_refuses_another_order(self):
        assert not arg_sort(TIED[:1], np.array([[0, 3, 1, 2, 4]]))
