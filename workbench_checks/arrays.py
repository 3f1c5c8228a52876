"""Torch, JAX and NumPy values as NumPy arrays, and what the checks say of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench_checks.result import Result, passed, refused

Array = NDArray[Any]
_NUMPY_FLOATS = ("float16", "float32", "float64")


def as_array(value: Any) -> Array:
    """A NumPy array of `value`; formats that NumPy lacks (bfloat16, float8) become float32, which holds them all."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().resolve_conj().resolve_neg()
        narrow = value.is_floating_point() and str(value.dtype).removeprefix("torch.") not in _NUMPY_FLOATS
        value = (value.float() if narrow else value).numpy()
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def spacing(value: Any) -> float:
    """The distance from 1 to the next number in the format of `value`; 0 for integers."""
    if hasattr(value, "detach"):
        floats = value.is_floating_point() or value.is_complex()
        return float(sys.modules["torch"].finfo(value.dtype).eps) if floats else 0.0
    dtype = np.asarray(value).dtype
    if dtype.kind == "V":
        import ml_dtypes

        return float(ml_dtypes.finfo(dtype).eps)
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def wide(array: Array) -> Array:
    """In float64 or complex128; integers as they are."""
    if array.dtype.kind in "iub":
        return array
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def close(got: Array, want: Array, atol: float, rtol: float) -> NDArray[np.bool_]:
    """Element by element: equal, both NaN, or |got - want| at most atol + rtol·|want|."""
    got, want = wide(got), wide(want)
    same = (got == want) | ((got != got) & (want != want))  # noqa: PLR0124 - NaN differs from itself
    if not atol and not rtol:
        return same
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(want.dtype) - want) <= atol + rtol * np.abs(want)
    return same | (near & np.isfinite(want) & np.isfinite(got))


def same_shape(name: str, got: Array, want: tuple[int, ...]) -> Result:
    if got.shape == want:
        return passed()
    return refused(f"{name} has shape {got.shape} instead of {want}")


def all_close(name: str, got: Array, want: Array, atol: float = 0.0, rtol: float = 0.0) -> Result:
    """Refuses another shape and the first element that is not `close`."""
    if not (shaped := same_shape(name, got, want.shape)):
        return shaped
    apart = ~close(got, want, atol, rtol)
    if not apart.any():
        return passed()
    at = first(apart)
    return refused(f"{name}{list(at)} is {got[at]} instead of {want[at]} ({int(apart.sum())} of {apart.size} differ)")


def valid_indices(name: str, places: Array, size: int) -> Result:
    """Integers from 0 up to `size`; refuses the first that is none."""
    if places.dtype.kind not in "iu":
        return refused(f"{name} is {places.dtype.name}; indices are integers")
    outside = (places < 0) | (places >= size)
    if not outside.any():
        return passed()
    at = first(outside)
    return refused(f"{name}{list(at)} is {places[at]}, which is no index from 0 to {size - 1}")


def distinct(name: str, places: Array, axis: int) -> Result:
    """No value twice along `axis`; refuses the later of the first two that agree."""
    order = np.argsort(places, axis=axis, kind="stable")
    ranked = np.take_along_axis(places, order, axis)
    again = np.zeros(places.shape, bool)
    repeats = np.diff(ranked, axis=axis) == 0
    later = np.take(order, range(1, order.shape[axis]), axis)
    np.put_along_axis(again, later, repeats, axis)
    if not again.any():
        return passed()
    at = first(again)
    return refused(f"{name}{list(at)} is {places[at]} once more")


def first(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first true element."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))
