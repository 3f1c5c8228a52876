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
