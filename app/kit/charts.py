"""Geometry of the server-drawn charts: plain numbers that an SVG macro places, with the same facts as a table.

Every chart can be read without colour: the candidate is solid, the reference an outline.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LAST_BIN = 63


@dataclass(frozen=True)
class Bar:
    """One bin; heights are pixels from the base line, zero for an empty bin."""

    label: str
    x: float
    candidate: int
    reference: int | None
    candidate_height: float
    reference_height: float


@dataclass(frozen=True)
class Tick:
    label: str
    at: float


@dataclass(frozen=True)
class Histogram:
    width: int
    height: int
    base: float
    bar_width: float
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[Tick, ...]
    has_reference: bool

    @property
    def rows(self) -> tuple[Bar, ...]:
        """The bins that hold anything, for the table."""
        return tuple(bar for bar in self.bars if bar.candidate or bar.reference)


def bin_label(index: int) -> str:
    """What bin `index` of a report's ULP histogram counts."""
    if index == 0:
        return "exact"
    if index == LAST_BIN:
        return "special or \u2265 2\u2076\u00b2"
    low, high = 2 ** (index - 1), 2**index
    return f"{_power(low)}\u2013{_power(high)}" if index > 1 else "under 2"


def _power(value: int) -> str:
    return str(value) if value <= 4096 else f"2^{value.bit_length() - 1}"


def ulp_histogram(
    candidate: Sequence[int], reference: Sequence[int] = (), *, width: int = 420, height: int = 132
) -> Histogram | None:
    """Bars for the bins in use, counts on a log scale; None when nothing was counted."""
    used = [n for n in range(len(candidate)) if candidate[n] or (reference and reference[n])]
    if not used:
        return None
    bins = list(range(max((u for u in used if u != LAST_BIN), default=0) + 1))
    bins += [LAST_BIN] if LAST_BIN in used else []
    base, left = height - 18.0, 34.0
    step = min(46.0, (width - left - 20.0) / len(bins))
    top = max(*candidate, *reference)
    bars = tuple(
        Bar(
            bin_label(n),
            round(left + i * step, 1),
            candidate[n],
            reference[n] if reference else None,
            _log_height(candidate[n], top, base),
            _log_height(reference[n], top, base) if reference else 0.0,
        )
        for i, n in enumerate(bins)
    )
    return Histogram(
        width, height, base, round(step * 0.42, 1), bars, _decades(top, base), _marks(bins, left, step), bool(reference)
    )


def _marks(bins: Sequence[int], left: float, step: float) -> tuple[Tick, ...]:
    """Lower edges, six or so of them: under the first bin, the last, and some between."""
    stride = max(1, round(len(bins) / 6))
    crowded = len(bins) - 2 if bins[-1] == LAST_BIN else len(bins)
    shown = [(i, n) for i, n in enumerate(bins) if i == 0 or n == LAST_BIN or (i % stride == 0 and i < crowded)]
    names = {0: "0", LAST_BIN: "special"}
    return tuple(
        Tick(names.get(n, _power(2 ** max(n - 1, 0))), round(left + i * step + step * 0.42, 1)) for i, n in shown
    )


def _log_height(count: int, top: int, base: float) -> float:
    """One element stays visible: the scale starts below one, at a tenth of a decade."""
    if count <= 0:
        return 0.0
    return round((math.log10(count) + 0.3) / (math.log10(max(top, 1)) + 0.3) * (base - 10), 1)


def _decades(top: int, base: float) -> tuple[Tick, ...]:
    last = int(math.log10(max(top, 1)))
    stride = max(1, math.ceil((last + 1) / 4))
    return tuple(
        Tick(_decade_label(d), round(base - _log_height(10**d, top, base), 1)) for d in range(0, last + 1, stride)
    )


def _decade_label(decade: int) -> str:
    return ("1", "10", "100", "1k", "10k", "100k", "1M", "10M", "100M", "1G")[min(decade, 9)]


_RATIOS = (0.01, 0.1, 0.25, 0.5, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)


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
