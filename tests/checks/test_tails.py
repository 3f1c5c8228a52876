"""False rejections happen as rarely as stated: by exact enumeration, and by simulation at a rate that can be seen."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench_checks import tails


def exact_binomial(k, n, p):
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def exact_multinomial(counts, chances):
    ways = math.factorial(sum(counts))
    for count, chance in zip(counts, chances, strict=True):
        ways = ways / math.factorial(count) * chance**count
    return ways


def never_too_often(outcomes):
    """`outcomes`: (probability, value).  P(value ≤ r) ≤ r at each r that a value has."""
    total = 0.0
    for value, group in itertools.groupby(sorted(outcomes, key=lambda o: o[1]), key=lambda o: o[1]):
        total += sum(probability for probability, _ in group)
        assert total <= value * (1 + 1e-9) + 1e-15


class TestBinomial:
    @pytest.mark.parametrize("n", [1, 2, 7, 40, 200])
    @pytest.mark.parametrize("p", [0.003, 0.25, 0.5, 0.97])
    def test_refuses_no_more_often_than_stated(self, n, p):
        values = tails.binomial(range(n + 1), n, p)
        never_too_often([(exact_binomial(k, n, p), values[k]) for k in range(n + 1)])

    def test_is_close_to_the_exact_tail_where_it_matters(self):
        n, p, k = 1000, 0.3, 390
        exact = 2 * sum(exact_binomial(i, n, p) for i in range(k, n + 1))
        assert exact <= tails.binomial(k, n, p) <= 1.1 * exact

    @given(st.integers(1, 10**9), st.floats(1e-12, 1 - 1e-12), st.floats(0, 1))
    def test_is_a_probability_for_any_numbers(self, n, p, share):
        assert 0 <= tails.binomial(round(share * n), n, p) <= 1

    @pytest.mark.parametrize(("count", "chance", "want"), [(0, 0.0, 1), (1, 0.0, 0), (5, 1.0, 1), (4, 1.0, 0)])
    def test_knows_what_cannot_be(self, count, chance, want):
        assert tails.binomial(count, 5, chance) == want


class TestMultinomial:
    @pytest.mark.parametrize("chances", [[0.5, 0.5], [0.7, 0.2, 0.1], [0.96, 0.01, 0.01, 0.02], [0.25] * 4])
    def test_refuses_no_more_often_than_stated(self, chances):
        n, k = 14, len(chances)
        every = (c for c in itertools.product(range(n + 1), repeat=k) if sum(c) == n)
        never_too_often([(exact_multinomial(c, chances), tails.multinomial(c, chances)) for c in every])

    @pytest.mark.matrix
    @pytest.mark.parametrize("categories", [2, 30, 1000])
    def test_refuses_no_more_often_than_stated_in_20000_trials(self, categories):
        random = np.random.default_rng(categories)
        chances = random.dirichlet(np.full(categories, 0.3))
        values = [tails.multinomial(row, chances) for row in random.multinomial(500, chances, size=20_000)]
        assert sum(value <= 1e-2 for value in values) <= 270  # 200 expected at most, and five deviations

    def test_refuses_what_has_no_chance(self):
        assert tails.multinomial([3, 1], [1.0, 0.0]) == 0

    def test_sees_many_small_shifts(self):
        """No bin alone is remarkable; together they are."""
        chances = np.full(100, 0.01)
        shifted = chances * (1 + 0.2 * np.resize([1, -1], 100))
        counts = np.round(20_000 * shifted)
        assert tails.multinomial(counts, chances) < 1e-20
        assert tails.binomial(counts, counts.sum(), chances).min() > 1e-6


class TestLargestGap:
    def test_refuses_no_more_often_than_stated_in_20000_trials(self):
        draws = np.sort(np.random.default_rng(1).random((20_000, 300)), axis=1)
        assert sum(tails.largest_gap(row, row, 300) <= 1e-2 for row in draws) <= 270

    def test_a_distance_that_is_said_to_be_seen_is_seen(self):
        """Uniform draws squeezed towards 0, so that the distribution functions are `distance` apart."""
        random, n, rate = np.random.default_rng(2), 4000, 1e-6
        distance = tails.seen_distance(n, rate, 1e-3)
        ranked = np.sort(random.random((2000, n)) * (1 - distance), axis=1)
        assert sum(tails.largest_gap(row, row, n) > rate for row in ranked) <= 2 + 5 * math.sqrt(2)


@pytest.mark.parametrize("rate", [0, -1, 1e-5, 1, math.nan])
def test_a_rate_that_refuses_honest_kernels_is_no_rate(rate):
    with pytest.raises(ValueError, match="at most 1e-6"):
        tails.checked_rate(rate)
