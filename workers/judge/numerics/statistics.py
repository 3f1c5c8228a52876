"""What is said of an error distribution beside its maxima: quantiles, norm, bias, and where it lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.formats import Floats
from workers.judge.numerics.ulp import BINS

FINE_BITS = 3  # eighths of an octave
BELOW = 8  # octaves below 1 ulp that are told apart
FINE = (BINS - 1 + BELOW) << FINE_BITS
QUANTILES = (0.5, 0.9, 0.99)
MAP = 32
NARROW = 64  # columns; narrower outputs are mapped as one long line
_BIAS, _MANTISSA_BITS = 1023, 52
_SHIFT = _MANTISSA_BITS - FINE_BITS
_FIRST = (_BIAS - BELOW) << FINE_BITS
OCTAVES = 1 << 11  # all that float64 can tell apart
DIGITS = 9  # sums in another order agree to more than that


def fine_histogram(ulp: Floats) -> NDArray[np.int64]:
    """Counts by eighths of an octave from 2**-8 ulp; the first bin has everything below, the last above."""
    keys: NDArray[np.int64] = ulp.view(np.int64) >> _SHIFT
    keys -= _FIRST - 1
    np.maximum(keys, 0, out=keys)
    np.minimum(keys, FINE, out=keys)
    return np.bincount(keys, minlength=FINE + 1)


def coarse(fine: NDArray[np.int64]) -> NDArray[np.int64]:
    """The 64 bins of the report: bin 0 below 1 ulp, bin k from 2**(k-1) to below 2**k."""
    below = (BELOW << FINE_BITS) + 1
    octaves = fine[below:].reshape(-1, 1 << FINE_BITS).sum(axis=1)
    return np.concatenate([[fine[:below].sum()], octaves])


def quantile(fine: NDArray[np.int64], share: float) -> float:
    """An ulp distance that at least `share` of the elements stay below, rounded up to an eighth of an octave."""
    total = int(fine.sum())
    if not total:
        return 0.0
    at = int(np.searchsorted(np.cumsum(fine), math.ceil(share * total)))
    if at >= FINE:
        return math.inf
    octave, eighth = divmod(at, 1 << FINE_BITS)
    return math.ldexp(1 + eighth / (1 << FINE_BITS), octave - BELOW)


class ErrorOctaves:
    """Absolute errors of candidate and reference, counted by powers of two."""

    def __init__(self) -> None:
        self.counts = np.zeros((2, OCTAVES), np.int64)

    def add(self, of: int, error: Floats) -> None:
        """Take in errors of the candidate (`of` = 0) or the reference (1); infinite: a special mismatch."""
        self.counts[of] += np.bincount(error.view(np.int64) >> _MANTISSA_BITS, minlength=OCTAVES)

    def merge(self, other: ErrorOctaves) -> None:
        self.counts += other.counts

    def bins(self) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """The report's exponent e and the two times 64 bins below the largest finite error."""
        octaves = np.flatnonzero(self.counts[:, 1:-1].any(axis=0)) + 1
        top = int(octaves[-1]) if octaves.size else _BIAS
        first = max(1, top - BINS + 3)
        bins = np.zeros((2, BINS), np.int64)
        bins[:, 0], bins[:, -1] = self.counts[:, :first].sum(axis=1), self.counts[:, -1]
        bins[:, 1 : top - first + 2] = self.counts[:, first : top + 1]
        return first - _BIAS, tuple(bins[0].tolist()), tuple(bins[1].tolist())


