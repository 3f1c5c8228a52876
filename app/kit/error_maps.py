"""An error map as squares that grow with the error, so that it can be read without colour; and as letters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

CELL = 9  # pixels
COLUMNS_MAX = 32
SPECIAL = 63.0  # log2 of ulp; from here on a NaN or an infinity that should not be there, or the reverse


@dataclass(frozen=True)
class Level:
    """Errors below 2**`below` ulp; `side`: of the square, in pixels."""

    title: str
    letter: str
    below: float
    side: float


EDGES = (0, 2, 5, 10)  # log2 of ulp
LETTERS, SIDES = ".-+*#", (2.0, 3.5, 5.0, 7.0, 8.6)
MISMATCH = Level("special mismatch", "X", math.inf, 8.6)


@dataclass(frozen=True)
class Layer:
    """All cells of one level as one SVG path; `is_crossed`: drawn as crosses, not as squares."""

    level: Level
    path: str
    sample: str
    count: int

    @property
    def is_crossed(self) -> bool:
        return self.level is MISMATCH


@dataclass(frozen=True)
class ErrorMap:
    width: int
    height: int
    layers: tuple[Layer, ...]
    lines: tuple[str, ...]

    @property
    def legend(self) -> str:
        return ", ".join(f"{layer.level.letter} {layer.level.title}" for layer in self.layers)


def error_map(cells: Sequence[Sequence[float]]) -> ErrorMap | None:
    """`cells`: log2 of the largest ulp distance in each; one long line is folded into rows."""
    rows = _folded(cells)
    if not rows:
        return None
    scale = (*_scale([value for row in rows for value in row if value < SPECIAL]), MISMATCH)
    levels = [[_level(value, scale) for value in row] for row in rows]
    layers = tuple(layer for level in scale if (layer := _layer(level, levels)))
    lines = tuple("".join(level.letter for level in row) for row in levels)
    return ErrorMap(CELL * max(map(len, rows)), CELL * len(rows), layers, lines)


def _folded(cells: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    if len(cells) == 1 and len(cells[0]) > COLUMNS_MAX:
        line = cells[0]
        return [line[n : n + COLUMNS_MAX] for n in range(0, len(line), COLUMNS_MAX)]
    return [row for row in cells if row]


def _scale(values: Sequence[float]) -> list[Level]:
    """Five levels: the usual ones, or spread evenly where errors go far beyond them."""
    low, high = math.floor(min(values, default=0)), math.floor(max(values, default=0)) + 1
    edges: Sequence[int] = EDGES
    if high > EDGES[-1] + 2:
        low = max(low, 0)
        edges = tuple(low + (high - low) * n // 5 for n in range(1, 5))
    titles = [f"{_power(a)} to {_power(b)}" for a, b in itertools.pairwise(edges)]
    titles = [f"under {_power(edges[0])} ULP", *titles, f"{_power(edges[-1])} and more"]
    return [Level(*made) for made in zip(titles, LETTERS, (*edges, SPECIAL), SIDES, strict=True)]


def _power(exponent: int) -> str:
    return str(2**exponent) if exponent <= 12 else f"2^{exponent}"


def _level(value: float, scale: Sequence[Level]) -> Level:
    return next((level for level in scale if value < level.below), MISMATCH)


def _layer(level: Level, levels: Sequence[Sequence[Level]]) -> Layer | None:
    at = [(x, y) for y, row in enumerate(levels) for x, found in enumerate(row) if found is level]
    return Layer(level, "".join(_shape(level, x, y) for x, y in at), _shape(level, 0, 0), len(at)) if at else None


def _shape(level: Level, x: int, y: int) -> str:
    margin = (CELL - level.side) / 2
    left, top, side = round(x * CELL + margin, 1), round(y * CELL + margin, 1), level.side
    if level is MISMATCH:
        return f"M{left} {top}l{side} {side}m0 -{side}l-{side} {side}"
    return f"M{left} {top}h{side}v{side}h-{side}z"
