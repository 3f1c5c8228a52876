"""The error that an honest kernel may have: rounding of the output plus that of the accumulation.

`1.25·(c_out·u_out·|truth| + c_acc·g(K)·u_acc·S + floor)`.  g(K) = √K is the probabilistic growth of
accumulated rounding error (Higham and Mary, "A new approach to probabilistic rounding error analysis",
SIAM J. Sci. Comput. 41, 2019), g(K) = K the deterministic one, for inputs on which errors do not cancel
(`structure`).  S is the sum of the magnitudes that were added up, from the reference's sandbox
(`workers.reference.sensitivity`), at least |truth|.  Where it is not known, `max(|truth|, rms of the
truth)` stands for it, and c_acc is four times the accumulator's.  That is too small where terms cancel, which
shows in the reference as well: the guess is at least what explains the reference's own error (`_lost`).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.numerics.chunks import MeanSquare, chunks, modulus, planes
from workers.judge.numerics.formats import DOUBLE_PRECISION, Floats, float_format, is_exact
from workers.judge.numerics.rules import Expected

SLACK = 1.25
C_OUT = 1.0  # rounding to nearest
GUESSED = 4.0  # times c_acc where S is an estimate
WIDE_EXPONENT = -126  # formats with float32's range or more are the ones whose subnormals kernels may flush


@dataclass(frozen=True)
class Accumulator:
    """How products are added up.

    `u_acc`: a step's relative rounding error; `u_product`: that of a product of rounded inputs;
    `c_acc`: 1 for rounding to nearest, 2 where hardware truncates or aligns addends before it adds.
    """

    u_acc: float
    source: str
    u_product: float = 0.0
    c_acc: float = 1.0


ACCUMULATORS = {
    "fp64": Accumulator(2.0**-53, "IEEE 754 binary64"),
    "fp32": Accumulator(2.0**-24, "IEEE 754 binary32"),
    "fp16": Accumulator(2.0**-11, "IEEE 754 binary16"),
    "bf16": Accumulator(2.0**-8, "8 bits of precision"),
    # Products are exact, addends aligned and truncated: Fasi, Higham, Mikaitis and Pranesh, "Numerical
    # behavior of NVIDIA tensor cores", PeerJ CS 7:e330, 2021; later generations: Khattak and Mikaitis,
    # arXiv 2512.07004.  Truncation has twice the error of rounding.
    "tensor-core-fp32": Accumulator(2.0**-23, "PeerJ CS 7:e330; arXiv 2512.07004", c_acc=2.0),
    # About 13 mantissa bits are kept, truncated: DeepSeek-V3 technical report, arXiv 2412.19437, 3.3.2.
    "hopper-fp8": Accumulator(2.0**-14, "arXiv 2412.19437, 3.3.2", c_acc=2.0),
    # XLA's default precision on TPU: both inputs rounded to bf16, exact products summed in fp32.  Each
    # product is off by up to 2·2**-8; over independent ones that is less than 2**-8 of S.
    "tpu-bf16-1pass": Accumulator(2.0**-24, "jax.lax.Precision.DEFAULT", u_product=2.0**-8),
}


@dataclass(frozen=True)
class ErrorBudget:
    """The budget at given magnitudes of the truth, in the same unit; how it was made, for the report."""

    relative: float
    accumulated: float  # times S
    scale: float  # stands for S where it is not known, beside |truth|; 0 where it is
    floor: float
    typical: float = 0.0  # `scale`, with the reference's own error left out

    def __call__(self, magnitude: Floats, sensitivity: NDArray[np.float32] | None = None) -> Floats:
        """Budget of a piece: float64, in the shape of `magnitude`, which is not negative; S as it is known there."""
        budget = np.maximum(magnitude, self.scale if sensitivity is None else sensitivity)
        budget *= self.accumulated
        budget += magnitude * self.relative
        budget += self.floor
        return budget


def error_budget(expected: Expected, accumulate: str, dtype: Any) -> ErrorBudget:
    """The budget of one output; where S is not known it reads the truth, for its root mean square, and the reference.

    The floor is the smallest subnormal, and the smallest normal number in formats with float32's
    exponents or more, whose subnormals GPUs may flush.  Integers have no rounding of their own and no floor.
    Raises `ValueError` for an unknown accumulator.
    """
    target = np.dtype(dtype)
    (u_out, floor), model = _output_rounding(target), accumulator_for(accumulate, target)
    known = expected.sensitivity is not None
    c_acc = model.c_acc * (1.0 if known else GUESSED)
    accumulated = SLACK * c_acc * (growth(expected) * model.u_acc + model.u_product)
    typical = 0.0 if known else _rms(expected, target)
    own = 0.0 if known else min(SLACK * GUESSED * _lost(expected, target) / accumulated, sys.float_info.max)
    return ErrorBudget(SLACK * C_OUT * u_out, accumulated, max(typical, own), SLACK * floor, typical)


def accumulator_for(accumulate: str, dtype: np.dtype[Any]) -> Accumulator:
    """The model by its name; float64 outputs accumulate in fp64 where it says fp32, the default.

    Raises `ValueError` for an unknown name.
    """
    if accumulate not in ACCUMULATORS:
        raise ValueError(f"accumulate = {accumulate!r}; known: {', '.join(ACCUMULATORS)}")
    double = not is_exact(dtype) and float_format(dtype).precision == DOUBLE_PRECISION
    return ACCUMULATORS["fp64" if double and accumulate == "fp32" else accumulate]


def growth(expected: Expected) -> float:
    """g(K)."""
    return float(expected.reduction_length) if expected.systematic else math.sqrt(expected.reduction_length)


def _output_rounding(dtype: np.dtype[Any]) -> tuple[float, float]:
    """(u_out, floor)."""
    if is_exact(dtype):
        return 0.0, 0.0
    form = float_format(dtype)
    return form.unit_roundoff, form.smallest_normal if form.e_min <= WIDE_EXPONENT else form.smallest


def _rms(expected: Expected, dtype: np.dtype[Any]) -> float:
    form, mean = None if is_exact(dtype) else float_format(dtype), MeanSquare()
    with np.errstate(all="ignore"):
        for _, (piece,) in chunks(expected.truth):
            magnitude = modulus(planes(piece))
            if form is not None:  # what overflows counts for nothing, what saturates for what it becomes
                magnitude[magnitude >= form.beyond] = np.inf if form.has_inf else form.largest
            mean.add(magnitude)
    return mean.root


def _lost(expected: Expected, dtype: np.dtype[Any]) -> float:
    """The most that the reference loses beyond one rounding of its output.

    A kernel as good as the reference errs as much, but elsewhere.  Integers have nothing between right and wrong.
    """
    if expected.oracle is None or is_exact(dtype):
        return 0.0
    form, largest = float_format(dtype), 0.0
    with np.errstate(all="ignore"):
        for _, (native, oracle) in chunks(expected.native, expected.oracle):
            truth = planes(oracle)
            magnitude = modulus(truth)
            error = modulus([n - t for n, t in zip(planes(native), truth, strict=True)])
            error -= C_OUT * form.unit_roundoff * magnitude
            counts = (magnitude < form.beyond) & np.isfinite(error)
            largest = max(largest, float(error[counts].max(initial=0.0)))
    return largest
