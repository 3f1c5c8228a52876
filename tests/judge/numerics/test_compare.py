import dataclasses
import tracemalloc
import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.domain.report import OutputResult
from workers.judge.numerics import Expected, Tolerance, chunks, compare, comparison

INF, NAN = np.inf, np.nan
SOME32 = arrays.arrays(np.float32, st.integers(1, 40), elements=st.floats(width=32))


def run(got, native, oracle=None, **bounds):
    tolerance = Tolerance(**{"atol": None, "rtol": None, "max_ulp": None, **bounds})
    return compare("y", got, Expected(native, oracle, 1), tolerance)


def f32(*values):
    return np.array(values, np.float32)


# Tolerances


def test_equal_outputs_pass_by_tolerance(judge, dtype, rng):
    native = rng.uniform(0.5, 2, 50).astype(dtype)
    result = judge(native, native, native.astype(np.float64))
    assert (result.ok, result.decided_by, result.mismatched, result.max_ulp) == (True, "tolerance", 0, 0)
    assert result.ulp_histogram[0] == 50 and result.worst == () and result.dtype == dtype.name


def test_one_element_over_is_found(judge, rng):
    oracle = rng.uniform(1, 2, (200, 1000))
    native = oracle.astype(np.float32)
    got = native.copy()
    got[123, 456] += 0.01
    result = judge(got, native, oracle, atol=1e-3, rtol=1e-3)
    assert (result.ok, result.decided_by, result.mismatched) == (False, "tolerance", 1)
    assert result.worst[0].index == (123, 456)
    assert result.worst[0].got == pytest.approx(oracle[123, 456] + 0.01)
    assert result.worst[0].want == oracle[123, 456]
    assert result.max_abs_error == pytest.approx(0.01, rel=1e-3)
    assert result.max_rel_error == pytest.approx(0.01 / oracle[123, 456], rel=1e-3)
    assert result.worst[0].ulp == result.max_ulp == pytest.approx(0.01 / 2**-23, rel=1e-3)


def test_either_bound_suffices(judge):
    oracle = np.array([1.0, 1e-12])
    got = f32(1.0 + 3 * 2**-23, 2e-12)  # the first is 3 ulp off, the second within atol
    assert not judge(got, f32(*oracle), oracle, atol=1e-9, rtol=0).ok
    assert not judge(got, f32(*oracle), oracle, max_ulp=4).ok
    both = judge(got, f32(*oracle), oracle, atol=1e-9, rtol=0, max_ulp=4)
    assert (both.ok, both.decided_by) == (True, "max_ulp")


def test_max_ulp_alone_decides_alone(judge):
    got, oracle = f32(1 + 2**-20), np.array([1.0])
    assert judge(got, f32(1), oracle, max_ulp=8).decided_by == "max_ulp"
    assert judge(got, f32(1), oracle, max_ulp=8).ok
    failed = judge(got, f32(1), oracle, max_ulp=7)
    assert (failed.ok, failed.decided_by) == (False, "max_ulp")


def test_one_of_atol_and_rtol_leaves_the_other_zero(judge):
    assert not judge(f32(1.1), f32(1), np.array([1.0]), atol=0.01).ok
    assert judge(f32(1.001), f32(1), np.array([1.0]), rtol=0.01).ok
    assert not judge(f32(1e-9), f32(0), np.array([0.0]), rtol=0.01).ok


def test_defaults_depend_on_the_dtype(judge):
    off = 1.004
    assert not judge(f32(off), f32(1), np.array([1.0])).ok
    assert judge(np.array([off], ml_dtypes.bfloat16), np.array([1], ml_dtypes.bfloat16), np.array([1.0])).ok
    e4m3 = ml_dtypes.float8_e4m3fn
    assert judge(np.array([1.125], e4m3), np.array([1], e4m3), np.array([1.0])).ok
    assert not judge(np.array([1.25], e4m3), np.array([1], e4m3), np.array([1.0])).ok


@pytest.mark.parametrize("bad", [{"atol": -1}, {"rtol": NAN}, {"max_ulp": -0.5}, {"special": "?"}, {"budget": "?"}])
def test_nonsense_is_refused(judge, bad):
    with pytest.raises(ValueError):
        judge(f32(1), f32(1), **bad)


def test_contradictions_are_refused(judge):
    with pytest.raises(ValueError, match="is not"):
        judge(f32(1), f32(1, 2))
    with pytest.raises(ValueError, match="is not"):
        judge(np.array([1.0]), f32(1))
    with pytest.raises(ValueError, match="oracle has shape"):
        judge(f32(1), f32(1), np.ones(2))
    with pytest.raises(ValueError, match="reduction_length"):
        judge(f32(1), f32(1), k=0)
    with pytest.raises(ValueError, match="accumulate"):
        judge(f32(1), f32(1), accumulate="abacus")
    with pytest.raises(TypeError, match="no floating dtype"):
        judge(np.array(["a"]), np.array(["a"]))


# The reference's own error


def test_an_element_as_good_as_the_reference_passes():
    oracle, native = np.array([1.0, 1.0]), f32(1.01, 1.0)
    result = run(f32(0.99, 1.0), native, oracle, atol=1e-5, rtol=0)
    assert result.ok and result.decided_by == "reference_error"
    assert result.reference_max_ulp == pytest.approx(0.01 * 2**23, rel=1e-3)
    worse = run(f32(0.98, 1.0), native, oracle, atol=1e-5, rtol=0)
    assert (worse.ok, worse.decided_by, worse.mismatched) == (False, "tolerance", 1)


