import ml_dtypes
import numpy as np
import pytest

from workers.judge.numerics import Expected, Tolerance, compare, error_budget, is_vacuous

BF16 = ml_dtypes.bfloat16


def expected(native, oracle=None, k=1):
    return Expected(native, oracle, k)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def one_by_one(terms):
    """Sums over the first axis, in the terms' precision, in order: NumPy adds whole rows."""
    return np.add.reduce(np.ascontiguousarray(terms), axis=0)


def split_norm(x):
    squares = (x * x).reshape(len(x), 64, -1)
    return x / np.sqrt(squares.sum(axis=1).sum(axis=1))[:, None]


# The budget alone


def test_the_formula():
    oracle = np.array([3.0, -4.0, 0.0])
    budget = error_budget(expected(oracle.astype(np.float32), oracle, 16), "fp32", np.float32)
    rms = np.sqrt(25 / 3)
    u = 2.0**-24
    want = [1.25 * (u * m + 4 * 4 * u * max(m, rms) + 2.0**-126) for m in (3.0, 4.0, 0.0)]
    assert budget(np.abs(oracle)) == pytest.approx(want, rel=1e-14)


def test_a_wider_output_or_a_narrower_accumulator_changes_it():
    one = expected(np.ones(4, np.float32), np.ones(4), 64)
    sizes = [float(error_budget(one, name, np.float32)(np.ones(1))[0]) for name in ("fp64", "fp32", "fp16", "bf16")]
    assert sizes == sorted(sizes) and sizes[3] > 1000 * sizes[1]
    double = error_budget(expected(np.ones(4), None, 64), "fp32", np.float64)(np.ones(1))[0]
    assert double < 1e-13


def test_non_finite_and_huge_truths_leave_a_finite_scale():
    oracle = np.array([np.nan, np.inf, 1e300, 1.0, 1.0])
    with np.errstate(all="ignore"):
        budget = error_budget(expected(oracle.astype(np.float32), oracle), "fp32", np.float32)
    assert budget.scale == 1.0
    assert error_budget(expected(np.array([1e308, 1e308])), "fp64", np.float64).scale == pytest.approx(1e308)


# Vacuous tolerances


def test_vacuous_is_where_zeros_pass(rng):
    small = rng.standard_normal((8, 4096)).astype(np.float32) * 1e-3
    assert is_vacuous(expected(small), Tolerance(1e-2, 1e-2, None))
    assert not is_vacuous(expected(small), Tolerance(1e-4, 1e-4, None))
    assert is_vacuous(expected(small), Tolerance(None, 1.0, None))
    assert not is_vacuous(expected(small), Tolerance(None, None, None))
    assert not is_vacuous(expected(small * 0), Tolerance(1e-2, 1e-2, None))
    assert not is_vacuous(expected(small), Tolerance(None, None, 64))
    assert is_vacuous(expected(small), Tolerance(0, 0, 2.0**24))
    assert is_vacuous(expected(small, small.astype(np.float64)), Tolerance(1e-2, 0, 4))


def test_vacuous_with_special_values_integers_and_nothing():
    mixed = np.array([np.nan, np.inf, 1e-3], np.float32)
    assert is_vacuous(expected(mixed), Tolerance(1e-2, 0, None))
    assert not is_vacuous(expected(mixed[:2]), Tolerance(1e-2, 0, None))
    assert not is_vacuous(expected(np.array([1, 2])), Tolerance(None, None, None))
    assert is_vacuous(expected(np.array([1, 0, -1])), Tolerance(1, 0, None))
    assert is_vacuous(expected(np.array([3e-3 + 4e-3j])), Tolerance(4.1e-3, 0, None))
    assert not is_vacuous(expected(np.array([3e-3 + 4e-3j])), Tolerance(3.9e-3, 0, None))
    assert not is_vacuous(expected(np.empty((0, 4), np.float32)), Tolerance(1, 1, None))


# Honest kernels under a vacuous tolerance, against zeros


def honest_norm(rng):
    x = rng.standard_normal((32, 1 << 16)).astype(np.float32)
    wide = x.astype(np.float64)
    oracle = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return split_norm(x), x / np.linalg.norm(x, axis=1, keepdims=True), oracle, x.shape[1]


