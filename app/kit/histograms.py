"""Geometry of the error histograms: counts by powers of two on two log axes, and where the tolerance lies.

Every chart can be read without colour: the candidate is solid, the reference an outline, the tolerance a dashed line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.kit.charts import Tick
from app.kit.figures import power_of_ten, significant

LAST_BIN = 63
ROOM_BINS = 14  # empty bins that may be drawn to bring the tolerance into the picture
WIDTH, HEIGHT = 430, 156
LEFT, TOP, FOOT = 34.0, 26.0, 18.0
GAP = 0.7  # of a bin, where the axis is broken


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
class Limit:
    """The tolerance: a line at `x`, and a band up to `x_high` where it depends on the element."""

    label: str
    x: float
    x_high: float
    anchor: str


@dataclass(frozen=True)
class Histogram:
    """`bars`: the bins that hold anything, from left to right."""

    width: int
    height: int
    base: float
    top: float
    bar_width: float
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[Tick, ...]
    has_reference: bool
    limit: Limit | None
    unit: str


@dataclass(frozen=True)
class _Axis:
    """The bins that are drawn: bin 0 and the special one stand apart from the octaves between."""

    first: int
    last: int
    has_zero: bool
    has_special: bool
    step: float

    @property
    def start(self) -> float:
        return LEFT + (self.step * (1 + GAP) if self.has_zero else 0.0)

    @property
    def end(self) -> float:
        return self.start + (self.last + 1 - self.first) * self.step

    def x_of_bin(self, n: int) -> float:
        if n == 0:
            return LEFT
        return round(self.end + GAP * self.step if n == LAST_BIN else self.x_of(n), 1)

    def x_of(self, place: float) -> float:
        """`place` counts bins: n at the lower edge of bin n.  What lies outside is put at the edge."""
        return round(min(max(self.start + (place - self.first) * self.step, self.start), self.end), 1)


def ulp_histogram(
    candidate: Sequence[int], reference: Sequence[int] = (), allowed: float | None = None
) -> Histogram | None:
    """ULP distances; None when nothing was counted.  `allowed`: what `max_ulp` allows."""
    limit = (allowed, allowed) if allowed else ()
    return _histogram(candidate, reference, limit, _Scale("ULP", 0, ulp_label, _ulp_marks))


def error_histogram(
    candidate: Sequence[int], reference: Sequence[int], exponent: int, allowed: Sequence[float] = ()
) -> Histogram | None:
    """Absolute errors: bin 0 below 2**exponent.  `allowed`: the least and the largest error that the rule allows."""

    def label(n: int) -> str:
        return error_label(n, exponent)

    def marks(axis: _Axis) -> tuple[Tick, ...]:
        return _decade_marks(axis, exponent)

    limit = tuple(a for a in allowed if 0 < a < math.inf)
    return _histogram(candidate, reference, limit, _Scale("absolute error", exponent, label, marks))


def ulp_label(index: int) -> str:
    """What bin `index` of a report's ULP histogram counts."""
    if index == 0:
        return "under 1"
    if index == LAST_BIN:
        return "special or \u2265 2\u2076\u00b2"
    return f"{_power(index - 1)}\u2013{_power(index)}"


def error_label(index: int, exponent: int) -> str:
    """What bin `index` of a report's histogram of absolute errors counts."""
    if index == 0:
        return f"under {significant(math.ldexp(1.0, exponent))}"
    if index == LAST_BIN:
        return "special"
    low, high = (significant(_ldexp(exponent + index + k)) for k in (-1, 0))
    return f"{low}\u2013{high}"


def _ldexp(exponent: int) -> float:
    return math.ldexp(1.0, exponent) if exponent < 1024 else math.inf


def _power(exponent: int) -> str:
    return str(2**exponent) if exponent <= 12 else f"2^{exponent}"


@dataclass(frozen=True)
class _Scale:
    """What the bins of a histogram mean: bin 0 ends at 2**exponent of the unit."""

    unit: str
    exponent: int
    label: Callable[[int], str]
    marks: Callable[[_Axis], tuple[Tick, ...]]


