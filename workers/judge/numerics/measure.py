"""How far a piece of an output is from the truth, before any rule says whether that is near enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.chunks import modulus, planes
from workers.judge.numerics.formats import FloatFormat, Floats, Mask, float_format, iinfo, is_exact
from workers.judge.numerics.ulp import component_distance, integer_distance, spacing, widened


@dataclass
class Specials:
    """Where NaN and infinity decide: `borrowed` are right only in that the reference did the same.

    `numeric`: finite on both sides, so that a tolerance applies.  `reference_bad`: the reference's own mismatches.
    """

    nan_bad: Mask
    inf_bad: Mask
    borrowed: Mask
    numeric: Mask
    reference_bad: Mask

    @property
    def bad(self) -> Mask:
        return self.nan_bad | self.inf_bad

    def joined(self, other: Specials) -> Specials:
        """Of two components of complex numbers; a NaN mismatch outranks one of infinities."""
        nan_bad = self.nan_bad | other.nan_bad
        inf_bad = (self.inf_bad | other.inf_bad) & ~nan_bad
        borrowed = (self.borrowed | other.borrowed) & ~nan_bad & ~inf_bad
        numeric, reference_bad = self.numeric & other.numeric, self.reference_bad | other.reference_bad
        return Specials(nan_bad, inf_bad, borrowed, numeric, reference_bad)


@dataclass
class Measured:
    """One value per element, one-dimensional; error and magnitude have the output's unit.

    `error` and `ulp` are against the truth, 0 where a special value matches; at a special mismatch
    `error` is 0 and `ulp` infinite.  `reference_error` is 0 where either side is not finite; `excuse` is
    the error that it excuses, the same but for exact integers.
    `unit` is the truth's ulp.  `signed` is (got - truth) in ulp, of a complex number's larger component,
    0 at a special mismatch.  The `reference_*` are `None` without an oracle.
    """

    error: Floats
    ulp: Floats
    magnitude: Floats
    unit: Floats
    reference_error: Floats | None
    reference_ulp: Floats | None
    excuse: Floats | None
    signed: Floats
    specials: Specials | None = None


def measure(got: NDArray[Any], native: NDArray[Any], oracle: NDArray[Any] | None, *, exact: bool) -> Measured:
    """Measure a piece of an output; `exact` as in `_integers`."""
    if is_exact(native.dtype):
        return _integers(got, native, oracle, exact=exact)
    return _floats(got, native, oracle, float_format(native.dtype))


def _floats(got: NDArray[Any], native: NDArray[Any], oracle: NDArray[Any] | None, form: FloatFormat) -> Measured:
    """Complex numbers by the larger component, their magnitude is the modulus."""
    natives = planes(native)
    truths = natives if oracle is None else planes(oracle)
    parts = [_component(g, n, t, form) for g, n, t in zip(planes(got), natives, truths, strict=True)]
    if len(parts) == 1:
        return parts[0]
    joined = _larger(parts[0], parts[1])
    joined.magnitude = modulus([p.magnitude for p in parts])
    return joined


def _component(got: Floats, native: Floats, truth: Floats, form: FloatFormat) -> Measured:
    magnitude = np.abs(truth)
    with_oracle = native is not truth
    plain = magnitude.max() < form.beyond and np.isfinite(got).all()
    if not plain or (with_oracle and not np.isfinite(native).all()):
        return _with_specials(got, native, truth, form, with_oracle=with_oracle)
    unit = spacing(magnitude, form)
    error = got - truth
    signed = error / unit
    np.abs(error, out=error)
    reference = np.abs(native - truth) if with_oracle else None
    reference_ulp = None if reference is None else reference / unit
    return Measured(error, np.abs(signed), magnitude, unit, reference, reference_ulp, reference, signed)


def _with_specials(got: Floats, native: Floats, truth: Floats, form: FloatFormat, *, with_oracle: bool) -> Measured:
    """Where the truth has no finite value in this format but the reference has, the reference is the truth."""
    truth = _rounded_truth(truth, form)
    wanted, given, reference = _classes(truth), _classes(got), _classes(native)
    lent = (wanted != 0) & (reference == 0)
    matches, borrowed = given == wanted, (given == reference) & (given != 0) & (given != wanted)
    numeric = (given == 0) & ((wanted == 0) | lent)
    bad = ~(matches | borrowed | numeric)
    nan_bad = bad & ((given == 1) | (wanted == 1))
    target = np.where(numeric, np.where(lent, native, truth), 0.0)
    magnitude = np.abs(target)
    unit = spacing(magnitude, form)
    signed = np.where(numeric, (got - target) / unit, 0.0)
    error = np.where(numeric, np.abs(got - target), 0.0)
    ulp = np.where(bad, np.inf, np.abs(signed))
    specials = Specials(nan_bad, bad & ~nan_bad, borrowed, numeric, reference != wanted)
    if not with_oracle:
        return Measured(error, ulp, magnitude, unit, None, None, None, signed, specials)
    both_finite = (wanted == 0) & (reference == 0)
    reference_error = np.where(both_finite, np.abs(native - truth), 0.0)
    distance = component_distance(native, truth, form)
    return Measured(error, ulp, magnitude, unit, reference_error, distance, reference_error, signed, specials)


def _rounded_truth(truth: Floats, form: FloatFormat) -> Floats:
    """Overflow becomes infinity; in a format without one, the largest number, as hardware saturates."""
    if not form.has_inf:
        return np.clip(truth, -form.largest, form.largest)
    return np.where(np.abs(truth) >= form.overflow, np.copysign(np.inf, truth), truth)


def _classes(values: Floats) -> NDArray[np.int8]:
    """0 finite, 1 NaN, 2 infinity, 3 minus infinity."""
    classes = np.isnan(values).astype(np.int8)
    classes[np.isposinf(values)] = 2
    classes[np.isneginf(values)] = 3
    return classes


def _larger(a: Measured, b: Measured) -> Measured:
    specials = a.specials or b.specials
    if a.specials and b.specials:
        specials = a.specials.joined(b.specials)
    joined = Measured(
        error=np.maximum(a.error, b.error),
        ulp=np.maximum(a.ulp, b.ulp),
        magnitude=a.magnitude,
        unit=np.maximum(a.unit, b.unit),
        reference_error=_maximum(a.reference_error, b.reference_error),
        reference_ulp=_maximum(a.reference_ulp, b.reference_ulp),
        excuse=_maximum(a.excuse, b.excuse),
        signed=np.where(a.ulp >= b.ulp, a.signed, b.signed),
        specials=specials,
    )
    if specials is not None:
        joined.error[specials.bad] = 0.0
    return joined


def _maximum(a: Floats | None, b: Floats | None) -> Floats | None:
    return None if a is None or b is None else np.maximum(a, b)


def _integers(got: NDArray[Any], native: NDArray[Any], oracle: NDArray[Any] | None, *, exact: bool) -> Measured:
    """Integers and booleans, exact for every pair of values; one ulp is 1.

    `exact`: being as good as the reference means being equal to it, for a code between two codes is
    no approximation of either.
    """
    given, reference = widened(got), widened(native)
    truth = reference if oracle is None else _integer_truth(oracle, reference, native.dtype)
    error = integer_distance(given, truth).astype(np.float64)
    magnitude, unit = np.abs(truth.astype(np.float64)), np.ones(error.size)
    signed = np.where(given < truth, -error, error)
    if oracle is None:
        return Measured(error, error, magnitude, unit, None, None, None, signed)
    own = integer_distance(reference, truth).astype(np.float64)
    excuse = np.where(given == reference, own, 0.0) if exact else own
    return Measured(error, error, magnitude, unit, own, own, excuse, signed)


def _integer_truth(oracle: NDArray[Any], native: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The oracle as integers.  A float oracle that equals `native` in float64 takes its exact value."""
    if is_exact(oracle.dtype):
        return oracle.astype(native.dtype)
    values = oracle.astype(np.float64)
    low, high = _limits(dtype)
    usable = (values != native.astype(np.float64)) & np.isfinite(values)
    rounded = np.clip(np.rint(np.where(usable, values, 0.0)), low, high).astype(native.dtype)
    return np.where(usable, rounded, native)


def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The smallest and largest float64 that `dtype` holds."""
    if dtype.kind == "b":
        return 0.0, 1.0
    info = iinfo(dtype)
    high = float(info.max)
    return float(info.min), high if int(high) <= int(info.max) else float(np.nextafter(high, 0.0))
