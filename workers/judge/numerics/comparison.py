"""`compare`: one output against what it should be."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.report import OutputResult, WorstElement
from workers.judge.named_rules import rules
from workers.judge.numerics.budget import ErrorBudget, error_budget
from workers.judge.numerics.chunks import CHUNK
from workers.judge.numerics.decision import decide
from workers.judge.numerics.formats import is_exact
from workers.judge.numerics.measure import measure
from workers.judge.numerics.rules import Expected, Piece, Rule, Tolerance, check_expected, rule_for
from workers.judge.numerics.single_pass import single_pass
from workers.judge.numerics.statistics import QUANTILES, coarse, quantile
from workers.judge.numerics.tally import CANDIDATE, REFERENCE, Tally
from workers.judge.numerics.ulp import ulp_distance

EXACT_IN_FLOAT64 = 1 << 53
IN_PARALLEL = 1 << 20  # elements
MOST_THREADS = 4


def compare(
    name: str,
    got: NDArray[Any],
    expected: Expected,
    tolerance: Tolerance,
    *,
    vacuous: bool = False,
    accumulate: str = "fp32",
) -> OutputResult:
    """Judge one output by the rules of `rules`.

    `got` has the shape and dtype of `expected.native`, which the caller has checked (`ValueError`
    otherwise); 0 elements pass.  `vacuous`: the budget decides in place of the tolerance.
    `accumulate`: a name of `budget.ACCUMULATORS`, else `ValueError`; an unknown dtype: `TypeError`.
    Errors are |got - truth| in the output's unit over elements that are finite on both sides;
    `max_ulp` is infinite where a special value does not match.  `budget_ratio` is `None` for
    integers.  Beside the arrays it needs about 15 MiB, and 50 bytes for every
    1000 elements.
    """
    check_expected(expected)
    if got.shape != expected.native.shape or got.dtype != expected.native.dtype:
        raise ValueError(f"{name}: {got.dtype}{got.shape} is not {expected.native.dtype}{expected.native.shape}")
    rule = rule_for(tolerance, expected, vacuous=vacuous)
    dtype = expected.native.dtype
    budget = None if is_exact(dtype) and not rule.budget else error_budget(expected, accumulate, dtype)
    tally = tallied(got, expected, rule, budget)
    return _result(name, got, expected, rule, tally)


def tallied(got: NDArray[Any], expected: Expected, rule: Rule, budget: ErrorBudget | None) -> Tally:
    """Everything that is counted, in one pass, by several threads where the output is large."""
    if got.size < IN_PARALLEL:
        return _part(range(0, got.size, CHUNK), got, expected, rule, budget)
    pieces = range(0, got.size, CHUNK)
    count = min(MOST_THREADS, len(os.sched_getaffinity(0)))
    parts = [pieces[n * len(pieces) // count : (n + 1) * len(pieces) // count] for n in range(count)]
    with ThreadPoolExecutor(count) as pool:
        first, *others = pool.map(lambda part: _part(part, got, expected, rule, budget), parts)
    for other in others:
        first.merge(other)
    return first


def _part(starts: range, got: NDArray[Any], expected: Expected, rule: Rule, budget: ErrorBudget | None) -> Tally:
    tally = Tally(got.shape, got.dtype)
    quick = single_pass(tally, got.dtype, rule, budget, oracle=expected.oracle is not None)
    with np.errstate(all="ignore"):
        for start, piece in expected.pieces(got, starts):
            counted = quick.add(start, piece) if quick else 0
            if counted < piece.got.size:
                _add(tally, start + counted, piece.after(counted), rule, budget)
    if quick:
        quick.finish()
    return tally


def _add(tally: Tally, start: int, piece: Piece, rule: Rule, budget: ErrorBudget | None) -> None:
    measured = measure(piece.got, piece.native, piece.oracle, exact=rule.exact)
    tally.add(start, measured, decide(measured, rule, budget, piece.sensitivity))
    tally.rules.add(piece.got, piece.native, finite=measured.specials is None)


def _result(name: str, got: NDArray[Any], expected: Expected, rule: Rule, tally: Tally) -> OutputResult:
    with_reference = tally.reference_max_ulp is not None
    exponent, errors, reference_errors = tally.octaves.bins()
    return OutputResult(
        name=name,
        shape=got.shape,
        dtype=got.dtype.name,
        ok=tally.mismatched == 0,
        decided_by=_decided_by(rule, tally),
        elements=got.size,
        mismatched=tally.mismatched,
        max_abs_error=tally.max_abs,
        max_rel_error=tally.max_rel,
        max_ulp=tally.max_ulp,
        p999_ulp=tally.p999_ulp(),
        ulp_histogram=tuple(coarse(tally.fine[CANDIDATE]).tolist()),
        reference_ulp_histogram=tuple(coarse(tally.fine[REFERENCE]).tolist()) if with_reference else (),
        error_exponent=exponent,
        error_histogram=errors,
        reference_error_histogram=reference_errors if with_reference else (),
        allowed_error=tally.allowed(),
        allowed_ulp=None if rule.max_ulp is None or rule.budget else rule.ulp_limit,
        worst=_worst(got, expected, tally),
        reference_max_ulp=tally.reference_max_ulp,
        budget_ratio=None if is_exact(got.dtype) else tally.budget_ratio,
        nan_mismatch=tally.nan_mismatch,
        inf_mismatch=tally.inf_mismatch,
        budget_basis="" if is_exact(got.dtype) else _basis(expected),
        normalised_rms=tally.sums.normalised_rms(),
        bias_ulp=tally.sums.bias(got.size),
        quantiles_ulp=(*(quantile(tally.fine[CANDIDATE], share) for share in QUANTILES), tally.p999_ulp()),
        error_map=tally.map.logarithms() if got.size else (),
        rules=rules(tally.rules),
    )


def _basis(expected: Expected) -> str:
    """How the budget's S and g(K) came about, in words."""
    how = "K, as errors do not cancel on such inputs" if expected.systematic else "√K"
    return f"S {expected.basis}; g(K) = {how}; K = {expected.reduction_length}"


def _decided_by(rule: Rule, tally: Tally) -> str:
    """A failure names the rule that was missed, a success the last rule that an element needed."""
    if tally.nan_mismatch or tally.inf_mismatch:
        return "special"
    if tally.mismatched:
        return rule.name
    if tally.by_reference:
        return "reference_error"
    return "max_ulp" if tally.by_ulp else rule.name


def _worst(got: NDArray[Any], expected: Expected, tally: Tally) -> tuple[WorstElement, ...]:
    _, indices = tally.worst.sorted()
    return tuple(_worst_element(got, expected, int(flat)) for flat in indices)


def _worst_element(got: NDArray[Any], expected: Expected, flat: int) -> WorstElement:
    index = tuple(int(i) for i in np.unravel_index(flat, got.shape))
    given, want = got[index], expected.truth[index]
    distance = ulp_distance(np.asarray(given), np.asarray(want), got.dtype)
    return WorstElement(index=index, got=_shown(given), want=_shown(want), ulp=float(distance))


def _shown(value: Any) -> float | str:
    """A number as a report shows it: text where a float would not be exact, or would not do."""
    if np.iscomplexobj(value):
        return str(complex(value))
    if is_exact(value.dtype) and abs(int(value)) > EXACT_IN_FLOAT64:
        return str(int(value))
    number = float(value)
    return number if math.isfinite(number) else str(number)
