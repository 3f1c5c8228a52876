import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.judge.numerics import ulp_distance
from workers.judge.numerics.formats import float_format
from workers.judge.numerics.ulp import flushed, histogram

FINITE32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
FINITE64 = st.floats(allow_nan=False, allow_infinity=False)
BF16 = np.dtype(ml_dtypes.bfloat16)


def distance(got, want, dtype=np.float32, **options):
    return float(ulp_distance(np.asarray(got), np.asarray(want, np.float64), dtype, **options))


def every_code(dtype):
    return np.arange(256, dtype=np.uint8).view(dtype)


def test_the_unit_at_a_power_of_two_is_the_gap_above(dtype):
    form = float_format(dtype)
    assert distance(np.float64(1 + form.epsilon), 1.0, dtype) == 1
    assert distance(np.float64(1 - form.epsilon / 2), 1.0, dtype) == 0.5


def test_correct_rounding_is_at_most_half_an_ulp(dtype, rng):
    form = float_format(dtype)
    truth = rng.uniform(-1, 1, 4000) * form.largest * 2.0 ** rng.integers(-20, 1, 4000)
    with np.errstate(all="ignore"):
        assert ulp_distance(truth.astype(dtype), truth, dtype).max() <= 0.5


def test_subnormals_have_one_spacing_and_zero_is_crossed(dtype):
    form = float_format(dtype)
    tiny = form.smallest
    assert distance(np.float64(-tiny), tiny, dtype) == 2
    assert distance(np.float64(0.0), tiny, dtype) == 1
    assert distance(np.float64(-0.0), 0.0, dtype) == 0


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "bfloat16", "float8_e5m2"])
def test_infinity_is_one_ulp_beyond_the_largest(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    form = float_format(dtype)
    assert distance(np.inf, form.largest, dtype) == 1
    assert distance(form.largest, np.inf, dtype) == 1
    assert distance(np.inf, np.inf, dtype) == 0
    assert distance(np.inf, -np.inf, dtype) == 2 ** (form.precision + 1)
    assert distance(-np.inf, form.largest, dtype) > 2**form.precision


def test_a_truth_that_overflows_equals_infinity():
    assert distance(np.float16(np.inf), 1e9, np.float16) == 0
    assert distance(np.float16(65504), 65519.9, np.float16) < 0.5
    assert distance(np.float16(65504), 65520.0, np.float16) == 1


def test_nan_equals_nan_and_nothing_else():
    assert distance(np.nan, np.nan) == 0
    assert distance(np.nan, 1.0) == np.inf
    assert distance(1.0, np.nan) == np.inf
    assert distance(np.nan, np.inf) == np.inf


def test_e4m3fn_codes_are_one_ulp_apart_within_a_binade():
    codes = every_code(ml_dtypes.float8_e4m3fn)[:127]
    steps = ulp_distance(codes[1:], codes[:-1].astype(np.float64), codes.dtype)
    assert (steps == 1).all()


def test_float64_distances_reach_across_the_whole_range():
    tiny, huge = 5e-324, np.finfo(np.float64).max
    assert distance(tiny, 0.0, np.float64) == 1
    assert distance(huge, np.nextafter(huge, 0), np.float64) == 1
    assert distance(-huge, huge, np.float64) == 2**54 - 2


def test_complex_distance_is_the_larger_component(rng):
    want = rng.standard_normal(9) + 1j * rng.standard_normal(9)
    got = (want + 1e-3j).astype(np.complex64)
    parts = [ulp_distance(got.real, want.real, np.float32), ulp_distance(got.imag, want.imag, np.float32)]
    assert (ulp_distance(got, want, np.complex64) == np.maximum(*parts)).all()


def test_shapes_are_kept_and_views_are_read_in_order(rng):
    want = rng.standard_normal((5, 7))
    got = (want.T.astype(np.float32) + 1).T
    assert ulp_distance(got, want, np.float32).shape == (5, 7)
    assert (ulp_distance(got, want, np.float32) == ulp_distance(got.copy(), want, np.float32)).all()


@given(FINITE32, FINITE32)
def test_mirrored_values_are_equally_far(got, want):
    assert distance(got, want) == distance(-got, -want)


@given(FINITE32, FINITE32, FINITE32)
def test_farther_on_one_side_is_never_nearer(want, a, b):
    near, far = sorted((abs(a), abs(b)))
    near, far = np.float64(near), np.float64(far)
    assert distance(want + near, want) <= distance(want + far, want)


@given(FINITE32)
def test_within_a_binade_the_distance_counts_numbers(want):
    want = np.float32(want)
    with np.errstate(over="ignore"):
        after = np.nextafter(want, np.float32(np.inf))
    if np.isfinite(after) and np.frexp(want)[1] == np.frexp(after)[1]:
        assert distance(after, want) == 1
        assert distance(want, after) == 1


@given(FINITE64, FINITE64)
def test_float64_agrees_with_spacing(got, want):
    with np.errstate(all="ignore"):
        expected = abs(np.float64(got) / 2 - want / 2) / np.spacing(min(abs(np.float64(want)), 2.0**1023)) * 2
    assert distance(got, want, np.float64) == expected


@given(st.floats(1e-30, 1e30))
def test_bf16_unit_is_two_to_the_sixteen_of_float32(want):
    want = float(np.float64(want).astype(BF16))  # the same binade in both
    ratio = distance(0.0, want, np.float32) / distance(0.0, want, BF16)
    assert ratio == 2.0**16


def test_histogram_bins_are_powers_of_two():
    counts = histogram(np.array([0.0, 0.4, 0.99, 1.0, 1.99, 2.0, 3.9, 4.0, 2.0**62, np.inf]))
    assert counts[:4].tolist() == [3, 2, 2, 1] and counts[63] == 2 and counts.sum() == 10


def test_scales_that_are_powers_of_two_and_have_no_zero():
    e8m0 = np.dtype(ml_dtypes.float8_e8m0fnu)
    assert distance(np.array(4, e8m0), 2.0, e8m0) == 1
    assert distance(np.array(2, e8m0), 2.0, e8m0) == 0


def test_flushing_makes_zeros_of_subnormals_on_both_sides(dtype):
    form = float_format(dtype)

    def flush(got, want):
        return distance(np.float64(got), want, dtype, flush_to_zero=True)

    largest_subnormal = form.smallest_normal - form.smallest
    for got, want in ((0.0, largest_subnormal), (-form.smallest, largest_subnormal), (form.smallest, -0.0)):
        assert distance(np.float64(got), want, dtype) > 0 and flush(got, want) == 0
    assert flush(form.smallest_normal, form.smallest_normal) == 0
    assert (
        flush(0.0, form.smallest_normal) == flush(largest_subnormal, form.smallest_normal) == 2 ** (form.precision - 1)
    )
    between = np.nextafter(form.smallest_normal, 0)  # rounds to a normal number, but in float64
    assert (flush(form.smallest_normal, between) < 1) == (dtype != np.float64)
    assert flush(form.largest, np.nextafter(form.largest, 0)) == distance(
        form.largest, np.nextafter(form.largest, 0), dtype
    )


def test_flushing_keeps_signs_and_special_values():
    form = float_format(np.dtype(np.float32))
    assert np.signbit(flushed(np.array([-1e-40, 1e-40]), form)).tolist() == [True, False]
    for got, want, far in ((np.nan, 1e-40, np.inf), (np.nan, np.nan, 0), (np.inf, np.inf, 0)):
        assert distance(np.float32(got), want, flush_to_zero=True) == far


def test_integers_and_booleans_differ_by_units():
    assert distance(np.int8(-128), 127, np.int8) == 255
    assert distance(np.True_, 0, np.bool_) == 1
