import ml_dtypes
import numpy as np
import pytest

from workers.judge.numerics import Expected, Tolerance, compare

FLOATS = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
          "float8_e5m2fnuz", "float8_e3m4", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")  # fmt: skip


def dtype_named(name):
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.fixture
def judge():
    """Compare `got` with `native` (and `oracle`); tolerances by keyword, none of them set by default."""

    def run(got, native, oracle=None, *, k=1, vacuous=False, accumulate="fp32", **bounds):
        tolerance = Tolerance(**{"atol": None, "rtol": None, "max_ulp": None, **bounds})
        expected = Expected(np.asarray(native), None if oracle is None else np.asarray(oracle), k)
        return compare("y", np.asarray(got), expected, tolerance, vacuous=vacuous, accumulate=accumulate)

    return run


@pytest.fixture(params=FLOATS)
def dtype(request):
    return dtype_named(request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(20240611)
