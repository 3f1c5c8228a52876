"""Adds up measured pieces into one result, in memory for a thousandth of its elements at most."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.named_rules import RuleTally
from workers.judge.numerics.decision import Decided
from workers.judge.numerics.formats import Floats, Mask
from workers.judge.numerics.measure import Measured
from workers.judge.numerics.statistics import FINE, ErrorMap, ErrorOctaves, Sums, fine_histogram

WORST = 20
CANDIDATE, REFERENCE = 0, 1


class Largest:
    """The `keep` largest values above `floor` of a stream with their flat indices; ties: the earlier."""

    def __init__(self, keep: int, floor: float) -> None:
        self._keep, self.floor = keep, floor
        self._values: list[Floats] = []
        self._indices: list[NDArray[np.int64]] = []
        self._held = 0

    def add(self, start: int, values: Floats) -> None:
        """Take in a piece that begins at flat index `start`; pieces come in ascending order."""
        chosen = np.flatnonzero(values > self.floor)
        self.add_found(values[chosen], chosen + start)

    def add_found(self, values: Floats, indices: NDArray[np.int64]) -> None:
        """Take in values above `floor` and their flat indices; arrays of its own."""
        if not values.size:
            return
        self._values.append(values)
        self._indices.append(indices)
        self._held += values.size
        if self._held > 2 * self._keep + WORST:
            self._prune()

    def _prune(self) -> None:
        values, indices = np.concatenate(self._values), np.concatenate(self._indices)
        if values.size > self._keep:
            bound = np.partition(values, values.size - self._keep)[values.size - self._keep]
            above = np.flatnonzero(values > bound)
            equal = np.flatnonzero(values == bound)[: self._keep - above.size]
            chosen = np.sort(np.concatenate([above, equal]))
            values, indices, self.floor = values[chosen], indices[chosen], float(bound)
        self._values, self._indices, self._held = [values], [indices], values.size

    def merge(self, later: Largest) -> None:
        """Take in what another found behind all that came here."""
        self._values += later._values
        self._indices += later._indices
        self._held += later._held
        if self._values:
            self._prune()

    def sorted(self) -> tuple[Floats, NDArray[np.int64]]:
        """Values in descending order and their indices."""
        if not self._values:
            return np.empty(0), np.empty(0, np.int64)
        self._prune()
        order = np.lexsort((self._indices[0], -self._values[0]))
        return self._values[0][order], self._indices[0][order]


class Tally:
    """Counts, maxima, histograms and the worst elements of one output, or of a part of it."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        elements = math.prod(shape)
        self.elements = 0
        self.mismatched = self.nan_mismatch = self.inf_mismatch = 0
        self.by_ulp = self.by_reference = False
        self.max_abs = self.max_rel = self.max_ulp = self.budget_ratio = 0.0
        self.reference_max_ulp: float | None = None
        self.fine = np.zeros((2, FINE + 1), np.int64)  # of candidate and reference
        self.sums, self.map, self.rules = Sums(), ErrorMap(shape), RuleTally(dtype)
        self.octaves = ErrorOctaves()
        self.least_allowed, self.most_allowed = math.inf, -math.inf
        self.top = Largest(elements - math.ceil(0.999 * elements) + 1, -1.0)
        self.worst = Largest(WORST, 0.0)

    def add(self, start: int, measured: Measured, decided: Decided) -> None:
        """Take in the piece that begins at flat index `start`."""
        specials = measured.specials
        self.elements += decided.ok.size
        self.mismatched += decided.ok.size - int(np.count_nonzero(decided.ok))
        self.by_ulp |= decided.by_ulp
        self.by_reference |= decided.by_reference
        self.budget_ratio = max(self.budget_ratio, decided.budget_ratio)
        self.max_abs = max(self.max_abs, float(measured.error.max()))
        self.max_rel = max(self.max_rel, _largest_relative(measured))
        self.max_ulp = max(self.max_ulp, float(measured.ulp.max()))
        self.fine[CANDIDATE] += fine_histogram(measured.ulp)
        self.octaves.add(CANDIDATE, _infinite(measured.error, None if specials is None else specials.bad))
        self.sums.add(measured.error, measured.magnitude, measured.signed)
        self.map.add(start, measured.ulp)
        self.top.add(start, measured.ulp)
        self.worst.add(start, decided.severity)
        self._add_allowed(decided.allowance, None if specials is None else specials.numeric)
        self._add_specials(measured)
        self._add_reference(measured)

    def _add_allowed(self, allowance: Floats | None, applies: Mask | None) -> None:
        if allowance is not None:
            applied = allowance if applies is None else allowance[applies]
            self.least_allowed = min(self.least_allowed, float(applied.min(initial=math.inf)))
            self.most_allowed = max(self.most_allowed, float(applied.max(initial=-math.inf)))

    def _add_specials(self, measured: Measured) -> None:
        if measured.specials is not None:
            self.nan_mismatch += int(np.count_nonzero(measured.specials.nan_bad))
            self.inf_mismatch += int(np.count_nonzero(measured.specials.inf_bad))

    def _add_reference(self, measured: Measured) -> None:
        if measured.reference_ulp is not None:
            largest = float(measured.reference_ulp.max())
            self.reference_max_ulp = max(self.reference_max_ulp or 0.0, largest)
            self.fine[REFERENCE] += fine_histogram(measured.reference_ulp)
        if measured.reference_error is not None:
            bad = None if measured.specials is None else measured.specials.reference_bad
            self.octaves.add(REFERENCE, _infinite(measured.reference_error, bad))

    def merge(self, later: Tally) -> None:
        """Take in the tally of the elements that follow."""
        for name in ("elements", "mismatched", "nan_mismatch", "inf_mismatch", "fine"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name in ("by_ulp", "by_reference", "max_abs", "max_rel", "max_ulp", "budget_ratio"):
            setattr(self, name, max(getattr(self, name), getattr(later, name)))
        if later.reference_max_ulp is not None:
            self.reference_max_ulp = max(self.reference_max_ulp or 0.0, later.reference_max_ulp)
        self.least_allowed = min(self.least_allowed, later.least_allowed)
        self.most_allowed = max(self.most_allowed, later.most_allowed)
        self.octaves.merge(later.octaves)
        self.sums.merge(later.sums)
        self.map.merge(later.map)
        self.rules.merge(later.rules)
        self.top.merge(later.top)
        self.worst.merge(later.worst)

    def allowed(self) -> tuple[float, ...]:
        """The least and the most that the rule allowed where it applied."""
        return (self.least_allowed, self.most_allowed) if self.least_allowed <= self.most_allowed else ()

    def p999_ulp(self) -> float:
        """The smallest ulp distance that at least 99.9 % of the elements do not exceed (nearest rank)."""
        values, _ = self.top.sorted()
        return float(values[-1]) if values.size else 0.0


def _infinite(error: Floats, bad: Mask | None) -> Floats:
    return error if bad is None else np.where(bad, np.inf, error)


def _largest_relative(measured: Measured) -> float:
    """0 where the truth is 0."""
    relative: Floats = measured.error / measured.magnitude
    largest = float(relative.max())
    if not math.isfinite(largest):
        largest = float(relative[measured.magnitude > 0].max(initial=0.0))
    return largest
