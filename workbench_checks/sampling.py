"""Random answers: whether draws come from the distribution that they should come from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench_checks import tails
from workbench_checks.arrays import Array, as_array, first, spacing, valid_indices
from workbench_checks.result import Result, passed, refused
from workbench_checks.tails import Distribution, Floats

# An evaluation calls `check` three or four times a workload: a hundred calls stay below one in a million.
FALSE_REJECT = 1e-8
FALSE_ACCEPT = 1e-3
_LEVELS = 4


def drawn_from(samples: Any, weights: Any, *, false_reject: float = FALSE_REJECT, must_see: float = 0.25) -> Result:
    """`samples` are independent draws of categories with chances in proportion to `weights` (..., categories).

    `samples` has the shape (..., draws), or (...) where each row of weights is drawn from once.  A category of weight 0
    is never drawn.  Beyond that, three tests, which together refuse an honest sampler with a probability of at most
    `false_reject` (at most 1e-6) a call, by Bonferroni's inequality:

    1. each row's counts against its chances (`tails.multinomial`, times the number of rows), if several;
    2. the draws of all rows at once: with v uniform and the categories of a row ordered by falling chance, P(earlier
       category) + v·P(category drawn) is uniform on [0, 1], row for row (the distributional transform: L. Rüschendorf,
       On the distributional transform, Sklar's theorem, J. Stat. Plann. Inference 139, 2009); `tails.largest_gap`;
    3. neighbouring draws: pairs of those uniform numbers fill 16 cells alike (`tails.multinomial`).

    Power: test 2 misses, once in a thousand at most, a sampler whose uniform numbers' distribution is `must_see` or
    more from the uniform one (always the most likely category: 1 - its chance).  Too few draws for that raise
    `ValueError`, with the number needed.
    """
    drawn, chances = as_array(samples), _chances(as_array(weights))
    drawn_shape = drawn.shape
    if drawn.ndim == chances.ndim - 1:
        drawn = drawn[..., None]
    if drawn.ndim != chances.ndim or drawn.shape[:-1] != chances.shape[:-1]:
        return refused(f"samples have shape {drawn_shape}; weights of shape {chances.shape} do not fit")
    if not (right := valid_indices("sample ", drawn.reshape(drawn_shape), chances.shape[-1])):
        return right
    share = tails.checked_rate(false_reject) / 3
    seen = _enough(drawn.size, share, must_see)
    never = np.take_along_axis(chances, drawn, -1) <= 0
    if never.any():
        at = first(never.reshape(drawn_shape))
        return refused(f"sample {list(at)} is {drawn.reshape(drawn_shape)[at]}, which has no chance")
    rows = drawn.reshape(-1, drawn.shape[-1]), chances.reshape(-1, chances.shape[-1])
    return (
        _rows_fit(*rows, share)
        and _uniform(np.concatenate([_transformed(d, c) for d, c in _with_noise(*rows)]), share)
        and passed(f"{drawn.size} draws; a distance of {seen:.2g} between distributions would have been seen")
    )


def follows(
    samples: Any, distribution: Distribution, *, false_reject: float = FALSE_REJECT, must_see: float = 0.25,
    step: float | None = None,
) -> Result:  # fmt: skip
    """`samples` are draws from a continuous distribution, given by its distribution function (of NumPy arrays).

    `tails.largest_gap` refuses honest samples with a probability of at most `false_reject` (at most 1e-6) a call.  What
    rounding may have moved counts for neither side: `step` is how far, by default the format's spacing at the larger of
    the sample and the samples' median size.  Only how values are spread is tested, not whether they repeat.
    Power: as `drawn_from`, for a distribution function that is `must_see` away, and a little more where steps are wide.
    """
    values = as_array(samples)
    if (~np.isfinite(values)).any():
        at = first(~np.isfinite(values))
        return refused(f"sample {list(at)} is {values[at]}")
    seen = _enough(values.size, tails.checked_rate(false_reject), must_see)
    ranked = np.sort(values.reshape(-1)).astype(np.float64)
    size = np.abs(ranked)
    moved = spacing(samples) * np.maximum(size, np.median(size)) if step is None else step
    chance = tails.largest_gap(
        np.asarray(distribution(ranked - moved)), np.asarray(distribution(ranked + moved)), ranked.size
    )
    if chance <= false_reject:
        return refused(f"samples are spread otherwise: chance alone does that with a probability of {chance:.1g}")
    return passed(f"{values.size} samples; a distance of {seen:.2g} between distributions would have been seen")


def normal(mean: float = 0.0, deviation: float = 1.0) -> Distribution:
    """The normal distribution function, for `follows`."""
    erf = np.frompyfunc(math.erf, 1, 1)
    return lambda x: (1 + np.asarray(erf((x - mean) / (deviation * math.sqrt(2))), np.float64)) / 2


def uniform(low: float = 0.0, high: float = 1.0) -> Distribution:
    """The uniform distribution function, for `follows`."""
    return lambda x: np.clip((x - low) / (high - low), 0.0, 1.0)


def _chances(weights: Array) -> Floats:
    weights = weights.astype(np.float64)
    total = weights.sum(-1, keepdims=True)
    if not weights.shape[-1] or not np.isfinite(weights).all() or (weights < 0).any() or (total <= 0).any():
        raise ValueError("weights have to be finite, at least 0, and not all 0 in a row")
    return np.asarray(weights / total)


def _enough(draws: int, false_reject: float, must_see: float) -> float:
    """The distance that so many draws show; `ValueError` where it is more than has to be seen."""
    seen = tails.seen_distance(draws, false_reject, FALSE_ACCEPT)
    if seen > must_see:
        needed = math.ceil(tails.seen_distance(1, false_reject, FALSE_ACCEPT) ** 2 / must_see**2)
        raise ValueError(f"{draws} draws are too few to see a distance of {must_see}: {needed} are needed")
    return seen


def _rows_fit(drawn: NDArray[Any], chances: Floats, false_reject: float) -> Result:
    if drawn.shape[1] == 1:
        return passed()
    for n, (row, own) in enumerate(zip(drawn, chances, strict=True)):
        chance = tails.multinomial(np.bincount(row, minlength=own.size), own) * len(drawn)
        if chance <= false_reject:
            return refused(
                f"row [{n}] has other frequencies: chance alone does that with a probability of {chance:.1g}"
            )
    return passed()


def _with_noise(drawn: NDArray[Any], chances: Floats) -> Any:
    # The same in each evaluation, so that a replay decides alike.
    random = np.random.default_rng(0x5EED)
    return [((row, random.random(row.size)), own) for row, own in zip(drawn, chances, strict=True)]


def _transformed(draws: tuple[NDArray[Any], Floats], chances: Floats) -> Floats:
    """Uniform on [0, 1] where the draws are honest."""
    row, noise = draws
    order = np.argsort(-chances, kind="stable")
    upto = np.empty(chances.size)
    upto[order] = np.cumsum(chances[order])
    return np.asarray(np.clip(upto[row] - noise * chances[row], 0.0, 1.0))


def _uniform(numbers: Floats, false_reject: float) -> Result:
    ranked = np.sort(numbers)
    if (chance := tails.largest_gap(ranked, ranked, ranked.size)) <= false_reject:
        return refused(f"all draws together fit other chances: with a probability of {chance:.1g} it is chance alone")
    cells = np.minimum((numbers * _LEVELS).astype(int), _LEVELS - 1)
    pairs = cells[: cells.size // 2 * 2].reshape(-1, 2) @ np.array([_LEVELS, 1])
    alike = np.full(_LEVELS**2, 1 / _LEVELS**2)
    if (chance := tails.multinomial(np.bincount(pairs, minlength=_LEVELS**2), alike)) <= false_reject:
        return refused(f"neighbouring draws depend on each other: chance alone does that with {chance:.1g}")
    return passed()
