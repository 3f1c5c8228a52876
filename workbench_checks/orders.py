"""Answers that are right in any order, and answers whose order is the question."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench_checks.arrays import Array, all_close, as_array, close, distinct, same_shape, valid_indices
from workbench_checks.result import Result, passed, refused


def is_permutation(places: Any, *, axis: int = -1) -> Result:
    """Along `axis`, `places` holds each of 0 … n-1 once."""
    places = as_array(places)
    return valid_indices("index ", places, places.shape[axis]) and distinct("index ", places, axis)


def sorts(values: Any, source: Any, *, axis: int = -1, descending: bool = False) -> Result:
    """`values` are the elements of `source` in order along `axis`; NaN is the largest."""
    values, source = as_array(values), as_array(source)
    ranked = np.sort(source, axis=axis)
    return all_close("value ", values, np.flip(ranked, axis) if descending else ranked)


def same_items(got: Any, want: Any, *, atol: float = 0.0, rtol: float = 0.0) -> Result:
    """The same numbers as often, in any order (shapes do not matter).

    Within a tolerance both are sorted and paired: whenever some pairing keeps |got - want| within atol + rtol·|want|,
    the sorted one does, since both ends of that interval grow with `want` (for rtol at most 1).
    """
    got, want = as_array(got).reshape(-1), as_array(want).reshape(-1)
    if got.size != want.size:
        return refused(f"{got.size} items instead of {want.size}")
    if np.iscomplexobj(got) or np.iscomplexobj(want):
        raise ValueError("complex numbers have no order: compare their parts as rows with same_rows")
    if rtol > 1:
        raise ValueError(f"rtol is {rtol}; at most 1")
    order, ranked = np.argsort(got, kind="stable"), np.sort(want)
    apart = ~close(got[order], ranked, atol, rtol)
    if not apart.any():
        return passed()
    at = int(np.argmax(apart))
    return refused(f"item [{order[at]}] is {got[order[at]]}; in ascending order {ranked[at]} would come there")


def same_rows(got: Any, want: Any, *, axis: int = 0) -> Result:
    """The same slices along `axis` as often, in any order; each is compared exactly."""
    got, want = as_array(got), as_array(want)
    if not (shaped := same_shape("the answer", got, want.shape)):
        return shaped
    ours, theirs = _as_rows(got, axis), _as_rows(want, axis)
    mine, yours = _lexical(ours), _lexical(theirs)
    apart = ~close(ours[mine], theirs[yours], 0.0, 0.0).all(axis=1)
    if not apart.any():
        return passed()
    at = int(np.argmax(apart))
    if _before(ours[mine[at]], theirs[yours[at]]):
        return refused(f"row [{mine[at]}] is not wanted, or not so often")
    return refused(f"the row that the reference has at [{yours[at]}] is missing")


def _as_rows(array: Array, axis: int) -> Array:
    rows = np.moveaxis(array, axis, 0)
    return rows.reshape(rows.shape[0], int(np.prod(rows.shape[1:])))


def _lexical(rows: Array) -> Array:
    return np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))


def _before(a: Array, b: Array) -> bool:
    return bool(_lexical(np.stack([b, a]))[0] == 1)
