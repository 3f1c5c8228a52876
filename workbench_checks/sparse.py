"""Sparse answers as their parts: the entries may come in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench_checks.arrays import Array, as_array, close, first, same_shape, wide
from workbench_checks.result import Result, passed, refused


def same_coo(
    indices: Any, values: Any, want_indices: Any, want_values: Any, *, atol: float = 0.0, rtol: float = 0.0,
    add_repeated: bool = False, drop_zeros: bool = False,
) -> Result:  # fmt: skip
    """The same entries in any order: `indices` (dimensions, entries), `values` (entries, ...), as torch has them.

    `add_repeated`: entries at the same place count as their sum, else they are refused.  `drop_zeros`: a stored zero
    counts as no entry.
    """
    sides = []
    for places, numbers in ((as_array(indices), as_array(values)), (as_array(want_indices), as_array(want_values))):
        if places.ndim != 2 or numbers.ndim < 1 or places.shape[1] != numbers.shape[0]:
            return refused(f"indices {places.shape} and values {numbers.shape} are no (d, n) and (n, ...)")
        if places.dtype.kind not in "iu":
            return refused(f"indices are {places.dtype.name}, not integers")
        keys, where, counts = np.unique(places, axis=1, return_inverse=True, return_counts=True)
        if not add_repeated and (counts > 1).any():
            return refused(f"place {keys[:, counts > 1][:, 0].tolist()} occurs {counts[counts > 1][0]} times")
        sides.append(_summed(keys, where.reshape(-1), wide(numbers), drop_zeros))
    (keys, numbers), (want_keys, want) = sides
    return _same_places(keys, want_keys) and _same_values(keys, numbers, want, atol, rtol)


def same_csr(got: Any, want: Any, *, atol: float = 0.0, rtol: float = 0.0, **kwargs: bool) -> Result:
    """The same matrix: each side is (row pointers, columns, values); columns of a row may come in any order.

    Further arguments as `same_coo` takes them.
    """
    (rows, columns, values), (want_rows, want_columns, want_values) = got, want
    pointers, wanted = as_array(rows), as_array(want_rows)
    if not (right := same_shape("row pointers", pointers, wanted.shape) and _are_pointers(pointers, columns)):
        return right
    return same_coo(
        _with_rows(pointers, as_array(columns)), values, _with_rows(wanted, as_array(want_columns)), want_values,
        atol=atol, rtol=rtol, **kwargs,
    )  # fmt: skip


def _summed(keys: Array, where: Array, numbers: Array, drop_zeros: bool) -> tuple[Array, Array]:
    totals = np.zeros((keys.shape[1], *numbers.shape[1:]), numbers.dtype)
    np.add.at(totals, where, numbers)
    if drop_zeros:
        kept = (totals != 0).reshape(len(totals), -1).any(axis=1)
        keys, totals = keys[:, kept], totals[kept]
    return keys, totals


def _same_places(keys: Array, want: Array) -> Result:
    got_set, want_set = (set(map(tuple, side.T.tolist())) for side in (keys, want))
    if extra := got_set - want_set:
        return refused(f"there is an entry at {list(min(extra))}, where none is wanted")
    if missing := want_set - got_set:
        return refused(f"the entry at {list(min(missing))} is missing")
    return passed()


def _same_values(keys: Array, got: Array, want: Array, atol: float, rtol: float) -> Result:
    if not (shaped := same_shape("values", got, want.shape)):
        return shaped
    apart = ~close(got, want, atol, rtol)
    if not apart.any():
        return passed()
    at = first(apart)
    return refused(f"the entry at {keys[:, at[0]].tolist()} is {got[at]} instead of {want[at]}")


def _are_pointers(pointers: Array, columns: Any) -> Result:
    if pointers.dtype.kind not in "iu" or pointers.ndim != 1 or not pointers.size:
        return refused("row pointers are no row of integers")
    if pointers[0] != 0 or pointers[-1] != as_array(columns).shape[0]:
        return refused(f"row pointers run from {pointers[0]} to {pointers[-1]}, not from 0 to the number of entries")
    falls = np.diff(pointers.astype(np.int64)) < 0
    return (
        refused(f"row pointer [{int(np.argmax(falls)) + 1}] is less than the one before") if falls.any() else passed()
    )


def _with_rows(pointers: Array, columns: Array) -> Array:
    lengths = pointers[1:].astype(np.int64) - pointers[:-1].astype(np.int64)
    return np.stack([np.repeat(np.arange(len(lengths)), lengths), columns])
