"""The compiled pass and NumPy's: the same numbers, over every format, rule and shape."""

import dataclasses
import hashlib

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.judge.numerics import Expected, Tolerance, compare, single_pass
from workers.judge.numerics import comparison as comparison_module
from workers.judge.numerics.chunks import CHUNK

SOURCE = single_pass.LIBRARY.with_name("single_pass.c")
SUMS = ("normalised_rms", "bias_ulp")  # they add up in another order
FORMATS = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
           "float8_e3m4", "float6_e2m3fn", "float4_e2m1fn", "float8_e8m0fnu")  # fmt: skip
TOLERANCES = (
    Tolerance(None, None, None), Tolerance(1e-3, 1e-2, None), Tolerance(0, 0, None), Tolerance(None, None, 2),
    Tolerance(1e-6, 1e-6, 1), Tolerance(None, None, 0), Tolerance(None, None, None, budget="decides"),
)  # fmt: skip

compiled = pytest.mark.skipif(single_pass.library() is None, reason="no compiled pass: no C compiler when installing")


def both(got, expected, tolerance, vacuous=False):
    """Results of the compiled pass and of NumPy, and how many elements of each piece the compiled one took."""
    with pytest.MonkeyPatch.context() as patch:
        taken, add = [], single_pass.SinglePass.add
        patch.setattr(single_pass.SinglePass, "add", lambda *a: taken.append(add(*a)) or taken[-1])
        quick = compare("y", got, expected, tolerance, vacuous=vacuous)
        patch.setattr(comparison_module, "single_pass", lambda *_, **__: None)
        return quick, compare("y", got, expected, tolerance, vacuous=vacuous), taken


def assert_equal(quick, slow, sums=SUMS):
    for name in sums:
        want = getattr(slow, name)
        assert getattr(quick, name) == (want if want is None else pytest.approx(want, rel=1e-8, abs=1e-12))
    plain = [dataclasses.replace(result, **dict.fromkeys(SUMS)) for result in (quick, slow)]
    assert plain[0] == plain[1]


def outputs(rng, name, shape):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    truth = np.clip(rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 2, shape), -5, 5)
    if name == "float8_e8m0fnu":
        truth = 2.0 ** rng.integers(-9, 9, shape)
    off = rng.uniform(-1, 1, shape) * 2.0 ** rng.integers(-30, -2, shape)
    with np.errstate(all="ignore"):
        return (truth * (1 + off)).astype(dtype), truth.astype(dtype), truth


@compiled
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("oracle", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_every_format_and_rule(rng, name, oracle, known):
    got, native, truth = outputs(rng, name, (700, 99))
    sensitivity = np.abs(truth).astype(np.float32) * 3 if known else None
    expected = Expected(native, truth if oracle else None, 17, sensitivity)
    for tolerance in TOLERANCES:
        quick, slow, taken = both(got, expected, tolerance)
        assert_equal(quick, slow)
        assert sum(taken) == got.size
    assert_equal(*both(got, expected, TOLERANCES[1], vacuous=True)[:2])


@compiled
@pytest.mark.parametrize("shape", [(1,), (159,), (161,), (320,), (3, 64), (64, 65), (1000, 1000), (2, 3, 129), ()])
def test_every_shape(rng, shape):
    got, native, truth = outputs(rng, "float32", shape)
    quick, slow, _ = both(got, Expected(native, truth, 5), Tolerance(1e-5, 1e-5, None))
    assert_equal(quick, slow)


@compiled
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["got", "native", "truth", "sensitivity"])
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_from_a_block_that_is_not_plain_a_piece_is_left_to_numpy(rng, odd, where, name):
    got, native, truth = outputs(rng, name, (200, 1000))
    arrays = {"got": got, "native": native, "truth": truth, "sensitivity": np.abs(truth).astype(np.float32)}
    arrays[where][120, 7] = odd
    expected = Expected(native, truth, 5, arrays["sensitivity"])
    quick, slow, taken = both(got, expected, Tolerance(1e-5, 1e-5, None))
    assert_equal(quick, slow)
    at = 120 * 1000 + 7 - CHUNK
    assert [taken[0], *taken[2:]] == [CHUNK, CHUNK, got.size - 3 * CHUNK] and at - 1000 < taken[1] <= at


