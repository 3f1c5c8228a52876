"""Comparing outputs of inputs that a task's author never looked at: drawn shapes and families of values.

The tolerance was chosen for the task's own inputs.  On others an element also passes within the error budget,
and an element says nothing at all about a kernel

* where the reference itself leaves its format's range: it overflows, or loses everything, on the way to a
  value that the float64 oracle has, or the reverse;
* next to the largest finite number, where the order of a sum decides between that number and infinity, and beyond
  it, where the order decides between infinity and NaN;
* in an output that the reference fills with NaN: every answer is right there, or none;
* in integers and booleans of a family full of ties, where any of several positions is right.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.report import OutputResult
from workers.judge import numerics
from workers.judge.numerics.budget import ACCUMULATORS, GUESSED
from workers.judge.numerics.chunks import planes
from workers.judge.numerics.formats import FloatFormat, Floats, Mask, float_format, is_exact

TIMES_BUDGET = 2.0
AS_GOOD = 4.0  # times the reference's own error
NEAR_OVERFLOW = 2.0  # times the largest finite number, and its inverse
TIES = frozenset({"integers", "one-hot", "zeros", "tiny", "huge", "subnormal", "inf", "nan"})
SPECIALS = frozenset({"inf", "nan"})


@dataclasses.dataclass(frozen=True)
class Rules:
    """How the task wants this output compared; `family` is "" for a drawn shape with the task's own values.

    `u_inputs`: the relative error with which it lets kernels round their inputs, such as that of tf32.
    `may_flush`: whether subnormal results may be zero; the error budget excuses that with everything near zero.
    """

    tolerance: numerics.Tolerance
    vacuous: bool
    accumulate: str
    family: str
    u_inputs: float = 0.0
    may_flush: bool = True


def compare(name: str, got: NDArray[Any], expected: numerics.Expected, rules: Rules) -> OutputResult:
    """As `numerics.compare`, with the additions above; the numbers reported are those of all elements.

    `decided_by` says `budget` where the error budget was needed, `reference_range` where elements were left out,
    `integer_exact` where every element equals the only value that exact sums can give.
    """
    plain = _compare(name, got, expected, rules)
    if plain.ok:
        exact = rules.family == "integers" and inexact(got, expected, rules.accumulate) == 0
        return dataclasses.replace(plain, decided_by="integer_exact") if exact else plain
    silent, excused = _silent(got, expected, rules), _excused(got, expected, rules)
    fair = _compare(name, np.where(silent | excused, expected.native, got), expected, rules)
    return dataclasses.replace(
        plain,
        ok=fair.ok,
        decided_by=fair.decided_by if not fair.ok else "reference_range" if silent.any() else "budget",
        mismatched=fair.mismatched,
        nan_mismatch=fair.nan_mismatch,
        inf_mismatch=fair.inf_mismatch,
        worst=plain.worst if fair.ok else fair.worst,
    )


def inexact(got: NDArray[Any], expected: numerics.Expected, accumulate: str) -> int | None:
    """How many elements differ from the exact sum, on integer inputs; None where the sums need not be exact.

    They are where the oracle is integral, the reference has it exactly, and the magnitudes that were added up
    stay below the largest integer to which the accumulator counts (half of it, as S is measured).
    """
    sensitivity, oracle = expected.sensitivity, expected.oracle
    if oracle is None or sensitivity is None or not oracle.size or is_exact(expected.native.dtype):
        return None
    if np.iscomplexobj(oracle) or float(sensitivity.max()) > 0.5 / ACCUMULATORS[accumulate].u_acc:
        return None
    with np.errstate(all="ignore"):
        whole = np.isfinite(oracle).all() and bool((np.rint(oracle) == oracle).all())
        answer = oracle.astype(expected.native.dtype)
        known = whole and oracle.any() and bool((answer == expected.native).all())
        return int(np.count_nonzero(got != answer)) if known else None


def _compare(name: str, got: NDArray[Any], expected: numerics.Expected, rules: Rules) -> OutputResult:
    return numerics.compare(
        name, got, expected, rules.tolerance, vacuous=rules.vacuous, accumulate=rules.accumulate
    )  # fmt: skip


def _silent(got: NDArray[Any], expected: numerics.Expected, rules: Rules) -> Mask:
    """Elements that say nothing about a kernel, in the output's shape."""
    if is_exact(got.dtype):
        return np.full(got.shape, rules.family in TIES)
    if np.isnan(expected.native).all():
        return np.ones(got.shape, bool)
    form = float_format(got.dtype)
    natives, truths = _planes(expected.native), _planes(expected.truth)
    with np.errstate(all="ignore"):
        found = [
            _signs_of_zero(g, n, rules) | _out_of_range(n, t, form) | _overflown(g, t, form, rules)
            for g, n, t in zip(_planes(got), natives, truths, strict=True)
        ]
        found.append(_lost(expected, rules))
        if expected.oracle is None and rules.family not in SPECIALS:
            # Nobody can tell an infinity that belongs there from one on the way.
            found += [~np.isfinite(n) for n in natives]
    silent: Mask = np.logical_or.reduce(found)
    return silent


