"""Indices of largest, smallest or sorted elements, where equal elements may be named in any order.

NaN counts as the largest value, as `torch.topk` and `sort` take it; a maximum or minimum of values with a NaN is NaN.
`atol` and `rtol` are for scores that the kernel computes itself: then two that nearly agree count as equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench_checks.arrays import Array, all_close, as_array, distinct, same_shape, valid_indices
from workbench_checks.orders import is_permutation
from workbench_checks.result import Result, passed


def arg_extreme(
    source: Any, places: Any, *, axis: int | None = -1, largest: bool = True, atol: float = 0.0, rtol: float = 0.0
) -> Result:
    """`places` is an argmax (or argmin) of `source` along `axis` (None: of all elements), whichever of equal ones.

    The shape of `places` is that of `source` without the axis, or with 1 in its place.
    """
    source, places = as_array(source), as_array(places)
    if axis is None:
        source, axis = source.reshape(-1), 0
    kept = np.expand_dims(places, axis) if places.ndim == source.ndim - 1 else places
    best = (source.max if largest else source.min)(axis=axis, keepdims=True)
    valid = same_shape("the indices", kept, best.shape) and valid_indices("index ", places, source.shape[axis])
    if not valid:
        return valid
    chosen = np.take_along_axis(source, kept, axis)
    return all_close("the element at index ", chosen.reshape(places.shape), best.reshape(places.shape), atol, rtol)


def top_k(
    source: Any, values: Any, places: Any, *, axis: int = -1, largest: bool = True, ordered: bool = True,
    atol: float = 0.0, rtol: float = 0.0,
) -> Result:  # fmt: skip
    """`values` are the k largest (or smallest) of `source` along `axis`, `places` distinct indices that give them.

    Either may be None where the task returns only the other.  With `ordered` they come best first.
    """
    source = as_array(source)
    given = as_array(values if values is not None else places)
    if given.ndim != source.ndim:
        return same_shape("the answer", given, source.shape)
    want = _best(source, given.shape[axis], axis, largest)
    if values is not None:
        got = as_array(values)
        right = same_shape("values", got, want.shape) and _matches(
            "value ", got, want, axis, ordered=ordered, atol=atol, rtol=rtol
        )
        if not right or places is None:
            return right
    chosen = as_array(places)
    right = (
        same_shape("indices", chosen, want.shape)
        and valid_indices("index ", chosen, source.shape[axis])
        and distinct("index ", chosen, axis)
    )
    if not right:
        return right
    found = np.take_along_axis(source, chosen, axis)
    if values is not None:
        return all_close("the element at index ", found, as_array(values), atol, rtol)
    return _matches("the element at index ", found, want, axis, ordered=ordered, atol=atol, rtol=rtol)


def arg_sort(source: Any, places: Any, *, axis: int = -1, descending: bool = False, stable: bool = False) -> Result:
    """`places` sorts `source` along `axis`; with `stable`, equal elements keep their order, so one answer is right."""
    source, places = as_array(source), as_array(places)
    right = same_shape("the indices", places, source.shape) and is_permutation(places, axis=axis)
    if not right:
        return right
    want = stable_order(source, axis, descending)
    if stable:
        return all_close("index ", places, want)
    found = np.take_along_axis(source, places, axis)
    return all_close("the element at index ", found, np.take_along_axis(source, want, axis))


def stable_order(source: Array, axis: int, descending: bool) -> Array:
    """The indices that sort `source`, equal elements in their order; NaN is the largest."""
    if not descending:
        return np.argsort(source, axis=axis, kind="stable")
    # Backwards twice, so that equal elements keep their order.
    backwards = np.argsort(np.flip(source, axis), axis=axis, kind="stable")
    return source.shape[axis] - 1 - np.flip(backwards, axis)


def _best(source: Array, k: int, axis: int, largest: bool) -> Array:
    ranked = np.sort(source, axis=axis)
    return np.take(np.flip(ranked, axis) if largest else ranked, range(min(k, source.shape[axis])), axis)


def _matches(
    name: str, got: Array, want: Array, axis: int, *, ordered: bool, atol: float, rtol: float
) -> Result:  # fmt: skip
    if not ordered:
        got, want = np.sort(got, axis=axis), np.sort(want, axis=axis)
        name = f"in ascending order, {name}"
    return all_close(name, got, want, atol, rtol) if got.size else passed()