def honest_softmax(rng):
    x = (rng.standard_normal((64, 4096)) * 3).astype(np.float32)
    base2 = np.exp2((x - x.max(axis=1, keepdims=True)) * np.float32(np.log2(np.e)))
    got = base2 * (np.float32(1) / one_by_one(base2.T))[:, None]
    return got, softmax(x), softmax(x.astype(np.float64)), x.shape[1]


def honest_bf16_matmul(rng):
    a, b = (rng.standard_normal((96, 4096)).astype(BF16).astype(np.float32) for _ in range(2))
    scale = np.float32(1e-5)
    parts = [(a[:, k : k + 32] @ b[:, k : k + 32].T) for k in range(0, 4096, 32)]
    oracle = (a.astype(np.float64) @ b.T.astype(np.float64)) * 1e-5
    return (one_by_one(parts) * scale).astype(BF16), ((a @ b.T) * scale).astype(BF16), oracle, 4096


@pytest.mark.parametrize("case", [honest_norm, honest_softmax, honest_bf16_matmul])
@pytest.mark.parametrize("with_oracle", [True, False])
def test_honest_passes_and_zeros_fail_where_the_tolerance_says_nothing(judge, rng, case, with_oracle):
    got, native, oracle, k = case(rng)
    atol = float(np.abs(oracle).max()) * 1.5
    truth = oracle if with_oracle else None
    assert is_vacuous(expected(native, truth, k), Tolerance(atol, 0, None))
    honest = judge(got, native, truth, k=k, vacuous=True, atol=atol)
    assert honest.ok and honest.budget_ratio <= 1
    zeros = judge(np.zeros_like(got), native, truth, k=k, vacuous=True, atol=atol)
    assert (zeros.ok, zeros.decided_by) == (False, "budget") and zeros.budget_ratio > 10
    assert judge(np.zeros_like(got), native, truth, k=k, atol=atol).ok


@pytest.mark.parametrize("k", [1000, 100_000, 1_000_000])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_long_sums_in_order(judge, rng, k, shift):
    terms = (rng.standard_normal((k, 8)) + shift).astype(np.float32)
    oracle = terms.astype(np.float64).sum(axis=0)
    native = np.ascontiguousarray(terms.T).sum(axis=1)
    got = one_by_one(terms)
    assert judge(got, native, oracle, k=k, budget="decides", atol=0).ok
    assert not judge(np.zeros_like(got), native, oracle, k=k, budget="decides").ok


# What the budget is for


def product(rng, positive, accumulate):
    a, b = (rng.standard_normal((64, 4096)).astype(BF16) for _ in range(2))
    if positive:
        a, b = abs(a), abs(b)
    oracle = a.astype(np.float64) @ b.T.astype(np.float64)
    got = one_by_one([np.outer(x, y).astype(accumulate) for x, y in zip(a.T, b.T, strict=True)])
    return got.astype(BF16), oracle.astype(BF16), oracle


def test_a_narrow_accumulator_shows(judge, rng):
    got, native, oracle = product(rng, positive=True, accumulate=np.float16)
    result = judge(got, native, oracle, k=4096, atol=1e-2, rtol=0.5)
    assert result.ok and result.decided_by == "tolerance" and result.budget_ratio > 1.5
    declared = judge(got, native, oracle, k=4096, atol=1e-2, rtol=0.5, accumulate="fp16")
    assert declared.budget_ratio < 1
    assert judge(got, native, oracle, k=4096, budget="decides").decided_by == "budget"


def test_skipping_a_thousandth_of_the_sum_shows(judge, rng):
    a, b = (abs(rng.standard_normal((128, 4096)).astype(BF16)).astype(np.float64) for _ in range(2))
    oracle, less = a @ b.T, a[:, :-4] @ b[:, :-4].T
    result = judge(less.astype(BF16), oracle.astype(BF16), oracle, k=4096, rtol=1e-2, atol=1e-2)
    assert result.ok and result.budget_ratio > 1.1
    assert judge(oracle.astype(BF16), oracle.astype(BF16), oracle, k=4096).budget_ratio <= 1


