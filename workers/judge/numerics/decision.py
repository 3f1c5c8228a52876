"""Which elements of a measured piece are near enough, and by which rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.budget import SLACK, ErrorBudget
from workers.judge.numerics.formats import Floats, Mask
from workers.judge.numerics.measure import Measured
from workers.judge.numerics.rules import HALF_ULP, Rule

JUST_OUTSIDE = 1.0 + 2.0**-40  # severity of a failing element whose error over allowance rounds to 1
NO_ALLOWANCE = 2.0**-800  # stands for 0 in a divisor: larger errors still come first


@dataclass
class Decided:
    """`ok` per element; `severity` orders elements: above 1 fails, infinite is a special mismatch.

    `by_ulp` and `by_reference`: some element passed only by `max_ulp`, or only because its error is
    at most the reference's.
    """

    ok: Mask
    severity: Floats
    by_ulp: bool
    by_reference: bool
    budget_ratio: float


def decide(
    measured: Measured, rule: Rule, budget: ErrorBudget | None, sensitivity: NDArray[np.float32] | None = None
) -> Decided:
    """Apply the rule to every element; `budget` is also reported where it does not decide."""
    budgeted = None if budget is None else _within_budget(measured, budget(measured.magnitude, sensitivity), rule)
    if rule.budget and budgeted is not None:
        inside, severity, by_ulp = *budgeted[:2], False
    else:
        inside, severity, by_ulp = within_tolerance(measured, rule)
    ok, by_reference = _with_reference(measured, rule, inside)
    if measured.specials is not None:
        bad = measured.specials.nan_bad | measured.specials.inf_bad
        ok &= ~bad
        severity[bad] = np.inf
        by_reference |= bool(measured.specials.borrowed.any())
    if not ok.all():
        severity = np.where(ok, np.minimum(severity, 1.0), np.maximum(severity, JUST_OUTSIDE))
    elif by_ulp or by_reference:
        severity = np.minimum(severity, 1.0)
    return Decided(ok, severity, by_ulp, by_reference, 0.0 if budgeted is None else budgeted[2])


def within_tolerance(measured: Measured, rule: Rule) -> tuple[Mask, Floats, bool]:
    """Inside by either rule; severity is error over allowance; whether `max_ulp` was needed."""
    if rule.max_ulp is not None:
        near = measured.ulp <= rule.ulp_limit
        if rule.atol is None:
            return near, _ratio(measured.ulp, np.full(near.size, rule.ulp_limit)), False
    allowance = measured.magnitude * rule.rtol
    allowance += rule.atol or 0.0
    if rule.rounding:
        allowance += measured.unit * rule.rounding
    inside = measured.error <= allowance
    severity = _ratio(measured.error, allowance)
    if rule.max_ulp is None or inside.all():
        return inside, severity, False
    return inside | near, severity, bool((near & ~inside).any())


def _within_budget(measured: Measured, allowance: Floats, rule: Rule) -> tuple[Mask, Floats, float]:
    """Inside, error over budget, and the largest such ratio.

    An element no worse than 1.25 times the reference's own error counts as 1 at most.
    """
    if rule.rounded:
        allowance += measured.unit * HALF_ULP
    ratio = _ratio(measured.error, allowance)
    largest = float(ratio.max(initial=0.0))
    if largest > 1.0 and measured.reference_error is not None:
        excused = measured.error <= SLACK * measured.reference_error
        ratio = np.where(excused, np.minimum(ratio, 1.0), ratio)
        largest = float(ratio.max())
    return measured.error <= allowance, ratio, largest


def _with_reference(measured: Measured, rule: Rule, inside: Mask) -> tuple[Mask, bool]:
    """Add the elements that are as good as the reference; whether that was needed."""
    if measured.reference_error is None or inside.all():
        return inside, False
    slack = SLACK if rule.budget else 1.0
    as_good = measured.error <= slack * measured.reference_error
    helped = as_good & ~inside
    return inside | as_good, bool(helped.any())


def _ratio(error: Floats, allowance: Floats) -> Floats:
    """How many times the allowance; only an order of magnitude where nothing is allowed."""
    return error / np.maximum(allowance, NO_ALLOWANCE)