@given(SOME32, st.data())
def test_more_accurate_than_the_reference_never_fails(native, data):
    shrink = data.draw(arrays.arrays(np.float64, native.shape, elements=st.floats(0, 1)))
    truth = data.draw(arrays.arrays(np.float64, native.shape, elements=st.floats(-1e38, 1e38)))
    with np.errstate(all="ignore"):
        between = truth + (native.astype(np.float64) - truth) * shrink
        got = np.where(np.isfinite(native), between, native).astype(np.float32)
        better = np.abs(got - truth) <= np.abs(native - truth)
        got = np.where(better | ~np.isfinite(native), got, native)
    assert run(got, native, truth, atol=0, rtol=0).ok
    assert run(got, native, truth, max_ulp=0).ok
    assert run(got, native, truth, atol=0, rtol=0, budget="decides").ok


def test_without_an_oracle_half_an_ulp_is_allowed(judge):
    native = np.array([1.5], ml_dtypes.bfloat16)
    off = np.array([1.5 + 2**-7], ml_dtypes.bfloat16)
    assert judge(off, native, atol=2**-8 + 1e-9, rtol=0).ok
    assert not judge(off, native, atol=2**-8 - 1e-9, rtol=0).ok
    assert judge(off, native, max_ulp=0.5).ok
    assert judge(off, native).reference_max_ulp is None


def test_zero_tolerances_mean_exact(judge):
    below = np.nextafter(f32(1), f32(0))
    for bounds in ({"atol": 0, "rtol": 0}, {"max_ulp": 0}):
        assert judge(f32(1), f32(1), **bounds).ok
        assert not judge(below, f32(1), **bounds).ok


# Form


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2)])
@pytest.mark.parametrize("name", ["float32", "bfloat16", "int32", "bool", "complex64"])
def test_nothing_passes(judge, shape, name):
    empty = np.empty(shape, getattr(ml_dtypes, name, name))
    for oracle in (None, empty.astype(np.complex128) if name == "complex64" else empty.astype(np.float64)):
        result = judge(empty, empty, oracle, vacuous=True)
        assert result.ok and result.elements == 0 and result.shape == shape and result.p999_ulp == 0


def test_scalars_and_views(judge, rng):
    assert judge(f32(2).reshape(()), f32(2).reshape(())).ok
    native = rng.standard_normal((30, 40)).astype(np.float32)
    got = native.copy()
    got[4, 7] = 9
    assert judge(got[::2, ::-1], native[::2, ::-1]).worst[0].index == (2, 32)
    assert judge(np.broadcast_to(f32(1), (5, 3)), np.ones((5, 3), np.float32)).ok


def test_p999_is_the_nearest_rank(judge):
    native = np.ones(10_000, np.float32)
    got = native + np.arange(10_000, dtype=np.float32)[::-1] * np.float32(2**-23)
    assert judge(got, native).p999_ulp == 9989


def test_worst_are_sorted_failing_first(judge):
    oracle = np.ones(100)
    got = (1 + np.arange(100) * 2.0**-20).astype(np.float32)
    worst = judge(got, f32(*oracle), oracle, atol=50 * 2.0**-20, rtol=0).worst
    assert [w.index[0] for w in worst] == list(range(99, 79, -1))


@given(SOME32, SOME32, st.integers(1, 9))
def test_chunking_changes_nothing(a, b, size):
    n = min(a.size, b.size)
    a, b = a[:n], b[:n]
    whole = [run(a, b), run(a, b, b.astype(np.float64) * (1 + 1e-9)), run(a, b, max_ulp=3, atol=1)]
    with pytest.MonkeyPatch.context() as patch:
        for module in (chunks, comparison):  # each has its own name for it
            patch.setattr(module, "CHUNK", size)
        cut = [run(a, b), run(a, b, b.astype(np.float64) * (1 + 1e-9)), run(a, b, max_ulp=3, atol=1)]
    for one, other in zip(whole, cut, strict=True):
        x, y = dataclasses.asdict(one), dataclasses.asdict(other)
        assert x.pop("budget_ratio") == pytest.approx(y.pop("budget_ratio"), rel=1e-12)
        assert x == y


@given(SOME32)
def test_anything_equals_itself_and_counts_add_up(a):
    result = run(a, a.copy(), a.astype(np.float64))
    assert result.ok and sum(result.ulp_histogram) == sum(result.reference_ulp_histogram) == a.size
    assert isinstance(result, OutputResult) and result.max_ulp == 0


@given(SOME32, SOME32)
def test_looser_is_never_stricter_and_warnings_stay_inside(a, b):
    n = min(a.size, b.size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts = [run(a[:n], b[:n], atol=t, rtol=t).mismatched for t in (0, 1e-6, 1e-2, 10)]
    assert counts == sorted(counts, reverse=True)


def test_the_ends_of_float64_do_not_overflow(judge):
    huge = np.finfo(np.float64).max
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = judge(np.array([huge, -huge]), np.array([huge, huge]), np.array([huge, huge]))
    assert not result.ok and result.mismatched == 1 and result.max_abs_error == INF


def test_memory_stays_small(rng):
    native = rng.standard_normal(3_000_000).astype(np.float32)
    got, oracle = native + np.float32(1e-4), native.astype(np.float64)
    got[::3] = NAN
    tracemalloc.start()
    run(got, native, oracle)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20