def test_the_budget_replaces_the_tolerance_both_ways(judge):
    oracle = np.full(100, 1.0)
    near, far = (np.full(100, 1 + n * 2.0**-24, np.float32) for n in (4, 40))
    native = oracle.astype(np.float32)
    assert judge(near, native, oracle, atol=0, rtol=0, budget="decides").ok
    assert judge(far, native, oracle, atol=1, rtol=1).ok
    failed = judge(far, native, oracle, atol=1, rtol=1, max_ulp=1e9, budget="decides")
    assert (failed.ok, failed.decided_by, failed.mismatched) == (False, "budget", 100)


def test_a_quarter_more_than_the_references_error_is_allowed():
    oracle, native = np.array([1.0, 1.0]), np.array([1.01, 1.0], np.float32)
    expected = Expected(native, oracle, 1, np.ones(2, np.float32))
    near, far = (np.array([1 - error, 1], np.float32) for error in (0.0124, 0.0126))
    passed, failed = (compare("y", a, expected, Tolerance(None, None, None), vacuous=True) for a in (near, far))
    assert passed.ok and passed.decided_by == "reference_error" and passed.budget_ratio == 1
    assert not failed.ok and failed.budget_ratio > 1000


# Where S is a guess


def test_saturated_truths_do_not_widen_what_the_others_are_granted():
    native = np.array([448.0, 1.0, 2.0, 4.0], ml_dtypes.float8_e4m3fn)
    plain = Expected(native, np.array([448.0, 1.0, 2.0, 4.0]), 8)
    beyond = Expected(native, np.array([1e30, 1.0, 2.0, 4.0]), 8)
    assert error_budget(beyond, "fp32", native.dtype) == error_budget(plain, "fp32", native.dtype)


@pytest.mark.parametrize("dtype", [np.float32, BF16])
def test_terms_that_cancel_are_excused_as_far_as_the_reference_shows(judge, rng, dtype):
    """Sums near 10 of terms near 1000: neither the truth nor its root mean square says how large the terms are."""
    half = rng.standard_normal((64, 2048)) * 1000
    terms = rng.permuted(np.concatenate([half, 0.2 * rng.standard_normal(half.shape) - half], axis=1), axis=1)
    terms = terms.astype(np.float32)
    oracle, native = terms.astype(np.float64).sum(axis=1), terms.sum(axis=1).astype(dtype)
    ours = {"k": 4096, "budget": "decides"}
    blind = error_budget(Expected(native, None, 4096), "fp32", native.dtype)
    assert (np.abs(native.astype(float) - oracle) > blind(np.abs(oracle))).any()
    for honest in (terms[:, ::-1].sum(axis=1), terms.reshape(64, 64, 64).sum(axis=1).sum(axis=1)):
        assert judge(honest.astype(dtype), native, oracle, **ours).ok
    for faulty in (terms.astype(np.float16).sum(axis=1), terms[:, 4:].sum(axis=1), np.zeros(64)):
        assert judge(faulty.astype(dtype), native, oracle, **ours).decided_by == "budget"


def test_what_the_guess_takes_from_the_reference():
    oracle = np.array([3.0, -4.0, 0.0, np.inf, np.nan, 1.0])
    native = np.array([3.0, -4.0, 0.5, np.inf, np.nan, np.inf], np.float32)
    budget = error_budget(expected(native, oracle), "fp32", np.float32)
    assert budget.typical == pytest.approx(np.sqrt(26 / 4))
    assert budget(np.zeros(1))[0] == pytest.approx(1.25 * 4 * 0.5, rel=1e-6)


def test_neither_rounding_nor_saturation_nor_integers_widen_the_guess(rng):
    truth = rng.standard_normal(1000)
    rounded = expected(truth.astype(BF16), truth)
    e4m3 = np.full(9, 448, ml_dtypes.float8_e4m3fn)
    saturated = expected(e4m3, np.full(9, 1e6))
    whole = expected(np.rint(truth).astype(np.int32), truth)
    for one in (rounded, saturated, whole):
        budget = error_budget(one, "fp32", one.native.dtype)
        assert budget.scale == budget.typical


def test_vacuous_integers_must_equal_the_reference(judge):
    native = np.array([1, 0, -1], np.int8)
    assert judge(native, native, atol=1, vacuous=True).ok
    assert not judge(native * 0, native, atol=1, vacuous=True).ok
