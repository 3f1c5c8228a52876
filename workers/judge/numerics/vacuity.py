"""Would zeros pass?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.chunks import chunks, modulus, planes
from workers.judge.numerics.formats import Floats, float_format, is_exact
from workers.judge.numerics.rules import Expected, Rule, Tolerance, check_expected, rule_for
from workers.judge.numerics.ulp import spacing


def is_vacuous(expected: Expected, tolerance: Tolerance) -> bool:
    """Whether an output of zeros is within tolerance of every finite element, though some are not 0.

    Elements that are NaN or infinite are left aside: their positions do not make the tolerance of
    the others mean anything.  Stops at the first element that zeros miss.
    """
    check_expected(expected)
    rule = rule_for(tolerance, expected)
    if rule.exact:
        return False
    some = False
    with np.errstate(all="ignore"):
        for _, (piece,) in chunks(expected.truth):
            magnitude, unit = _sizes(piece, expected.native.dtype)
            if not _zeros_pass(magnitude, unit, rule):
                return False
            some = some or bool(magnitude.any())
    return some


def _sizes(piece: NDArray[Any], dtype: np.dtype[Any]) -> tuple[Floats, Floats]:
    """|truth| of the finite elements, and one ulp of each."""
    parts = planes(piece)
    magnitude = modulus(parts)
    finite = np.isfinite(magnitude)
    if is_exact(dtype):
        return magnitude[finite], np.ones(int(finite.sum()))
    form = float_format(dtype)
    finite &= magnitude < form.overflow
    unit = spacing(np.maximum.reduce([np.abs(p) for p in parts]), form)
    return magnitude[finite], unit[finite]


def _zeros_pass(magnitude: Floats, unit: Floats, rule: Rule) -> bool:
    inside = np.zeros(magnitude.size, np.bool_)
    if rule.atol is not None:
        inside |= magnitude <= rule.atol + rule.rtol * magnitude + rule.rounding * unit
    if rule.max_ulp is not None:
        inside |= magnitude / unit <= rule.ulp_limit
    return bool(inside.all())
