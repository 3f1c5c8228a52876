"""Workloads that the judge draws itself, from the ranges of a task's `[contract] axes`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np

from app.domain.task import Axis, Workload

# Inputs and answer together, as the base workload's grow: what an interpreter gets through in seconds.
MOST_BYTES = 1 << 20
TILES = (16, 32, 64, 128, 256, 512, 1024)

Pick = Callable[[int, int, np.random.Generator], int]  # from a range of multiples, both ends included


def drawn_workloads(
    base: Workload, axes: Mapping[str, Axis], bytes_of_base: int, seed: int
) -> tuple[list[Workload], list[str]]:
    """`base` on other shapes, and what is not drawn of the contract, in words.

    Each workload takes one of the kinds below on every axis at once; over all of them each axis has each kind.
    """
    random, here = np.random.default_rng(seed), {n: a for n, a in axes.items() if n in base.params}
    own = {name: int(base.params[name]) for name in here}
    ranges = {name: _affordable(axis, own[name], bytes_of_base) for name, axis in here.items()}
    seen, drawn = [own], []
    shifts = {name: int(random.integers(len(KINDS))) if n else 0 for n, name in enumerate(ranges)}
    for turn in range(len(KINDS)):
        values = {
            name: axis.multiple_of * KINDS[(turn + shifts[name]) % len(KINDS)](low, high, random)
            for name, (axis, low, high) in ranges.items()
        }
        _shrink(values, own, ranges, bytes_of_base)
        if values and values not in seen:
            seen.append(values)
            drawn.append(_workload(base, values))
    return drawn, [_left_out(name, *ranges[name]) for name in ranges if _is_cut(*ranges[name])]


def one_axis_at_a_time(base: Workload, drawn: Workload) -> list[Workload]:
    """What `drawn` changes of `base`, each alone: axes that depend on each other (k <= columns) seldom fit together."""
    changed = {name: value for name, value in drawn.params.items() if value != base.params[name]}
    return [_workload(base, {name: value}) for name, value in changed.items()] if len(changed) > 1 else []


def _workload(base: Workload, values: Mapping[str, int]) -> Workload:
    told = ", ".join(f"{name}={value}" for name, value in values.items())
    return dataclasses.replace(
        base, name=f"{base.name}, {told}", params={**base.params, **values}, uses=("correctness",), drawn=True
    )


def _smallest(low: int, _high: int, _: np.random.Generator) -> int:
    return low


def _one(low: int, high: int, _: np.random.Generator) -> int:
    return min(max(low, 1), high)


def _prime(low: int, high: int, random: np.random.Generator) -> int:
    """Not among the very small ones, where there are others."""
    found = [n for n in _log_spaced(max(low, min(high, 17)), high, random) if _is_prime(n)]
    return found[0] if found else _any(low, high, random)


def _below_tile(low: int, high: int, random: np.random.Generator) -> int:
    return _near_tile(low, high, -1, random)


def _above_tile(low: int, high: int, random: np.random.Generator) -> int:
    return _near_tile(low, high, 1, random)


def _largest(_low: int, high: int, _: np.random.Generator) -> int:
    return high


KINDS: tuple[Pick, ...] = (_smallest, _one, _prime, _below_tile, _above_tile, _largest)


def _near_tile(low: int, high: int, step: int, random: np.random.Generator) -> int:
    fitting = [tile + step for tile in TILES if low <= tile + step <= high]
    return int(random.choice(fitting)) if fitting else _any(low, high, random)


def _any(low: int, high: int, random: np.random.Generator) -> int:
    return int(random.integers(low, high, endpoint=True))


def _log_spaced(low: int, high: int, random: np.random.Generator, tries: int = 400) -> list[int]:
    """Small and large numbers alike."""
    spread = np.exp(random.uniform(math.log(max(low, 1)), math.log(max(high, 1) + 1), tries))
    return [n for n in spread.astype(np.int64).tolist() if low <= n <= high]


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


Range = tuple[Axis, int, int]  # an axis, and its first and last multiple that are drawn from


def _affordable(axis: Axis, own: int, bytes_of_base: int) -> Range:
    """The axis with the other ones as in the base workload; the base itself is always affordable."""
    low, high = -(-axis.min // axis.multiple_of), axis.max // axis.multiple_of
    most = max(own, own * MOST_BYTES // max(1, bytes_of_base)) // axis.multiple_of
    return axis, low, max(low, min(high, most))


def _is_cut(axis: Axis, _low: int, high: int) -> bool:
    return high < axis.max // axis.multiple_of


def _left_out(name: str, axis: Axis, _low: int, high: int) -> str:
    largest = axis.max // axis.multiple_of * axis.multiple_of
    return f"`{name}` above {high * axis.multiple_of}: the contract allows {largest}, which is too much to draw here"


def _shrink(values: dict[str, int], own: Mapping[str, int], ranges: Mapping[str, Range], bytes_of_base: int) -> None:
    """Halve the axis that has grown most, until all of them together are affordable."""
    while values and bytes_of_base * math.prod(values[n] / max(1, own[n]) for n in values) > MOST_BYTES:
        name = max(values, key=lambda n: values[n] / max(1, own[n]))
        axis, low, _ = ranges[name]
        smaller = max(low, values[name] // axis.multiple_of // 2) * axis.multiple_of
        if smaller == values[name] or values[name] <= own[name]:
            return
        values[name] = smaller
