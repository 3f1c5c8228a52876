"""Would zeros pass?"""

from __future__ import annotations

import numpy as np

from workers.judge.numerics.chunks import chunks
from workers.judge.numerics.decision import within_tolerance
from workers.judge.numerics.measure import measure
from workers.judge.numerics.rules import Expected, Tolerance, check_expected, rule_for


def is_vacuous(expected: Expected, tolerance: Tolerance) -> bool:
    """Whether an output of zeros is within tolerance of every finite element, though some are not 0.

    Elements that are NaN or infinite are left aside: their positions do not make the tolerance of
    the others mean anything.  The reference's own error excuses nothing here.  Stops at the first
    piece that zeros miss.
    """
    check_expected(expected)
    rule = rule_for(tolerance, expected)
    some = False
    with np.errstate(all="ignore"):
        for _, (native, *oracle) in chunks(*expected.arrays):
            measured = measure(np.zeros_like(native), native, oracle[0] if oracle else None, exact=rule.exact)
            inside = within_tolerance(measured, rule).ok
            if measured.specials is not None:
                inside |= measured.specials.bad
            if not inside.all():
                return False
            some = some or bool(measured.magnitude.any())
    return some
