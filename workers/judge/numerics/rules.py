"""The rules of a comparison and the expected value; which of them decides is said in `decision`.

In this order, per output: special positions; every element within `atol + rtol·|truth|` or, where
`max_ulp` is given, within that many ulp; an element outside passes if its error is at most the
reference's own error there.  Where the budget decides, it replaces the tolerance and `max_ulp`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.chunks import chunks
from workers.judge.numerics.formats import default_tolerance, is_exact

SPECIAL_MODES = ("match", "ignore_nan_payload")  # one rule: positions and signs decide, payloads never
BUDGET_MODES = ("reports", "decides")
HALF_ULP = 0.5


@dataclass(frozen=True)
class Tolerance:
    """A task's tolerance for one output; `None` is unset.

    `atol` has the unit of the output, `rtol` has none, `max_ulp` counts ulp of the output's dtype.
    One of `atol` and `rtol` alone leaves the other 0; `max_ulp` alone leaves both out; nothing at
    all means `formats.DEFAULT_TOLERANCES` (integers and booleans: exact).  Raises `ValueError` for a
    negative or NaN bound and for an unknown mode.
    """

    atol: float | None
    rtol: float | None
    max_ulp: float | None
    special: str = "match"
    budget: str = "reports"

    def __post_init__(self) -> None:
        for name in ("atol", "rtol", "max_ulp"):
            bound = getattr(self, name)
            if bound is not None and not bound >= 0:
                raise ValueError(f"{name} = {bound!r} is no bound; it must be 0 or more")
        if self.special not in SPECIAL_MODES:
            raise ValueError(f"special = {self.special!r}; known: {', '.join(SPECIAL_MODES)}")
        if self.budget not in BUDGET_MODES:
            raise ValueError(f"budget = {self.budget!r}; known: {', '.join(BUDGET_MODES)}")


class Piece(NamedTuple):
    """A one-dimensional part of an output and of what it should be."""

    got: NDArray[Any]
    native: NDArray[Any]
    oracle: NDArray[Any] | None
    sensitivity: NDArray[np.float32] | None

    def after(self, count: int) -> Piece:
        """What follows the first `count` elements."""
        oracle = None if self.oracle is None else self.oracle[count:]
        sensitivity = None if self.sensitivity is None else self.sensitivity[count:]
        return Piece(self.got[count:], self.native[count:], oracle, sensitivity)


@dataclass(frozen=True)
class Expected:
    """What an output should be.

    `native`, any shape: what the reference returned, in the dtype that the output must have.
    `oracle`, the same shape: the same in float64, complex128 or integers, taken as the truth;
    `None`: `native` is the truth, give or take half an ulp, its own rounding.
    `reduction_length`: the K of the longest sum behind one element, at least 1.
    `sensitivity`, the same shape: the error budget's S, not negative, in the output's unit; `None`:
    unknown.  `basis` says in words how it was found, or why not.
    `systematic`: rounding errors do not cancel on these inputs, they grow with K and not with √K.
    """

    native: NDArray[Any]
    oracle: NDArray[Any] | None
    reduction_length: int
    sensitivity: NDArray[np.float32] | None = None
    systematic: bool = False
    basis: str = "guessed"

    @property
    def truth(self) -> NDArray[Any]:
        return self.native if self.oracle is None else self.oracle

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """`native`, and `oracle` where there is one."""
        return (self.native,) if self.oracle is None else (self.native, self.oracle)

    def pieces(self, got: NDArray[Any], starts: range) -> Iterator[tuple[int, Piece]]:
        """`got` with everything here, by chunks of `starts.step` elements that begin at these flat indices."""
        extra = [a for a in (self.oracle, self.sensitivity) if a is not None]
        for start, (given, native, *rest) in chunks(got, self.native, *extra, starts=starts):
            oracle = None if self.oracle is None else rest.pop(0)
            yield start, Piece(given, native, oracle, rest[0] if rest else None)


@dataclass(frozen=True)
class Rule:
    """A tolerance made definite for one dtype: `atol` and `max_ulp` are `None` where that rule is off."""

    atol: float | None
    rtol: float
    max_ulp: float | None
    exact: bool  # integers and booleans for which no tolerance was given
    budget: bool  # the budget decides in place of the others
    rounded: bool  # the truth is itself a rounded value: half an ulp is added to what is allowed

    @property
    def rounding(self) -> float:
        """What is added, in ulp, to `atol + rtol·|truth|`; none where the task asks for 0 outright: exact is exact."""
        return HALF_ULP if self.rounded and (self.atol, self.rtol) != (0.0, 0.0) else 0.0

    @property
    def ulp_limit(self) -> float:
        """`max_ulp` with the same addition, and the same exception."""
        limit = self.max_ulp or 0.0
        return limit + HALF_ULP if self.rounded and limit else limit

    @property
    def name(self) -> str:
        """What `decided_by` says where nothing else had to help."""
        if self.exact:
            return "exact"
        if self.budget:
            return "budget"
        return "max_ulp" if self.atol is None else "tolerance"


def rule_for(tolerance: Tolerance, expected: Expected, *, vacuous: bool = False) -> Rule:
    """Fill in the defaults; `vacuous` makes the budget decide, except over exact comparisons."""
    dtype, given = expected.native.dtype, (tolerance.atol, tolerance.rtol, tolerance.max_ulp)
    exact = is_exact(dtype) and given == (None, None, None)
    atol, rtol = _absolute_and_relative(tolerance, dtype)
    return Rule(
        atol=atol,
        rtol=rtol,
        max_ulp=tolerance.max_ulp,
        exact=exact,
        budget=not exact and (vacuous or tolerance.budget == "decides"),
        rounded=expected.oracle is None and not is_exact(dtype),
    )


def _absolute_and_relative(tolerance: Tolerance, dtype: np.dtype[Any]) -> tuple[float | None, float]:
    if tolerance.atol is None and tolerance.rtol is None:
        return default_tolerance(dtype) if tolerance.max_ulp is None else (None, 0.0)
    return tolerance.atol or 0.0, tolerance.rtol or 0.0


def check_expected(expected: Expected) -> None:
    """Raise `ValueError` for an expected value that contradicts itself."""
    if expected.oracle is not None and expected.oracle.shape != expected.native.shape:
        raise ValueError(f"oracle has shape {expected.oracle.shape}, native {expected.native.shape}")
    if expected.sensitivity is not None and expected.sensitivity.shape != expected.native.shape:
        raise ValueError(f"sensitivity has shape {expected.sensitivity.shape}, native {expected.native.shape}")
    if not (expected.reduction_length >= 1 and math.isfinite(expected.reduction_length)):
        raise ValueError(f"reduction_length = {expected.reduction_length}; it is at least 1")
