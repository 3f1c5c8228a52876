"""Geometry of the server-drawn charts: plain numbers that an SVG macro places, with the same facts as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_RATIOS = (0.01, 0.1, 0.25, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Tick:
    label: str
    at: float


@dataclass(frozen=True)
class IntervalRow:
    """One workload's speed-up with its interval, in pixels; `reads` says the sign in words."""

    name: str
    value: float
    low: float
    high: float
    x: float
    x_low: float
    x_high: float
    y: float
    reads: str


@dataclass(frozen=True)
class IntervalPlot:
    width: int
    height: int
    one: float
    rows: tuple[IntervalRow, ...]
    ticks: tuple[Tick, ...]


def speedup_plot(workloads: Sequence[Mapping[str, Any]], *, width: int = 420) -> IntervalPlot | None:
    """Speed-ups on a log axis around 1; workloads without an interval are left out."""
    measured = [w for w in workloads if w.get("speedup") and w.get("speedup_interval")]
    if not measured:
        return None
    ends = [end for w in measured for end in (*w["speedup_interval"], 1.0)]
    low, high = math.log2(min(ends)) - 0.2, math.log2(max(ends)) + 0.2
    left, right = 110.0, width - 12.0

    def x(value: float) -> float:
        return round(left + (math.log2(value) - low) / (high - low) * (right - left), 1)

    rows = tuple(_interval_row(w, x, 14.0 + 22.0 * n) for n, w in enumerate(measured))
    ticks = tuple(Tick(f"{t:g}\u00d7", x(t)) for t in _RATIOS if low <= math.log2(t) <= high)
    return IntervalPlot(width, 22 * len(rows) + 26, x(1.0), rows, ticks)


def _interval_row(workload: Mapping[str, Any], x: Any, y: float) -> IntervalRow:
    low, high = workload["speedup_interval"]
    reads = "faster" if low > 1 else "slower" if high < 1 else "no difference shown"
    value = workload["speedup"]
    return IntervalRow(str(workload.get("name", "")), value, low, high, x(value), x(low), x(high), y, reads)


GAUGE_DECADES = 3.0


@dataclass(frozen=True)
class Gauge:
    """A ratio on a log scale from a thousandth to a thousand, with 1 in the middle."""

    width: int
    one: float
    x: float


def gauge(ratio: float | None, *, width: int = 64) -> Gauge | None:
    """None without a ratio; what lies beyond the scale is put at its end."""
    if ratio is None or math.isnan(ratio):
        return None
    decades = math.log10(ratio) if 0 < ratio < math.inf else math.copysign(GAUGE_DECADES, ratio - 1)
    place = min(max(decades, -GAUGE_DECADES), GAUGE_DECADES) / GAUGE_DECADES
    return Gauge(width, width / 2, round(width / 2 * (1 + place), 1))