def _out_of_range(native: Floats, truth: Floats, form: FloatFormat) -> Mask:
    rounded = np.where(np.abs(truth) >= form.overflow, np.copysign(np.inf, truth), truth)
    agree = (native == rounded) | (np.isnan(native) & np.isnan(rounded)) | (np.isfinite(native) & np.isfinite(rounded))
    near = (np.abs(truth) >= form.largest / NEAR_OVERFLOW) & (np.abs(truth / NEAR_OVERFLOW) <= form.largest)
    silent: Mask = ~agree | near
    return silent


def _overflown(got: Floats, truth: Floats, form: FloatFormat, rules: Rules) -> Mask:
    """Two terms of a sum that overflow with different signs are NaN, together with a third perhaps infinite."""
    beyond = np.abs(truth) >= form.overflow
    return beyond & ~np.isfinite(got) if rules.family not in SPECIALS else np.zeros(got.shape, bool)


def _signs_of_zero(got: Floats, native: Floats, rules: Rules) -> Mask:
    """1/0 has the sign of a zero, which sums and products may lose."""
    return np.isinf(got) & np.isinf(native) if rules.family == "zeros" else np.zeros(got.shape, bool)


def _lost(expected: numerics.Expected, rules: Rules) -> Mask:
    """Where the reference, finite, has no digit right, and its error is none that rounding explains."""
    if expected.oracle is None:
        return np.zeros(expected.native.shape, bool)
    error, magnitude = np.abs(_wide(expected.native) - _wide(expected.oracle)), np.abs(_wide(expected.oracle))
    lost: Mask = np.isfinite(error) & (error > magnitude / 2) & (error > _budget(expected, rules))
    return lost


def _excused(got: NDArray[Any], expected: numerics.Expected, rules: Rules) -> Mask:
    """Within the error budget, or about as good as the reference: there or, where S is a guess, at its worst."""
    if is_exact(got.dtype) or not rules.may_flush:
        return np.zeros(got.shape, bool)
    with np.errstate(all="ignore"):
        truth = _wide(expected.truth)
        own = np.abs(_wide(expected.native) - truth)
        if expected.sensitivity is None:
            own = np.full(own.shape, own[np.isfinite(own)].max(initial=0.0))
        allowed = np.maximum(_budget(expected, rules), AS_GOOD * np.where(np.isfinite(own), own, 0.0))
        numbers = np.isfinite(_wide(got)) & np.isfinite(truth)  # else no error is too large for an infinite budget
        inside: Mask = numbers & (np.abs(_wide(got) - truth) <= allowed)
    return inside


def _budget(expected: numerics.Expected, rules: Rules) -> Floats:
    """Twice the error budget, with what rounding both factors of a product adds to it."""
    budget = numerics.error_budget(expected, rules.accumulate, expected.native.dtype)
    magnitude = np.abs(_wide(expected.truth)).reshape(-1)
    known = None if expected.sensitivity is None else expected.sensitivity.reshape(-1)
    scale = GUESSED * np.maximum(magnitude, budget.typical) if known is None else known.astype(np.float64)
    allowed: Floats = TIMES_BUDGET * (budget(magnitude, known) + 2 * rules.u_inputs * scale)
    return allowed.reshape(expected.truth.shape)


def _planes(array: NDArray[Any]) -> list[Floats]:
    return [plane.reshape(array.shape) for plane in planes(array.reshape(-1))]


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
