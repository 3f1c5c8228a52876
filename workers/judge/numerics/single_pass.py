"""Calls `single_pass.c`, which counts a piece several times as fast as NumPy does, and with equal results.

Installing compiles it where there is a C compiler; where there is none, NumPy counts.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.named_rules import INSIDE, RULES, tightest
from workers.judge.numerics.budget import SLACK, ErrorBudget
from workers.judge.numerics.chunks import CHUNK, as_float32, planes
from workers.judge.numerics.formats import BFLOAT16, float_format, is_exact
from workers.judge.numerics.rules import HALF_ULP, Piece, Rule
from workers.judge.numerics.tally import Tally

VERSION = 3  # of single_pass.c: a library that was compiled from another one is not used
LIBRARY = Path(__file__).with_name(f"_single_pass{sysconfig.get_config_var('EXT_SUFFIX')}")
FLOAT32_PRECISION = 24
BY_TOLERANCE, BY_ULP, BY_BUDGET = range(3)
_NAMED = sorted(RULES, key=lambda rule: INSIDE.index(rule.inside))  # in the order that single_pass.c wants
_MAXIMA = ("max_abs", "max_rel", "max_ulp", "budget_ratio")
_TABLE = 256 * ((1 << 10) + (1 << 4))  # ROWS * STRIDE of single_pass.c
_TABLES_HOLD = 1 << 31  # elements: their bins are of 32 bits
_LARGEST = sys.float_info.max


def _fields(*groups: tuple[type, str]) -> list[tuple[str, type]]:
    return [(name, kind) for kind, names in groups for name in names.split()]


class _Rule(ctypes.Structure):
    """`Rule` of single_pass.c."""

    _fields_ = _fields(
        (ctypes.c_double, "overflow atol rtol rounding ulp_limit slack excuse_slack"),
        (ctypes.c_double, "relative accumulated scale floor budget_rounding tight_atol tight_rtol"),
        (ctypes.c_int64, "precision e_min e_max decides ulp_suffices with_oracle bfloat16 sums eithers not_boths"),
    )


class _Totals(ctypes.Structure):
    """`Totals` of single_pass.c."""

    _fields_ = _fields(
        (ctypes.c_int64, "mismatched by_ulp by_reference got_nonzero native_nonzero"),
        (ctypes.c_double, "max_abs max_rel max_ulp budget_ratio reference_max_ulp least_allowed most_allowed"),
        (ctypes.c_double, "least_size most_size"),
        (ctypes.c_int64, "tops worsts"),
        (ctypes.c_double, "errors truths signs"),
    )


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiled pass; `None` where it was not compiled, or from another source."""
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        version = loaded.single_pass_version()
        loaded.single_pass.restype = ctypes.c_int64
    except (OSError, AttributeError):
        return None
    return loaded if version == VERSION else None


def single_pass(
    tally: Tally, dtype: np.dtype[Any], rule: Rule, budget: ErrorBudget | None, *, oracle: bool
) -> SinglePass | None:
    """For real formats that float32 holds exactly, where there is a compiled pass; `oracle`: whether there is one."""
    compiled = library()
    if compiled is None or budget is None or is_exact(dtype) or dtype.kind == "c":
        return None
    finite = math.isfinite((rule.atol or 0.0) + rule.rtol + rule.ulp_limit)  # the compiler takes that for granted
    if not finite or float_format(dtype).precision > FLOAT32_PRECISION:
        return None
    return SinglePass(compiled, tally, _rule(dtype, rule, budget, oracle=oracle))


