"""What the judge knows about dtypes: the parameters of every floating format, and default tolerances."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

finfo: Any = ml_dtypes.finfo  # untyped; for NumPy's own dtypes too
iinfo: Any = ml_dtypes.iinfo

SMALL_INTEGERS = ("int1", "uint1", "int2", "uint2", "int4", "uint4")
COMPONENTS = {"complex64": "float32", "complex128": "float64"}
DOUBLE_PRECISION = 53

# (rtol, atol) where a task gives none.  fp16 to fp64: the table of torch.testing.assert_close.
# Formats of at most 4 bits of precision: one code, that is twice the unit round-off and, near zero,
# the smallest subnormal (`default_tolerance`).
DEFAULT_TOLERANCES = {
    "float64": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating format with `precision` bits, the hidden one included (IEEE 754's p)."""

    precision: int
    e_min: int  # exponent of the smallest normal number, 2**e_min
    e_max: int  # exponent of the largest finite number's binade
    largest: float
    smallest: float  # the smallest positive number, subnormal where there are subnormals
    smallest_normal: float
    has_inf: bool
    overflow: float  # magnitudes from here on round to infinity; inf where the format has none

    @property
    def unit_roundoff(self) -> float:
        """2**-p, the largest relative error of rounding to nearest."""
        return math.ldexp(1.0, -self.precision)

    @property
    def beyond(self) -> float:
        """Magnitudes from here on have no finite value of their own: they are infinity, or saturate."""
        return self.overflow if self.has_inf else math.nextafter(self.largest, math.inf)

    @property
    def epsilon(self) -> float:
        """The spacing at 1, 2**(1-p)."""
        return math.ldexp(1.0, 1 - self.precision)


# Values of tf32 are held as float32; a tensor core rounds its inputs to them.
TF32 = FloatFormat(
    precision=11,
    e_min=-126,
    e_max=127,
    largest=math.ldexp(2 - 2.0**-10, 127),
    smallest=math.ldexp(1.0, -136),
    smallest_normal=math.ldexp(1.0, -126),
    has_inf=True,
    overflow=math.ldexp(2 - 2.0**-11, 127),
)


@functools.cache
def float_format(dtype: np.dtype[Any]) -> FloatFormat:
    """The format of a floating dtype, or of a complex dtype's components; `TypeError` for any other."""
    component = np.dtype(COMPONENTS.get(dtype.name, dtype))
    try:
        info = finfo(component)
    except ValueError as error:
        raise TypeError(f"{dtype.name} is no floating dtype that the judge knows") from error
    largest, precision = float(info.max), int(info.nmant) + 1
    e_max = math.frexp(largest)[1] - 1
    with np.errstate(all="ignore"):
        has_inf = bool(np.isinf(np.array(np.inf).astype(component).astype(np.float64)))
    return FloatFormat(
        precision=precision,
        e_min=math.frexp(float(info.smallest_normal))[1] - 1,
        e_max=e_max,
        largest=largest,
        smallest=float(info.smallest_subnormal),
        smallest_normal=float(info.smallest_normal),
        has_inf=has_inf,
        overflow=largest + math.ldexp(1.0, e_max - precision) if has_inf else math.inf,
    )


@functools.cache  # NumPy makes a dtype's name anew each time
def is_exact(dtype: np.dtype[Any]) -> bool:
    """Booleans and integers, the narrow ones of ml_dtypes among them."""
    return dtype.kind in "biu" or dtype.name in SMALL_INTEGERS


def default_tolerance(dtype: np.dtype[Any]) -> tuple[float, float]:
    """(atol, rtol) of a dtype for which the task says nothing; zeros for integers and booleans."""
    if is_exact(dtype):
        return 0.0, 0.0
    known = DEFAULT_TOLERANCES.get(COMPONENTS.get(dtype.name, dtype.name))
    if known is not None:
        return known[1], known[0]
    form = float_format(dtype)
    return form.smallest, 2 * form.unit_roundoff
