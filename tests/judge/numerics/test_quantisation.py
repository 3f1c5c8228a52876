"""Rounding to formats: agreement with ml_dtypes, scales by recipe, and figures of the published kind."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from workers.judge.numerics.formats import TF32, float_format
from workers.judge.numerics.quantisation import FORMATS, quantised, rounded_to

BY_NAME = {form.name: form for form in FORMATS}
CODES = {  # names here, and the dtypes whose casts round as they do
    "fp32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
    "fp8-e5m2": ml_dtypes.float8_e5m2,
}
singles = st.floats(width=32, allow_nan=True, allow_infinity=True)
normal = np.random.default_rng(7).standard_normal((64, 4096))


def q(name, values):
    return quantised(np.asarray(values), BY_NAME[name])


class TestRounding:
    @pytest.mark.parametrize("name", CODES)
    @given(values=arrays(np.float32, st.integers(1, 40), elements=singles))
    def test_agrees_with_the_casts_of_ml_dtypes(self, name, values):
        with np.errstate(all="ignore"):
            want = values.astype(CODES[name]).astype(np.float64)
        np.testing.assert_array_equal(q(name, values), want)

    @pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float6_e2m3fn, ml_dtypes.float4_e2m1fn])
    @given(values=arrays(np.float32, st.integers(1, 40), elements=singles.filter(np.isfinite)))
    def test_agrees_up_to_the_largest_number_and_then_stays_there(self, dtype, values):
        form = float_format(np.dtype(dtype))
        clipped = np.clip(values, -form.largest, form.largest)
        want = clipped.astype(dtype).astype(np.float64)
        np.testing.assert_array_equal(rounded_to(values.astype(np.float64), form), want)

    @pytest.mark.parametrize(
        ("value", "want"),
        [
            (1 + 2.0**-11, 1.0),  # ties go to even
            (1 + 3 * 2.0**-11, 1 + 2.0**-9),
            (1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-10),
            (-(1 + 2.0**-11 + 2.0**-40), -(1 + 2.0**-10)),
            (2.0**-136, 2.0**-136),  # the smallest subnormal
            (2.0**-137, 0.0),
            (3.4e38, 3.4e38 // 2.0**117 * 2.0**117),
        ],
    )
    def test_tf32_keeps_ten_bits(self, value, want):
        assert rounded_to(np.array([value]), TF32)[0] == want

    def test_one_step_from_float64_not_two(self):
        """Through float32 this would become a tie, and then the even neighbour below."""
        value = 1 + 2.0**-8 + 2.0**-40
        assert q("bf16", [value])[0] == 1 + 2.0**-7

    @pytest.mark.parametrize("name", ["fp32", "tf32", "bf16", "fp16", "fp8-e4m3fn", "fp8-e5m2"])
    def test_rounding_again_changes_nothing(self, name):
        once = q(name, normal)
        np.testing.assert_array_equal(q(name, once), once)


class TestScales:
    @pytest.mark.parametrize("form", [f for f in FORMATS if f.scales], ids=lambda f: f.name)
    @settings(max_examples=20)
    @given(
        values=arrays(np.float64, array_shapes(max_dims=2, max_side=36), elements=st.floats(-1e6, 1e6)),
        exponent=st.integers(-20, 20),
    )
    def test_a_power_of_two_goes_through(self, form, values, exponent):
        values = np.where(np.abs(values) < 1e-6, 0.0, values)
        scaled = np.ldexp(quantised(values, form), exponent)
        np.testing.assert_array_equal(quantised(np.ldexp(values, exponent), form), scaled)

    @pytest.mark.parametrize("form", FORMATS, ids=lambda f: f.name)
    def test_zeros_empty_and_scalars(self, form):
        assert not quantised(np.zeros((3, 40)), form).any()
        assert quantised(np.empty((0, 7)), form).shape == (0, 7)
        assert quantised(np.float32(1.0).reshape(()), form).shape == ()
        assert quantised(np.float32(1.0).reshape(()), form) == pytest.approx(1.0)

    @pytest.mark.parametrize("form", FORMATS, ids=lambda f: f.name)
    def test_specials_stay_and_scale_nothing(self, form):
        values = normal[:2, :64].copy()
        plain = quantised(values, form)
        values[0, 40:43] = np.inf, -np.inf, np.nan
        got = quantised(values, form)
        np.testing.assert_array_equal(got[0, 40:43], [np.inf, -np.inf, np.nan])
        if form.scales is None:
            np.testing.assert_array_equal(np.delete(got, [40, 41, 42], 1), np.delete(plain, [40, 41, 42], 1))
        assert np.isfinite(np.delete(got[0], [40, 41, 42])).all()

    def test_the_largest_magnitude_is_kept_by_a_scale_of_its_own(self):
        rows = np.array([[1e-3, 2e-3, -3e-3], [1.0, 200.0, -300.0]])
        assert q("int8/row", rows)[:, 2] == pytest.approx([-3e-3, -300.0], rel=1e-6)
        assert q("int8/tensor", rows)[0].tolist() == [0.0, 0.0, 0.0]

    def test_columns_are_rows_of_the_transposed(self):
        values = normal[:8, :40] * 10.0 ** np.arange(8)[:, None]
        np.testing.assert_array_equal(q("int8/column", values.T), q("int8/row", values).T)
        np.testing.assert_array_equal(q("int8/column", values[0]), q("int8/tensor", values[0]))
        stacked = np.stack([values.T, 100 * values.T])
        np.testing.assert_array_equal(q("int8/column", stacked)[1], q("int8/column", stacked[1]))

    def test_a_block_ends_where_the_row_does(self):
        """33 elements are a block of 32 and one of 1, whose scale is its own."""
        row = np.full((1, 33), 6.0)
        row[0, 32] = 1e-4
        assert q("int4/32", row)[0, 32] == pytest.approx(1e-4, rel=1e-6)
        assert q("int4/32", np.hstack([row, row]))[0, 33] == pytest.approx(6.0, rel=1e-6)

    def test_mx_by_the_specification(self):
        """amax 7 has exponent 2, so has e2m1: scale 1.  7 lies beyond 6 and is clipped; 1e-9 is far below."""
        row = np.zeros((1, 32))
        row[0, :4] = 7.0, 2.5, 0.3, 1e-9
        assert q("mxfp4", row)[0, :4].tolist() == [6.0, 2.0, 0.5, 0.0]

    def test_nvfp4_relates_its_blocks_to_the_largest(self):
        """The largest block has scale 448, another a tenth as large the e4m3 number nearest 44.8, which is 44."""
        row = np.zeros((1, 32))
        row[0, 0], row[0, 16] = 6.0, 0.6
        got = q("nvfp4", row)[0]
        assert got[0] == pytest.approx(6.0, rel=1e-6)
        assert got[16] == pytest.approx(6 * 44 / 448, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "relative_rms"),
    # Standard normal values, rows of 4096: figures that anybody can measure, to two digits.
    [
        ("bf16", 1.7e-3), ("fp16", 2.1e-4), ("tf32", 2.1e-4), ("fp8-e4m3fn", 2.7e-2), ("fp8-e5m2", 5.3e-2),
        ("mxfp8-e4m3", 3.0e-2), ("mxfp6-e2m3", 2.8e-2), ("mxfp4", 0.115), ("nvfp4", 0.095), ("int8/row", 8.7e-3),
        ("int4/32", 0.097),
    ],
)  # fmt: skip
def test_the_error_on_normal_values(name, relative_rms):
    error = np.sqrt(np.mean((q(name, normal) - normal) ** 2) / np.mean(normal**2))
    assert error == pytest.approx(relative_rms, rel=0.03)