class SinglePass:
    """Feeds one tally, as `Tally.add` would, piece by piece; `finish` hands over what adds up by itself."""

    def __init__(self, compiled: ctypes.CDLL, tally: Tally, rule: _Rule) -> None:
        self._compiled, self._tally, self._rule = compiled, tally, rule
        self._totals = _Totals(least_allowed=_LARGEST, most_allowed=-_LARGEST, least_size=_LARGEST)
        self._counted = self._in_tables = 0
        bounds = np.array([named.of(tally.rules.dtype) for named in _NAMED]).T.copy()
        self._violations, self._floors = np.zeros(len(_NAMED), np.int64), np.zeros(2)
        self._top, self._worst = np.empty((2, CHUNK))
        self._top_at, self._worst_at = np.empty((2, CHUNK), np.int64)
        self._tables = np.zeros((2, _TABLE), np.uint32)
        self._held = (
            *bounds, self._floors, self._top, self._top_at, self._worst, self._worst_at,
            self._tables, tally.octaves.counts, self._violations,
            np.array([tally.map.rows, tally.map.columns, *tally.map.cells.shape]), tally.map.ends(),
            tally.map.cells,
        )  # fmt: skip
        self._pointers = [*map(_pointer, self._held), ctypes.byref(self._totals)]

    def add(self, start: int, piece: Piece) -> int:
        """Take in the piece at flat index `start`, up to its first block that is not plain: how many elements."""
        tally, totals = self._tally, self._totals
        self._floors[:] = tally.top.floor, tally.worst.floor
        truth = None if piece.oracle is None else _usable(planes(piece.oracle)[0], np.float64)
        sensitivity = None if piece.sensitivity is None else _usable(piece.sensitivity, np.float32)
        arrays = (self._narrow(piece.got), self._narrow(piece.native), truth, sensitivity)
        counted: int = self._compiled.single_pass(
            ctypes.c_int64(start), ctypes.c_int64(piece.got.size), *map(_pointer, arrays),
            ctypes.byref(self._rule), *self._pointers,
        )  # fmt: skip
        if counted:
            tally.sums.add_totals(totals.errors, totals.truths, totals.signs)
            tally.top.add_found(self._top[: totals.tops].copy(), self._top_at[: totals.tops].copy())
            tally.worst.add_found(self._worst[: totals.worsts].copy(), self._worst_at[: totals.worsts].copy())
            self._counted += counted
            self._in_tables += counted
            if self._in_tables >= _TABLES_HOLD:
                self._fold()
        return counted

    def _narrow(self, piece: NDArray[Any]) -> NDArray[Any]:
        return _usable(piece, piece.dtype) if self._rule.bfloat16 else _usable(as_float32(piece), np.float32)

    def finish(self) -> None:
        """Hand over counts and maxima; call it once, behind the last piece."""
        if not self._counted:
            return
        self._fold()
        tally, totals = self._tally, self._totals
        tally.elements += self._counted
        tally.mismatched += totals.mismatched
        tally.by_ulp |= bool(totals.by_ulp)
        tally.by_reference |= bool(totals.by_reference)
        for name in _MAXIMA:
            setattr(tally, name, max(getattr(tally, name), getattr(totals, name)))
        if self._rule.with_oracle:
            tally.reference_max_ulp = max(tally.reference_max_ulp or 0.0, totals.reference_max_ulp)
        if self._rule.decides != BY_ULP:
            tally.least_allowed = min(tally.least_allowed, totals.least_allowed)
            tally.most_allowed = max(tally.most_allowed, totals.most_allowed)
        named = tally.rules
        named.elements += self._counted
        named.got_zero = named.got_zero and not totals.got_nonzero
        named.ref_zero = named.ref_zero and not totals.native_nonzero
        for rule, count in zip(_NAMED, self._violations.tolist(), strict=True):
            named.violations[rule.name] += count

    def _fold(self) -> None:
        for side in range(1 + bool(self._rule.with_oracle)):
            self._compiled.single_pass_fold(
                ctypes.byref(self._rule), ctypes.c_double(self._totals.least_size),
                ctypes.c_double(self._totals.most_size), _pointer(self._tables[side]),
                _pointer(self._tally.fine[side]), _pointer(self._tally.octaves.counts[side]),
            )  # fmt: skip
        self._tables[:] = 0
        self._in_tables = 0


def _rule(dtype: np.dtype[Any], rule: Rule, budget: ErrorBudget, *, oracle: bool) -> _Rule:
    form, (tight_atol, tight_rtol) = float_format(dtype), tightest(dtype)
    decides = BY_BUDGET if rule.budget else BY_ULP if rule.atol is None else BY_TOLERANCE
    sums, eithers, not_boths = (sum(named.inside is kind for named in _NAMED) for kind in INSIDE)
    return _Rule(
        overflow=form.beyond, precision=form.precision, e_min=form.e_min, e_max=form.e_max,
        atol=rule.atol or 0.0, rtol=rule.rtol, rounding=rule.rounding, ulp_limit=rule.ulp_limit,
        slack=SLACK, excuse_slack=SLACK if rule.budget else 1.0,
        relative=budget.relative, accumulated=budget.accumulated, scale=budget.scale, floor=budget.floor,
        budget_rounding=HALF_ULP if rule.rounded else 0.0, tight_atol=tight_atol, tight_rtol=tight_rtol,
        decides=decides, ulp_suffices=rule.max_ulp is not None and decides == BY_TOLERANCE,
        with_oracle=oracle, bfloat16=dtype == BFLOAT16, sums=sums, eithers=eithers, not_boths=not_boths,
    )  # fmt: skip


def _usable(piece: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """As C reads it: contiguous, aligned, in this machine's byte order."""
    plain = piece.flags.c_contiguous and piece.flags.aligned and piece.dtype.isnative
    return piece if plain else np.require(piece, dtype, ["C", "A"])


def _pointer(array: NDArray[Any] | None) -> ctypes.c_void_p | None:
    return None if array is None else ctypes.c_void_p(array.__array_interface__["data"][0])
