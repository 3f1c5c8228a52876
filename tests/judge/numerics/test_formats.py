"""Every format's codes, against mpmath and against each other; formats with scales."""

import ml_dtypes
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.judge.numerics import Expected, dequantised, error_budget, is_systematic, scaled_distance, ulp_distance
from workers.judge.numerics.budget import ACCUMULATORS
from workers.judge.numerics.formats import TF32, float_format

NARROW = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4", "float4_e2m1fn",
          "float6_e2m3fn", "float6_e3m2fn", "float16", "bfloat16")  # fmt: skip
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def codes(name):
    """Every finite value of a format, ascending, once; +0 and -0 are one."""
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    bits = np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint32).astype(f"u{dtype.itemsize}").view(dtype)
    with np.errstate(invalid="ignore"):
        values = bits.astype(np.float64)
    return dtype, np.unique(values[np.isfinite(values)])


@pytest.mark.parametrize("name", NARROW)
def test_over_every_code_the_distance_to_a_truth_is_monotone(name):
    dtype, values = codes(name)
    for want in [*values[:: max(1, values.size // 60)], *values[:-1][::97] * 0.75]:
        distances = ulp_distance(values.astype(dtype), np.full(values.size, want), dtype)
        below, above = distances[values <= want], distances[values >= want]
        steps = np.concatenate([-np.diff(below), np.diff(above)])
        # so far apart that float64 cannot tell two distances apart: bfloat16's range alone does that
        assert (steps >= 0).all() if name == "bfloat16" else (steps > 0).all()


@pytest.mark.parametrize("name", NARROW)
def test_neighbouring_codes_are_one_apart(name):
    """Half an ulp below a power of two, whose unit is the gap above it."""
    dtype, values = codes(name)
    up = ulp_distance(values[1:].astype(dtype), values[:-1], dtype)
    outward = values[:-1] >= 0
    assert (up[outward] == 1).all()
    assert np.isin(up[~outward], (0.5, 1)).all()


@pytest.mark.parametrize("name", NARROW)
def test_signs_are_symmetric(name):
    dtype, values = codes(name)
    both = np.isin(-values, values)
    got, want = values[both], np.roll(values[both], 3)
    assert np.array_equal(
        ulp_distance(got.astype(dtype), want, dtype), ulp_distance((-got).astype(dtype), -want, dtype)
    )


def by_mpmath(got, want, form):
    """The definition in `ulp`, by 200-bit arithmetic."""
    with mpmath.workprec(200):
        size = abs(mpmath.mpf(want))
        exponent = form.e_min if size == 0 else int(mpmath.floor(mpmath.log(size, 2)))
        step = mpmath.mpf(2) ** (exponent - form.precision + 1)
        if mpmath.nint(size / step) * step >= mpmath.mpf(2) ** (exponent + 1):
            exponent += 1  # it rounds into the next binade
        exponent = min(max(exponent, form.e_min), form.e_max)
        return float(abs(mpmath.mpf(got) - mpmath.mpf(want)) / mpmath.mpf(2) ** (exponent - form.precision + 1))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"])
@given(share=st.floats(-0.99, 0.99), step=st.integers(-40, 40), exponent=st.integers(-160, 3))
def test_it_agrees_with_mpmath(name, share, step, exponent):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    form = float_format(dtype)
    want = float(np.clip(np.ldexp(share, exponent), -form.largest, form.largest))
    got = np.float64(want * (1 + step * form.epsilon)).astype(dtype)
    if np.isfinite(float(got)):
        assert float(ulp_distance(got, want, dtype)) == pytest.approx(by_mpmath(float(got), want, form), rel=1e-12)


@given(FINITE, st.integers(-5, 5))
def test_tf32_counts_in_steps_of_two_to_the_thirteen_of_float32(value, steps):
    value = float(np.float32(1 + abs(value) % 0.9))
    got = np.float32(value + steps * 2.0**-10)
    assert float(ulp_distance(got, value, "tf32")) == pytest.approx(float(ulp_distance(got, value, np.float32)) / 2**13)
    assert TF32.unit_roundoff == 2.0**-11


# Codes with scales


@pytest.mark.parametrize("scale_shape", [(), (1,), (4, 1), (1, 64), (4, 2), (64,)])
def test_one_code_is_one_apart_whatever_the_scales(rng, scale_shape):
    scale = 2.0 ** rng.integers(-9, 9, scale_shape)
    got = rng.integers(-100, 100, (4, 64)).astype(np.int8)
    want = dequantised(got + np.int8(1), scale)
    assert (scaled_distance((got, scale), want, scale) == 1).all()


def test_mx_blocks_and_a_wrong_scale_in_one_of_them(rng):
    values = rng.standard_normal((3, 96))
    scale = 2.0 ** (np.floor(np.log2(abs(values).reshape(3, 3, 32).max(axis=2))) - 8)
    e4m3 = (values / np.repeat(scale, 32, axis=1)).astype(ml_dtypes.float8_e4m3fn)
    e8m0 = scale.astype(ml_dtypes.float8_e8m0fnu)
    saturated = ~(abs(e4m3.astype(float)) < 448)  # the largest code, or NaN above it
    distance = scaled_distance((e4m3, e8m0), values, e8m0)
    assert (distance[~saturated] <= 0.5).all()
    wrong = scale.copy()
    wrong[1, 2] *= 2
    assert np.median(scaled_distance((e4m3, wrong), values, e8m0)[1, 64:]) > 4
    assert np.array_equal(scaled_distance((e4m3, wrong), values, e8m0)[0], distance[0])


def test_a_shorter_last_block_a_zero_scale_and_what_does_not_fit():
    got = np.ones(10, np.int8)
    assert dequantised(got, np.array([1.0, 2.0, 3.0])).tolist() == [1] * 4 + [2] * 4 + [3] * 2
    assert scaled_distance((got, np.zeros(())), np.zeros(10), np.zeros(())).tolist() == [0] * 10
    for shape in ((4,), (2, 6)):
        with pytest.raises(ValueError, match=r"scales|blocks"):
            dequantised(np.ones((2, 9), np.int8), np.ones(shape))


# Accumulators and inputs


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_every_accumulator_has_a_source_and_orders_by_its_width(name):
    model = ACCUMULATORS[name]
    assert model.source and 0 < model.u_acc < 2.0**-7 and model.c_acc in (1, 2)
    one = Expected(np.ones(4, np.float32), np.ones(4), 64, np.ones(4, np.float32))
    budget = error_budget(one, name, np.float32)(np.ones(1), np.ones(1, np.float32))[0]
    want = 2.0**-24 + model.c_acc * (8 * (model.u_acc) + model.u_product) + 2.0**-126
    assert budget == pytest.approx(1.25 * want, rel=1e-12)


def test_known_s_replaces_the_guess_and_growth_follows_the_inputs():
    truth = np.array([0.0, 1.0])
    sensitivity = np.array([1000.0, 0.5], np.float32)
    budget = error_budget(Expected(truth.astype(np.float32), truth, 100, sensitivity), "fp32", np.float32)
    u = 2.0**-24
    assert budget(truth, sensitivity) == pytest.approx([1.25 * 10 * u * 1000, 1.25 * (u + 10 * u)], rel=1e-6)
    systematic = error_budget(Expected(truth.astype(np.float32), truth, 100, sensitivity, True), "fp32", np.float32)
    assert systematic(truth, sensitivity)[0] == pytest.approx(1.25 * 100 * u * 1000)


def test_which_inputs_are_systematic(rng):
    normal = rng.standard_normal((64, 1000)).astype(np.float32)
    one_hot = np.eye(300, dtype=np.float32)
    for structured in (normal * 0 + 0.1, np.arange(5000.0), one_hot, np.sign(normal), np.repeat(normal, 4), normal > 5):
        assert is_systematic([structured.astype(np.float32)])
    for continuous in (
        normal,
        np.maximum(normal, 0),
        normal.astype(ml_dtypes.bfloat16),
        normal.astype(ml_dtypes.float8_e4m3fn),
    ):
        assert not is_systematic([continuous])
    assert not is_systematic([normal, np.ones(1000, np.float32)])
    assert not is_systematic([normal, np.ones_like(normal)])
    assert is_systematic([np.ones_like(normal), np.ones(10)])
    assert not is_systematic([np.where(normal > 0, -np.inf, 0), normal[:8]])
    assert not is_systematic([]) and not is_systematic([np.arange(100)])
    assert not is_systematic([normal.astype(ml_dtypes.float4_e2m1fn)])