def _histogram(
    candidate: Sequence[int], reference: Sequence[int], allowed: Sequence[float], scale: _Scale
) -> Histogram | None:
    used = [n for n in range(len(candidate)) if candidate[n] or (reference and reference[n])]
    if not used:
        return None
    places = [math.log2(a) - scale.exponent + 1 for a in allowed]
    axis = _axis(used, places)
    base, top = HEIGHT - FOOT, max(*candidate, *reference)
    bars = tuple(
        Bar(
            scale.label(n),
            axis.x_of_bin(n),
            candidate[n],
            reference[n] if reference else None,
            _log_height(candidate[n], top, base),
            _log_height(reference[n], top, base) if reference else 0.0,
        )
        for n in used
    )
    return Histogram(
        WIDTH, HEIGHT, base, TOP, round(axis.step * 0.42, 1), bars, _count_ticks(top, base), scale.marks(axis),
        bool(reference), _limit(axis, places, allowed, scale.unit), scale.unit,
    )  # fmt: skip


def _axis(used: Sequence[int], places: Sequence[float]) -> _Axis:
    """The octaves in use, widened to show the tolerance where it is not far away."""
    octaves = [n for n in used if 0 < n < LAST_BIN]
    # Without any octave the tolerance alone says where we are; bin 1 where there is none.
    near = [math.floor(p) for p in places] or [1]
    first, last = (min(octaves), max(octaves)) if octaves else (near[0], near[-1])
    for n in near:
        first = n if first - ROOM_BINS <= n < first else first
        last = n if last < n <= last + ROOM_BINS else last
    first = max(1, first) if octaves else first
    has_zero, has_special = 0 in used, LAST_BIN in used
    slots = last + 1 - first + (1 + GAP) * (has_zero + has_special)
    return _Axis(first, last, has_zero, has_special, min(40.0, (WIDTH - LEFT - 20.0) / slots))


def _limit(axis: _Axis, places: Sequence[float], allowed: Sequence[float], unit: str) -> Limit | None:
    if not places:
        return None
    low, high = min(allowed), max(allowed)
    numbers = (
        significant(low) if significant(low) == significant(high) else f"{significant(low)} to {significant(high)}"
    )
    x, x_high = axis.x_of(min(places)), axis.x_of(max(places))
    side = "\u2190 " if max(places) < axis.first else ""
    beyond = " \u2192" if min(places) > axis.last + 1 else ""
    label = f"{side}allowed {numbers}{' ULP' if unit == 'ULP' else ''}{beyond}"
    return Limit(label, x, x_high, "end" if x > (axis.start + axis.end) / 2 else "start")


def _ulp_marks(axis: _Axis) -> tuple[Tick, ...]:
    stride = max(1, math.ceil((axis.last + 1 - axis.first) * 34 / max(axis.end - axis.start, 1)))
    edges = range(axis.first, axis.last + 2, stride)
    return _with_ends(axis, "<1", [Tick(_power(n - 1), axis.x_of(n)) for n in edges])


def _decade_marks(axis: _Axis, exponent: int) -> tuple[Tick, ...]:
    low, high = ((exponent + n - 1) * math.log10(2) for n in (axis.first, axis.last + 1))
    decades = range(math.ceil(low), math.floor(high) + 1)
    stride = max(1, math.ceil(len(decades) * 34 / max(axis.end - axis.start, 1)))
    places = ((d, d / math.log10(2) - exponent + 1) for d in decades[::stride])
    return _with_ends(axis, "less", [Tick(power_of_ten(d), axis.x_of(place)) for d, place in places])


def _with_ends(axis: _Axis, zero: str, marks: Sequence[Tick]) -> tuple[Tick, ...]:
    """The marks, and what stands under the two bins that are no octaves; a mark that would touch those gives way."""
    middle = axis.step * 0.42
    ends = [Tick(zero, round(LEFT + middle, 1))] if axis.has_zero else []
    ends += [Tick("special", round(axis.x_of_bin(LAST_BIN) + middle, 1))] if axis.has_special else []
    apart = [mark for mark in marks if all(abs(mark.at - end.at) > 3.2 * (len(end.label) + 2) for end in ends)]
    return (*ends, *apart)


def _log_height(count: int, top: int, base: float) -> float:
    """One element stays visible: the scale starts below one, at a third of a decade."""
    if count <= 0:
        return 0.0
    return round((math.log10(count) + 0.3) / (math.log10(max(top, 1)) + 0.3) * (base - TOP), 1)


def _count_ticks(top: int, base: float) -> tuple[Tick, ...]:
    last = int(math.log10(max(top, 1)))
    stride = max(1, math.ceil((last + 1) / 4))
    return tuple(
        Tick(_decade_label(d), round(base - _log_height(10**d, top, base), 1)) for d in range(0, last + 1, stride)
    )


def _decade_label(decade: int) -> str:
    return ("1", "10", "100", "1k", "10k", "100k", "1M", "10M", "100M", "1G")[min(decade, 9)]
