"""The error that an honest kernel may have: rounding of the output plus that of the accumulation.

`1.25·(c_out·u_out·|truth| + c_acc·√K·u_acc·S + floor)`.  The √K growth of accumulated rounding
error is the probabilistic bound of Higham and Mary ("A new approach to probabilistic rounding error
analysis", SIAM J. Sci. Comput. 41, 2019).  S, the sum of the magnitudes that were added up, is not
known from the output alone: here it is `max(|truth|, rms of the truth)`, which is too small where
terms cancel.  c_acc is 4 because of that; where S is known, 1 is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from workers.judge.numerics.chunks import MeanSquare, chunks, modulus, planes
from workers.judge.numerics.formats import DOUBLE_PRECISION, Floats, float_format, is_exact
from workers.judge.numerics.rules import Expected

SLACK = 1.25
C_OUT = 1.0  # rounding to nearest
C_ACC = 4.0  # S is an estimate
WIDE_EXPONENT = -126  # formats with float32's range or more are the ones whose subnormals kernels may flush


@dataclass(frozen=True)
class Accumulator:
    """How products are added up: `u_acc` a step's relative rounding error, `u_product` the inputs'."""

    u_acc: float
    u_product: float = 0.0


ACCUMULATORS = {
    "fp64": Accumulator(2.0**-53),
    "fp32": Accumulator(2.0**-24),
    "fp16": Accumulator(2.0**-11),
    "bf16": Accumulator(2.0**-8),
    "tensor-core-fp32": Accumulator(2.0**-23),  # truncates where fp32 rounds
    "hopper-fp8": Accumulator(2.0**-14),  # about 13 mantissa bits, truncated
    "tpu-bf16-1pass": Accumulator(2.0**-24, u_product=2.0**-8),  # inputs rounded to bf16, summed in fp32
}


@dataclass(frozen=True)
class ErrorBudget:
    """Call it with magnitudes of the truth (float64, any shape): the budget there, in the same unit."""

    relative: float
    accumulated: float
    scale: float
    floor: float

    def __call__(self, magnitude: Floats) -> Floats:
        budget = np.maximum(magnitude, self.scale)
        budget *= self.accumulated
        budget += magnitude * self.relative
        budget += self.floor
        return budget


def error_budget(expected: Expected, accumulate: str, dtype: Any) -> ErrorBudget:
    """The budget of one output; reads the truth once, for its root mean square.

    The floor is the smallest subnormal, and the smallest normal number in formats with float32's
    exponents or more, whose subnormals GPUs may flush.  Integers have no rounding of their own and no floor.
    float64 outputs accumulate in fp64 where the model says fp32, the default.  Raises `ValueError`
    for an unknown accumulator.
    """
    target = np.dtype(dtype)
    if accumulate not in ACCUMULATORS:
        raise ValueError(f"accumulate = {accumulate!r}; known: {', '.join(ACCUMULATORS)}")
    u_out, floor, double = _output_rounding(target)
    model = ACCUMULATORS["fp64" if double and accumulate == "fp32" else accumulate]
    growth = math.sqrt(expected.reduction_length) * model.u_acc + model.u_product
    return ErrorBudget(SLACK * C_OUT * u_out, SLACK * C_ACC * growth, _rms(expected, target), SLACK * floor)


def _output_rounding(dtype: np.dtype[Any]) -> tuple[float, float, bool]:
    """(u_out, floor, whether it is double precision)."""
    if is_exact(dtype):
        return 0.0, 0.0, False
    form = float_format(dtype)
    floor = form.smallest_normal if form.e_min <= WIDE_EXPONENT else form.smallest
    return form.unit_roundoff, floor, form.precision == DOUBLE_PRECISION


def _rms(expected: Expected, dtype: np.dtype[Any]) -> float:
    overflow = math.inf if is_exact(dtype) else float_format(dtype).overflow
    mean = MeanSquare()
    with np.errstate(all="ignore"):
        for _, (piece,) in chunks(expected.truth):
            magnitude = modulus(planes(piece))
            magnitude[magnitude >= overflow] = np.inf
            mean.add(magnitude)
    return mean.root
