"""Adds up measured pieces into one result, in memory for a thousandth of its elements at most."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.decision import Decided
from workers.judge.numerics.formats import Floats
from workers.judge.numerics.measure import Measured
from workers.judge.numerics.ulp import BINS, histogram

WORST = 20


class Largest:
    """The `keep` largest values above `floor` of a stream with their flat indices; ties: the earlier."""

    def __init__(self, keep: int, floor: float) -> None:
        self._keep, self._floor = keep, floor
        self._values: list[Floats] = []
        self._indices: list[NDArray[np.int64]] = []
        self._held = 0

    def add(self, start: int, values: Floats) -> None:
        """Take in a piece that begins at flat index `start`; pieces come in ascending order."""
        chosen = np.flatnonzero(values > self._floor)
        if chosen.size == 0:
            return
        self._values.append(values[chosen])
        self._indices.append(chosen + start)
        self._held += chosen.size
        if self._held > 2 * self._keep + WORST:
            self._prune()

    def _prune(self) -> None:
        values, indices = np.concatenate(self._values), np.concatenate(self._indices)
        if values.size > self._keep:
            bound = np.partition(values, values.size - self._keep)[values.size - self._keep]
            above = np.flatnonzero(values > bound)
            equal = np.flatnonzero(values == bound)[: self._keep - above.size]
            chosen = np.sort(np.concatenate([above, equal]))
            values, indices, self._floor = values[chosen], indices[chosen], float(bound)
        self._values, self._indices, self._held = [values], [indices], values.size

    def sorted(self) -> tuple[Floats, NDArray[np.int64]]:
        """Values in descending order and their indices."""
        if not self._values:
            return np.empty(0), np.empty(0, np.int64)
        self._prune()
        order = np.lexsort((self._indices[0], -self._values[0]))
        return self._values[0][order], self._indices[0][order]


class Tally:
    """Counts, maxima, histograms and the worst elements of one output of `elements` elements."""

    def __init__(self, elements: int) -> None:
        self.mismatched = self.nan_mismatch = self.inf_mismatch = 0
        self.by_ulp = self.by_reference = False
        self.max_abs = self.max_rel = self.max_ulp = self.budget_ratio = 0.0
        self.reference_max_ulp: float | None = None
        self.histogram = np.zeros(BINS, np.int64)
        self.reference_histogram = np.zeros(BINS, np.int64)
        self._top = Largest(elements - math.ceil(0.999 * elements) + 1, -1.0)
        self.worst = Largest(WORST, 0.0)

    def add(self, start: int, measured: Measured, decided: Decided) -> None:
        """Take in the piece that begins at flat index `start`."""
        self.mismatched += decided.ok.size - int(np.count_nonzero(decided.ok))
        self.by_ulp |= decided.by_ulp
        self.by_reference |= decided.by_reference
        self.budget_ratio = max(self.budget_ratio, decided.budget_ratio)
        self.max_abs = max(self.max_abs, float(measured.error.max()))
        divisor = np.where(measured.magnitude > 0, measured.magnitude, np.inf)
        self.max_rel = max(self.max_rel, float((measured.error / divisor).max()))
        self.max_ulp = max(self.max_ulp, float(measured.ulp.max()))
        self.histogram += histogram(measured.ulp)
        self._top.add(start, measured.ulp)
        self.worst.add(start, decided.severity)
        self._add_specials(measured)
        self._add_reference(measured)

    def _add_specials(self, measured: Measured) -> None:
        if measured.specials is not None:
            self.nan_mismatch += int(np.count_nonzero(measured.specials.nan_bad))
            self.inf_mismatch += int(np.count_nonzero(measured.specials.inf_bad))

    def _add_reference(self, measured: Measured) -> None:
        if measured.reference_ulp is not None:
            largest = float(measured.reference_ulp.max())
            self.reference_max_ulp = max(self.reference_max_ulp or 0.0, largest)
            self.reference_histogram += histogram(measured.reference_ulp)

    def p999_ulp(self) -> float:
        """The smallest ulp distance that at least 99.9 % of the elements do not exceed (nearest rank)."""
        values, _ = self._top.sorted()
        return float(values[-1]) if values.size else 0.0
