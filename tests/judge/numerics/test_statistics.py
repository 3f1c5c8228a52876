import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.judge.numerics import Expected, Tolerance, compare
from workers.judge.numerics import chunks as chunks_module
from workers.judge.numerics import comparison as comparison_module
from workers.judge.numerics.statistics import ErrorMap, coarse, fine_histogram, quantile
from workers.judge.numerics.ulp import histogram


@given(st.lists(st.floats(0, allow_nan=False), min_size=1, max_size=50))
def test_the_fine_histogram_sums_to_the_coarse_one(values):
    ulp = np.array(values)
    assert coarse(fine_histogram(ulp)).tolist() == histogram(ulp).tolist()


@given(st.lists(st.floats(2**-8, 1e6), min_size=1, max_size=200), st.sampled_from([0.5, 0.9, 0.99]))
def test_quantiles_are_rounded_up_to_an_eighth_of_an_octave(values, share):
    exact = sorted(values)[math.ceil(share * len(values)) - 1]
    assert exact <= quantile(fine_histogram(np.array(values)), share) <= exact * 1.125 + 1e-300


def test_quantiles_of_nothing_and_of_mismatches():
    assert quantile(fine_histogram(np.empty(0)), 0.5) == 0
    assert quantile(fine_histogram(np.full(3, np.inf)), 0.5) == math.inf


SHAPES = [(64, 64), (7, 100), (1000, 65), (3, 5000), (33, 2, 129), (40, 31), (5000,), (3,), ()]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("piece", [17, 1000, 10**9])
def test_the_map_holds_the_largest_of_every_cell(rng, shape, piece):
    ulp = rng.uniform(0, 100, math.prod(shape))
    found = ErrorMap(shape)
    for start in range(0, ulp.size, piece):
        found.add(start, ulp[start : start + piece])
    rows, columns = found.rows, found.columns
    folded, (height, width) = ulp.reshape(rows, columns), found.cells.shape
    want = np.zeros((height, width))
    for row in range(rows):
        cells = np.arange(columns) * width // columns
        np.maximum.at(want[row * height // rows], cells, folded[row])
    assert np.array_equal(found.cells, want)
    shown = found.logarithms()
    assert len(shown) <= 32 and all(len(line) <= 32 for line in shown)


def test_bias_tells_truncation_from_rounding(judge, rng):
    truth = rng.uniform(1, 2, 20_000)
    rounded = truth.astype(np.float32)
    cut = np.where(rounded > truth, np.nextafter(rounded, np.float32(0)), rounded)
    assert abs(judge(rounded, rounded, truth).bias_ulp) < 0.02
    assert judge(cut, rounded, truth).bias_ulp == pytest.approx(-0.5, abs=0.02)


def test_normalised_rms(judge):
    truth = np.array([3.0, 4.0])
    result = judge(np.array([3.0, 5.0], np.float32), truth.astype(np.float32), truth)
    assert result.normalised_rms == pytest.approx(0.2) and len(result.quantiles_ulp) == 4
    assert judge(np.zeros(2, np.float32), np.zeros(2, np.float32)).normalised_rms is None


@pytest.mark.parametrize("size", [1, 1000, 70_000])
def test_chunks_and_threads_change_nothing(monkeypatch, rng, size):
    truth = rng.standard_normal(size)
    native = truth.astype(np.float32)
    got = (truth * (1 + rng.uniform(-1, 1, size) * 2.0 ** rng.integers(-30, -10, size))).astype(np.float32)
    got[::97] = np.nan
    expected = Expected(native, truth, 16, np.abs(native) + 1)
    whole = compare("y", got, expected, Tolerance(1e-6, 1e-6, 2))
    for module in (chunks_module, comparison_module):
        monkeypatch.setattr(module, "CHUNK", 777)
    monkeypatch.setattr(comparison_module, "IN_PARALLEL", 0)
    monkeypatch.setattr(comparison_module.os, "sched_getaffinity", lambda _: range(3))
    assert compare("y", got, expected, Tolerance(1e-6, 1e-6, 2)) == whole


def spread_of(result, bins):
    """{least error of the bin: count}, without the empty ones; 0 is everything below."""
    last = len(bins) - 1
    low = [0.0, *(2.0 ** (result.error_exponent + k - 1) for k in range(1, last)), math.inf]
    return {at: count for at, count in zip(low, bins, strict=True) if count}


def test_errors_of_candidate_and_reference_share_their_bins(judge):
    oracle = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
    native = np.array([1, 1 + 2**-10, 1 + 2**-10, np.nan, 1], np.float32)
    got = np.array([1, 1 + 2**-5, 1 - 2**-12, 1, np.nan], np.float32)
    result = judge(got, native, oracle, atol=0.125, rtol=0.5)
    assert spread_of(result, result.error_histogram) == {0: 2, 2**-12: 1, 2**-5: 1, math.inf: 1}
    assert spread_of(result, result.reference_error_histogram) == {0: 2, 2**-10: 2, math.inf: 1}
    assert len(result.error_histogram) == len(result.reference_error_histogram) == 64
    assert result.allowed_error == (0.625, 0.625) and result.allowed_ulp is None
    assert judge(got, native).reference_error_histogram == ()


def test_every_error_is_in_the_bin_of_its_octave(judge, rng):
    truth = np.zeros(5000)
    error = 2.0 ** rng.uniform(-20, 20, 5000)
    result = judge(error, truth, truth)
    want = np.bincount(np.floor(np.log2(error)).astype(int) - result.error_exponent + 1, minlength=64)
    assert list(result.error_histogram) == want.tolist()
    far = judge(np.array([1e-300, 5e-324, 1e300]), np.zeros(3))
    assert spread_of(far, far.error_histogram) == {0: 2, 2.0 ** math.floor(math.log2(1e300)): 1}


def test_the_tolerance_line_is_where_the_rule_decides(judge):
    oracle = np.array([1.0, 4.0, -np.inf])
    native = oracle.astype(np.float32)
    assert judge(native, native, oracle, atol=0.5, rtol=0.25).allowed_error == (0.75, 1.5)
    by_ulp = judge(native, native, oracle, max_ulp=3)
    assert (by_ulp.allowed_error, by_ulp.allowed_ulp) == ((), 3)
    both = judge(native, native, oracle, atol=0.5, max_ulp=3)
    assert (both.allowed_error, both.allowed_ulp) == ((0.5, 0.5), 3)
    budget = judge(native, native, oracle, atol=0.5, max_ulp=3, budget="decides")
    assert budget.allowed_ulp is None and 0 < budget.allowed_error[0] < budget.allowed_error[1] < 1e-5
    assert judge(oracle[2:].astype(np.float32), native[2:]).allowed_error == ()
    assert judge(np.array([1]), np.array([1])).allowed_error == (0, 0)


def test_the_references_own_error_is_shown_for_exact_integers(judge):
    result = judge(np.array([7]), np.array([5]), np.array([9.0]))
    assert spread_of(result, result.reference_error_histogram) == {4: 1}
    assert spread_of(result, result.error_histogram) == {2: 1} and not result.ok
