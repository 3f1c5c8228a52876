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
    at most the reference's.  `allowance`: the error that the rule allows, `None` where it counts ulp alone.
    """

    ok: Mask
    severity: Floats
    by_ulp: bool
    by_reference: bool
    budget_ratio: float
    allowance: Floats | None


@dataclass
class Inside:
    """What a rule says before the reference's own error is looked at; fields as in `Decided`."""

    ok: Mask
    severity: Floats
    allowance: Floats | None
    by_ulp: bool = False


def decide(
    measured: Measured, rule: Rule, budget: ErrorBudget | None, sensitivity: NDArray[np.float32] | None = None
) -> Decided:
    """Apply the rule to every element; `budget` is also reported where it does not decide."""
    budgeted = None if budget is None else _within_budget(measured, budget(measured.magnitude, sensitivity), rule)
    inside = budgeted[0] if rule.budget and budgeted is not None else within_tolerance(measured, rule)
    ok, by_reference = _with_reference(measured, rule, inside.ok)
    severity = inside.severity
    if measured.specials is not None:
        bad = measured.specials.bad
        ok &= ~bad
        severity[bad] = np.inf
        by_reference |= bool(measured.specials.borrowed.any())
    if not ok.all():
        severity = np.where(ok, np.minimum(severity, 1.0), np.maximum(severity, JUST_OUTSIDE))
    elif inside.by_ulp or by_reference:
        severity = np.minimum(severity, 1.0)
    ratio = 0.0 if budgeted is None else budgeted[1]
    return Decided(ok, severity, inside.by_ulp, by_reference, ratio, inside.allowance)


def within_tolerance(measured: Measured, rule: Rule) -> Inside:
    """Inside by either rule; severity is error over allowance; whether `max_ulp` was needed."""
    if rule.max_ulp is not None:
        near = measured.ulp <= rule.ulp_limit
        if rule.atol is None:
            return Inside(near, _ratio(measured.ulp, np.full(near.size, rule.ulp_limit)), None)
    allowance = measured.magnitude * rule.rtol
    allowance += rule.atol or 0.0
    if rule.rounding:
        allowance += measured.unit * rule.rounding
    inside = Inside(measured.error <= allowance, _ratio(measured.error, allowance), allowance)
    if rule.max_ulp is not None and not inside.ok.all():
        inside.by_ulp = bool((near & ~inside.ok).any())
        inside.ok |= near
    return inside


def _within_budget(measured: Measured, allowance: Floats, rule: Rule) -> tuple[Inside, float]:
    """Severity is error over budget; also the largest such ratio.

    An element no worse than 1.25 times the reference's own error counts as 1 at most.
    """
    if rule.rounded:
        allowance += measured.unit * HALF_ULP
    ratio = _ratio(measured.error, allowance)
    largest = float(ratio.max(initial=0.0))
    if largest > 1.0 and measured.excuse is not None:
        excused = measured.error <= SLACK * measured.excuse
        ratio = np.where(excused, np.minimum(ratio, 1.0), ratio)
        largest = float(ratio.max())
    return Inside(measured.error <= allowance, ratio, allowance), largest


def _with_reference(measured: Measured, rule: Rule, inside: Mask) -> tuple[Mask, bool]:
    """Add the elements that are as good as the reference; whether that was needed."""
    if measured.excuse is None or inside.all():
        return inside, False
    slack = SLACK if rule.budget else 1.0
    as_good = measured.error <= slack * measured.excuse
    helped = as_good & ~inside
    return inside | as_good, bool(helped.any())


def _ratio(error: Floats, allowance: Floats) -> Floats:
    """How many times the allowance; only an order of magnitude where nothing is allowed."""
    return error / np.maximum(allowance, NO_ALLOWANCE)
