"""Krippendorff's alpha: the published example, the ends of the scale, and no number from too little."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.agreement import UNITS_MIN, agreement, alpha

# Four observers and twelve units, some left out: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
PUBLISHED = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4], [1, 1, 2, 1],
    [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip


def test_the_published_example():
    assert alpha([unit for unit in PUBLISHED if len(unit) > 1]) == pytest.approx(0.815, abs=5e-4)
    found = agreement(PUBLISHED)
    assert (found.units, found.alpha) == (11, alpha([unit for unit in PUBLISHED if len(unit) > 1]))
    assert found.low < found.alpha <= found.high <= 1


def test_perfect_agreement_is_one_and_systematic_disagreement_is_below_chance():
    assert alpha([[0, 0], [1, 1], [3, 3]]) == 1
    assert alpha([[0, 3], [3, 0], [0, 3]]) < 0


def test_a_near_miss_weighs_less_than_a_far_one():
    rest = [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert alpha([*rest, [0, 1]]) > alpha([*rest, [0, 3]])


def test_too_few_units_and_values_that_never_differ_say_nothing():
    assert agreement([[1, 2]] * (UNITS_MIN - 1)).alpha is None
    assert agreement([[2, 2]] * 50).alpha is None
    assert agreement([[2]] * 50).units == 0


def test_the_interval_is_the_same_each_time():
    units = [[level, min(3, level + (level % 2))] for level in (0, 1, 2, 3) * 5]
    assert agreement(units) == agreement(units)


@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=4), min_size=1, max_size=12))
def test_it_never_exceeds_one_and_knows_no_order_of_people(units):
    found = alpha(units)
    assert found is None or found <= 1
    turned = alpha([unit[::-1] for unit in units])
    assert found == pytest.approx(turned) if found is not None else turned is None