class Sums:
    """Signed bias and root mean square error, added up by pieces that do not depend on their order."""

    def __init__(self) -> None:
        self.errors: list[float] = []
        self.truths: list[float] = []
        self.signed: list[float] = []

    def add(self, error: Floats, magnitude: Floats, signed_ulp: Floats) -> None:
        self.add_totals(_square(error), _square(magnitude), float(signed_ulp.sum()))

    def add_totals(self, errors: float, truths: float, signed: float) -> None:
        """Take in a piece by its sums: two of squares, one of signed ulp."""
        self.errors.append(errors)
        self.truths.append(truths)
        self.signed.append(signed)

    def merge(self, other: Sums) -> None:
        self.errors += other.errors
        self.truths += other.truths
        self.signed += other.signed

    def normalised_rms(self) -> float | None:
        """Root mean square error over that of the truth; `None` where a square over- or underflows."""
        error, truth = _total(self.errors), _total(self.truths)
        return _rounded(math.sqrt(error / truth)) if truth > 0 and math.isfinite(error + truth) else None

    def bias(self, elements: int) -> float | None:
        """The mean of (got - truth) in ulp; truncation and dropped work have a sign, honest rounding has none."""
        total = _total(self.signed)
        return _rounded(total / elements) if elements and math.isfinite(total) else None


def _square(values: Floats) -> float:
    return float(np.einsum("i,i->", values, values))


def _total(parts: list[float]) -> float:
    finite = all(math.isfinite(part) for part in parts)
    return math.fsum(parts) if finite else math.inf


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


class ErrorMap:
    """The largest ulp distance in each of at most 32 x 32 cells of an output folded to two dimensions.

    Rows are all axes but the last.  An output narrower than 64 columns is one line, cut into 1024 cells
    that are read row by row.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        size, self.columns = math.prod(shape), shape[-1] if shape else 1
        if self.columns < NARROW or size == self.columns:
            self.rows, self.columns = 1, max(1, size)
            self.cells = np.zeros((1, max(1, min(MAP * MAP, size))))
        else:
            self.rows = size // self.columns
            self.cells = np.zeros((min(MAP, self.rows), MAP))

    def add(self, start: int, ulp: Floats) -> None:
        """Take in the piece that begins at flat index `start`."""
        at, stop = start, start + ulp.size
        while at < stop:
            row, column = divmod(at, self.columns)
            whole = min((stop - at) // self.columns, self._rows_left(row)) if column == 0 else 0
            end = at + whole * self.columns if whole else min(stop, at + self.columns - column)
            piece = ulp[at - start : end - start]
            line = piece.reshape(whole, -1).max(axis=0) if whole > 1 else piece
            self._add_line(row * len(self.cells) // self.rows, column, line)
            at = end

    def ends(self) -> NDArray[np.int64]:
        """The column after the last one of every cell of a line."""
        count = self.cells.shape[1]
        return -(-np.arange(1, count + 1) * self.columns // count)

    def _rows_left(self, row: int) -> int:
        """Rows from `row` to the end of its cell."""
        cell = row * len(self.cells) // self.rows
        return -(-(cell + 1) * self.rows // len(self.cells)) - row

    def _add_line(self, cell_row: int, column: int, line: Floats) -> None:
        count = self.cells.shape[1]
        first, last = column * count // self.columns, (column + line.size - 1) * count // self.columns
        starts = -(-np.arange(first, last + 1) * self.columns // count) - column
        starts[0] = 0
        cells = self.cells[cell_row, first : last + 1]
        np.maximum(cells, np.maximum.reduceat(line, starts), out=cells)

    def merge(self, other: ErrorMap) -> None:
        np.maximum(self.cells, other.cells, out=self.cells)

    def logarithms(self) -> tuple[tuple[float, ...], ...]:
        """log2 of the ulp distances, to a tenth, from -8 (that or less) to 64 (that, more, or a special mismatch)."""
        cells: NDArray[Any] = np.pad(self.cells.ravel(), (0, -self.cells.size % self._width()))
        logs = np.log2(np.clip(cells, 2.0**-BELOW, 2.0**BINS)).round(1)
        return tuple(tuple(row) for row in logs.reshape(-1, self._width()).tolist())

    def _width(self) -> int:
        return min(MAP, self.cells.size)
