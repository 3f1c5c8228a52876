import itertools

import ml_dtypes
import numpy as np
import pytest

INF, NAN = np.inf, np.nan


def f32(*values):
    return np.array(values, np.float32)


# Special values


@pytest.mark.parametrize(("got", "want"), list(itertools.permutations([NAN, INF, -INF, 1.0], 2)))
def test_special_values_must_coincide(judge, got, want):
    result = judge(f32(got, 1), f32(want, 1), np.array([want, 1.0]), atol=INF, rtol=0)
    assert (result.ok, result.decided_by, result.mismatched) == (False, "special", 1)
    assert (result.nan_mismatch, result.inf_mismatch) == ((1, 0) if NAN in (got, want) else (0, 1))
    assert result.worst[0].index == (0,) and result.max_ulp == INF
    assert result.ulp_histogram[63] == 1 and result.ulp_histogram[0] == 1
    assert result.max_abs_error == 0


def test_nan_is_never_a_wildcard_even_where_everything_else_is(judge, dtype):
    if np.isnan(np.array([NAN], np.float32).astype(dtype).astype(np.float64))[0]:
        native = np.ones(3, dtype)
        got = native.copy()
        got[1] = NAN
        for bounds in ({"atol": 1e30}, {"max_ulp": 1e300}, {"budget": "decides"}):
            assert judge(got, native, **bounds).decided_by == "special"
            assert judge(got, native, native.astype(np.float64), **bounds).nan_mismatch == 1


def test_matching_specials_pass_and_payloads_do_not_count(judge):
    native = f32(NAN, INF, -INF, 1)
    got = native.copy()
    got.view(np.uint32)[0] ^= 0x80000001
    for oracle in (None, native.astype(np.float64)):
        result = judge(got, native, oracle)
        assert result.ok and result.max_ulp == 0 and result.decided_by == "tolerance"


def test_the_references_overflow_may_be_copied_or_done_better(judge):
    native, oracle = np.array([INF, NAN], np.float16), np.array([300.0, 2.0])
    copied = judge(native, native, oracle)
    assert copied.ok and copied.decided_by == "reference_error" and copied.reference_max_ulp == INF
    assert judge(np.array([300, 2], np.float16), native, oracle).ok
    assert not judge(np.array([200, 2], np.float16), native, oracle).ok
    assert not judge(np.array([-INF, 2], np.float16), native, oracle).ok


def test_a_truth_beyond_the_range_is_infinity(judge):
    native, oracle = np.array([INF], np.float16), np.array([70000.0])
    assert judge(native, native, oracle).decided_by == "tolerance"
    assert judge(np.array([65504], np.float16), native, oracle).decided_by == "special"


def test_where_only_the_oracle_is_special_the_reference_is_the_truth(judge):
    native, oracle = f32(7.0), np.array([NAN])
    assert judge(f32(7.0), native, oracle).ok
    assert judge(f32(NAN), native, oracle).ok
    assert not judge(f32(8.0), native, oracle).ok


def test_saturation_without_infinities(judge):
    e4m3, oracle = ml_dtypes.float8_e4m3fn, np.array([1e6])
    saturated, nan = np.array([448], e4m3), np.array([NAN], e4m3)
    assert judge(saturated, saturated, oracle).ok
    assert judge(nan, nan, oracle).ok
    assert judge(saturated, nan, oracle).ok
    assert judge(nan, saturated, oracle).decided_by == "special"


# Integers, booleans, complex numbers


def test_integers_are_exact_by_default(judge):
    native = np.array([1, 2, 3], np.int32)
    assert judge(native, native).decided_by == "exact"
    result = judge(native + 1, native)
    assert (result.ok, result.decided_by, result.mismatched, result.max_ulp) == (False, "exact", 3, 1)
    assert judge(native + 1, native, atol=1, rtol=0).ok
    assert result.budget_ratio is None


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_differences_near_the_ends_of_the_range(judge, dtype):
    info = np.iinfo(dtype)
    native = np.array([info.max, info.min, info.max], dtype)
    got = np.array([info.max - 1, info.min, info.min], dtype)
    result = judge(got, native)
    assert result.mismatched == 2 and result.max_abs_error == 2.0**64
    assert result.worst[0].index == (2,) and result.worst[1].got == str(info.max - 1)
    assert judge(got, native, native.astype(np.float64)).mismatched == 2
    assert judge(got, native, atol=1, rtol=0).mismatched == 1


def test_booleans(judge):
    native = np.array([True, False])
    assert judge(native, native).ok and not judge(~native, native).ok
    assert judge(native, ~native, np.array([1.0, 0.0])).ok


def test_integers_equal_to_oracle_or_reference_but_not_between(judge):
    native, oracle = np.array([5], np.int64), np.array([9.0])
    assert judge(np.array([9]), native, oracle).decided_by == "exact"
    assert judge(np.array([5]), native, oracle).decided_by == "reference_error"
    assert not judge(np.array([7]), native, oracle).ok


def test_narrow_integers(judge):
    native = np.array([-8, 7], ml_dtypes.int4)
    assert judge(native, native, np.array([-8.0, 7.4])).ok
    assert not judge(np.array([-8, 6], ml_dtypes.int4), native).ok
    edge = np.array([127, -128], np.int8)
    assert judge(edge, np.array([126, -127], np.int8), np.array([127.2, -300.0])).decided_by == "exact"


def test_complex_numbers_go_by_the_larger_component_and_the_modulus(judge):
    native = np.array([3 + 4j], np.complex64)
    got = native + np.complex64(0.04j)
    assert judge(got, native, native.astype(np.complex128), rtol=0.009).ok
    failed = judge(got, native, native.astype(np.complex128), rtol=0.007)
    assert not failed.ok and failed.max_abs_error == pytest.approx(0.04, rel=1e-4)
    assert failed.max_rel_error == pytest.approx(0.008, rel=1e-4) and failed.worst[0].want == "(3+4j)"
    assert judge(np.array([3 + NAN * 1j], np.complex64), native).nan_mismatch == 1