@compiled
def test_extremes_zeros_and_views(rng):
    ends = np.array(
        [3.4028235e38, -3.4028235e38, 1e-45, -1e-45, 0.0, -0.0, 1.1754944e-38, 1.0, 2.0, 0.99999994], np.float32
    )
    got, native = (a.ravel() for a in np.meshgrid(ends, ends))
    truth = native.astype(np.float64) * (1 - 2.0**-40)
    for oracle in (truth, None):
        for tolerance in TOLERANCES:
            assert_equal(*both(got, Expected(native, oracle, 3), tolerance)[:2], sums=())  # they cancel to nothing here
    zeros = np.zeros(10, np.float32)
    assert_equal(*both(zeros, Expected(zeros, zeros.astype(float), 3), TOLERANCES[2])[:2])
    got, native, truth = outputs(rng, "float32", (300, 300))
    views = [a.T[::2, ::-1] for a in (got, native, truth)]
    assert_equal(*both(views[0], Expected(*views[1:], 3), TOLERANCES[1])[:2])
    swapped = native.astype(">f4")
    assert_equal(*both(got.astype(">f4"), Expected(swapped, truth.astype(">f8"), 3), TOLERANCES[1])[:2])


@compiled
def test_tables_that_are_emptied_on_the_way_count_the_same(rng, monkeypatch):
    monkeypatch.setattr(single_pass, "_TABLES_HOLD", 1)
    got, native, truth = outputs(rng, "bfloat16", (400, 1000))
    assert_equal(*both(got, Expected(native, truth, 5), TOLERANCES[1])[:2])


@compiled
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2"])
def test_errors_far_below_and_above_one_ulp_keep_their_octaves(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    truth = np.concatenate([np.ldexp(1.0, np.arange(-400, 12, 1)), np.zeros(3)])
    native = truth.astype(dtype)
    got = np.roll(native, 40)
    quick, slow, taken = both(got, Expected(native, truth, 1), TOLERANCES[1])
    assert_equal(quick, slow)
    assert taken == [truth.size]


@compiled
def test_a_truth_beyond_a_format_without_infinities_saturates_in_every_piece():
    e4m3 = ml_dtypes.float8_e4m3fn
    native, truth = np.full(140_000, 448, e4m3), np.full(140_000, 1e6)
    got = native.copy()
    quick, slow, taken = both(got, Expected(native, truth, 1), Tolerance(0, 0, None))
    assert_equal(quick, slow)
    assert quick.max_ulp == 0 and not any(taken)


@compiled
@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(["float32", "bfloat16"]))
def test_any_bits(seed, name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    bits = np.random.default_rng(seed).integers(0, 2 ** (8 * dtype.itemsize), 600).astype(f"u{dtype.itemsize}")
    got, native = bits[:300].view(dtype), bits[300:].view(dtype)
    with np.errstate(all="ignore"):
        finite = np.isfinite(got.astype(float)) & np.isfinite(native.astype(float))
        got, native = got[finite], native[finite]
        near = np.where(np.arange(got.size) % 2, got, native)
    for oracle in (native.astype(np.float64), None):
        for tolerance in (TOLERANCES[1], TOLERANCES[4], TOLERANCES[6]):
            assert_equal(*both(near, Expected(native, oracle, 9), tolerance)[:2], sums=())


def test_a_library_of_another_source_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(single_pass, "LIBRARY", tmp_path / "none.so")
    single_pass.library.cache_clear()
    assert single_pass.library() is None
    native = np.ones(3, np.float32)
    assert compare("y", native, Expected(native, None, 1), Tolerance(None, None, None)).ok
    monkeypatch.undo()
    monkeypatch.setattr(single_pass, "VERSION", 0)
    single_pass.library.cache_clear()
    assert single_pass.library() is None
    monkeypatch.undo()
    single_pass.library.cache_clear()


def test_another_source_has_another_version():
    """Raise VERSION in both files and renew the digest whenever the C source changes."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    assert (single_pass.VERSION, digest) == (3, "5651bdce78688534")
    assert f"#define VERSION {single_pass.VERSION} " in SOURCE.read_text()
