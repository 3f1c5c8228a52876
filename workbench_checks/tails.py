"""How often chance alone gives counts or distances as large as these: upper bounds that hold for every number of draws.

No normal or chi-square approximation is used: at one in a million those are wrong by factors.  For every function and
every rate r, P(value ≤ r) ≤ r where the draws are independent and from the stated distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Categories that are expected less often than this share a bin: the fewer the bins, the more the rest tells.
LEAST_EXPECTED = 5.0


def binomial(counts: Any, draws: Any, chance: Any) -> Floats:
    """Two-sided, element by element: twice the smaller tail of Binomial(`draws`, `chance`) at `counts`."""
    k, n, p = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (counts, draws, chance)))
    return np.minimum(1.0, 2 * np.minimum(_upper(k, n, p, 1 - p), _upper(n - k, n, 1 - p, p)))


def _upper(k: Floats, n: Floats, p: Floats, q: Floats) -> Floats:
    """At least P(X ≥ k).

    The terms of the tail fall at least geometrically from the first, with ratio (n-k)p / ((k+1)q)
    (W. Feller, An Introduction to Probability Theory and Its Applications, vol. 1, 3rd edition, VI.3).
    """
    with np.errstate(all="ignore"):
        first = _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k) + _times_log(k, p) + _times_log(n - k, q)
        beyond = k + 1 - (n + 1) * p
        bound = np.exp(first) * (k + 1) * q / beyond
        return np.where((beyond > 0) & (k > 0), np.minimum(1.0, np.where(q > 0, bound, np.exp(first))), 1.0)


def _times_log(count: Floats, chance: Floats) -> Floats:
    return np.where(count > 0, count * np.log(chance), 0.0)


def _log_factorial(n: Floats) -> Floats:
    distinct, where = np.unique(n, return_inverse=True)
    return np.array([math.lgamma(value + 1) for value in distinct.tolist()])[where].reshape(n.shape)


def multinomial(counts: Any, chances: Any) -> float:
    """One bound from the relative entropy of all bins and from each bin alone; `chances` add up to 1.

    Relative entropy D of k bins: P(D ≥ ε) ≤ e^(-nε) (e·ε·n / (k-1))^(k-1) for ε > (k-1)/n (R. Agrawal, Finite-sample
    concentration of the multinomial in relative entropy, IEEE Trans. Inf. Theory 66, 2020, theorem I.2), after bins of
    low expectation were joined by their chances alone.  Each bin: `binomial` times the number of bins (Bonferroni).
    Two tests, so twice the smaller.
    """
    observed, chances = np.asarray(counts, np.float64), np.asarray(chances, np.float64)
    if (observed[chances <= 0] > 0).any():
        return 0.0
    observed, chances = observed[chances > 0], chances[chances > 0]
    each = binomial(observed, observed.sum(), np.minimum(chances, 1.0)).min(initial=1.0) * observed.size
    return float(min(1.0, 2 * min(each, _entropy(*_joined(observed, chances)))))


def _joined(observed: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """Bins in order of falling chance, the rare ones joined until each is expected often enough."""
    expected = chances * observed.sum()
    order = np.argsort(-expected, kind="stable")
    rare = expected[order] < LEAST_EXPECTED
    common = int((~rare).sum())
    into = np.where(rare, common + np.cumsum(expected[order] * rare) // LEAST_EXPECTED, np.arange(order.size))
    _, bins = np.unique(into, return_inverse=True)
    return _totals(bins, observed[order]), _totals(bins, chances[order])


def _totals(bins: NDArray[Any], weights: Floats) -> Floats:
    return np.bincount(bins, weights).astype(np.float64)


def _entropy(observed: Floats, chances: Floats) -> float:
    total, freedom = observed.sum(), observed.size - 1
    if not freedom or not total:
        return 1.0
    seen = observed > 0
    gain = float((observed[seen] * np.log(observed[seen] / (total * chances[seen]))).sum())
    return 1.0 if gain <= freedom else math.exp(-gain + freedom + freedom * math.log(gain / freedom))


def largest_gap(below: Floats, upto: Floats, draws: int) -> float:
    """P(distance of the empirical from the true distribution function ≥ the one seen) ≤ 2·exp(-2·n·distance²).

    `below` and `upto`: the distribution function at the sorted draws, from the left and from the right
    (P. Massart, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality, Ann. Probab. 18, 1990, corollary 1).
    """
    steps = np.arange(draws + 1) / max(1, draws)
    distance = max(float((steps[1:] - upto).max(initial=0.0)), float((below - steps[:-1]).max(initial=0.0)))
    return min(1.0, 2 * math.exp(-2 * draws * distance * distance))


def seen_distance(draws: int, false_reject: float, false_accept: float) -> float:
    """A distance between distribution functions that `largest_gap` refuses but for a share `false_accept` of runs.

    The bound refuses a distance of √(ln(2 / false_reject) / 2n); at the point where the two functions are furthest
    apart, what is seen falls short of their distance by more than √(ln(1 / false_accept) / 2n) with probability at most
    false_accept (W. Hoeffding, Probability inequalities for sums of bounded random variables, 1963, theorem 1).
    """
    if not draws:
        return math.inf
    return (math.sqrt(math.log(2 / false_reject)) + math.sqrt(math.log(1 / false_accept))) / math.sqrt(2 * draws)


def checked_rate(false_reject: float) -> float:
    """Raises `ValueError` for a rate at which honest kernels would be refused now and then."""
    if not 0 < false_reject <= 1e-6:
        raise ValueError(f"false_reject is {false_reject}; it has to be above 0 and at most 1e-6")
    return false_reject


Distribution = Callable[[Floats], Any]
