"""How far reviewers agree: Krippendorff's alpha for ordered levels, with a bootstrap interval.

K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): alpha = 1 - D_o / D_e over all pairs of values
of a unit, with the ordinal distance between two levels (the values between them, each end counted half, squared).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

UNITS_MIN = 10  # units with two values or more, below which an interval says more than a number
RESAMPLES, LEVEL = 400, 0.95


@dataclass(frozen=True)
class Agreement:
    """Of `units` that two people or more judged.

    `alpha` is 1 for perfect agreement, 0 for what chance would give, negative for less; `None` where there are fewer
    than `UNITS_MIN` units, or where all values are one, which no disagreement can be expected of.
    """

    units: int
    alpha: float | None
    low: float | None = None
    high: float | None = None


def agreement(units: Sequence[Sequence[int]], seed: int = 0) -> Agreement:
    """Of one value per person and unit; units with a single value say nothing and are left out."""
    paired = [tuple(unit) for unit in units if len(unit) > 1]
    if len(paired) < UNITS_MIN:
        return Agreement(len(paired), None)
    found = alpha(paired)
    if found is None:
        return Agreement(len(paired), None)
    draw = random.Random(seed)  # noqa: S311 - resampling, and the same figure each time
    drawn = (alpha(draw.choices(paired, k=len(paired))) for _ in range(RESAMPLES))
    spread = sorted(value for value in drawn if value is not None)
    tail = (1 - LEVEL) / 2
    low, high = (spread[min(len(spread) - 1, int(share * len(spread)))] for share in (tail, 1 - tail))
    return Agreement(len(paired), found, low, high)


def alpha(units: Sequence[Sequence[int]]) -> float | None:
    """Ordinal alpha of units with two values or more each; `None` where all values are the same."""
    weights: dict[tuple[int, int], float] = {}
    for unit in units:
        for i, a in enumerate(unit):
            for j, b in enumerate(unit):
                if i != j:
                    weights[a, b] = weights.get((a, b), 0.0) + 1 / (len(unit) - 1)
    totals: dict[int, float] = {}
    for (a, _), weight in weights.items():
        totals[a] = totals.get(a, 0.0) + weight
    if len(totals) < 2:
        return None
    distance = {(a, b): _distance(a, b, totals) for a in totals for b in totals}
    count = sum(totals.values())
    observed = sum(weight * distance[pair] for pair, weight in weights.items())
    expected = sum(totals[a] * totals[b] * distance[a, b] for a in totals for b in totals)
    return 1 - (count - 1) * observed / expected


def _distance(a: int, b: int, totals: dict[int, float]) -> float:
    low, high = min(a, b), max(a, b)
    between = sum(weight for value, weight in totals.items() if low <= value <= high)
    return (between - (totals[a] + totals[b]) / 2) ** 2
