import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from workers.judge.numerics import moved, poison_left, same_bits

F32 = arrays.arrays(np.float32, 6, elements=st.floats(width=32))
LOW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def means(rng, dtype):
    probabilities = softmax(rng.standard_normal((256, 4096)).astype(np.float32) * 4)
    return [(probabilities.astype(dtype).astype(np.float32).sum(axis=1)).astype(dtype)]


def test_the_mean_of_a_softmax_does_not_move(rng):
    assert not any(moved(means(rng, np.float32), means(rng, np.float32)) for _ in range(5))
    scaled = [[m[0] / np.float32(4096)] for m in (means(rng, np.float32), means(rng, np.float32))]
    assert not moved(*scaled)


def zero_sums(rng, dtype):
    x = rng.standard_normal((64, 4096)) + 3
    return tuple(
        [(y - y.mean(axis=1, keepdims=True, dtype=t)).sum(axis=1)] for t, y in ((dtype, x.astype(dtype)), (float, x))
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_noise_around_a_true_zero_does_not_move_where_float64_says_so(rng, dtype):
    (a, exact_a), (b, exact_b) = zero_sums(rng, dtype), zero_sums(rng, dtype)
    assert moved(a, b) and not moved(a, b, (exact_a, exact_b))


def test_what_moves_in_float64_too_has_moved(rng):
    exact = [[rng.standard_normal((8, 8))] for _ in range(2)]
    a, b = ([e[0].astype(np.float32)] for e in exact)
    assert moved(a, b, (exact[0], exact[1]))
    assert moved(a, b, (exact[0], [exact[1][0][:1]])) and moved(a, b, (exact[0], []))
    assert not moved(a, a, (exact[0], exact[1]))
    half = [[x[0][:4], np.arange(3)] for x in (a, b)]
    assert not moved([a[0], np.arange(3)], [a[0], np.arange(3)], (exact[0], exact[0]))
    assert moved(half[0], half[1], ([exact[0][0][:4], np.arange(3)], [exact[1][0][:4], np.arange(3)]))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_nor_does_it_in_narrow_formats(rng, name):
    dtype = getattr(ml_dtypes, name, name)
    assert not moved(means(rng, dtype), means(rng, dtype))


@pytest.mark.parametrize("name", ["float64", "float32", *LOW, "float4_e2m1fn"])
def test_redrawn_values_move_every_format(rng, name):
    dtype = getattr(ml_dtypes, name, name)
    a, b = (rng.standard_normal(512).astype(dtype) for _ in range(2))
    assert moved([a], [b]) and not moved([a], [a.copy()])


def test_one_element_is_enough(rng):
    a = rng.standard_normal(300_000).astype(np.float32)
    b = a.copy()
    b[270_001] += np.float32(1e-4)
    assert moved([a[:5], a], [a[:5], b])


def test_a_few_ulp_are_not(rng):
    a = rng.standard_normal(1000).astype(np.float32)
    assert not moved([a], [a * np.float32(1 + 4 * 2**-23)])
    assert moved([a], [a * np.float32(1 + 1e-4)])


def test_specials_shapes_counts_and_integers():
    one, nan, inf = (np.array([v, 1.0], np.float32) for v in (1.0, np.nan, np.inf))
    assert moved([one], [nan]) and moved([inf], [one]) and moved([inf], [-inf]) and moved([nan], [inf])
    assert not moved([nan], [nan]) and not moved([inf], [inf])
    assert moved([one], [one[:1]]) and moved([one], [one.astype(np.float64)]) and moved([one], [])
    assert moved([np.array([1, 2])], [np.array([1, 3])]) and not moved([np.array([True])], [np.array([True])])
    assert not moved([], []) and not moved([one[:0]], [one[:0]])
    assert moved([np.array([1 + 1j])], [np.array([1 + 2j])])


@given(F32, F32)
def test_moving_is_symmetric(a, b):
    assert moved([a], [b]) == moved([b], [a])
    assert not moved([a], [a.copy()])


@given(F32, F32)
def test_same_bits_is_equality_of_bytes(a, b):
    assert same_bits(a, b) == (a.tobytes() == b.tobytes())
    assert same_bits(a, a.copy()) and same_bits(a[::2], a[::2].copy())


def test_same_bits_sees_signs_and_payloads():
    zero, nan = np.array([0.0], np.float32), np.array([np.nan], np.float32)
    other = nan.copy()
    other.view(np.uint32)[0] ^= 1
    assert not same_bits(zero, -zero) and not same_bits(nan, other) and same_bits(nan, nan.copy())
    assert not same_bits(zero, zero.astype(np.float64)) and not same_bits(zero, np.zeros(2, np.float32))
    assert same_bits(np.ones(2, ml_dtypes.bfloat16), np.ones(2, ml_dtypes.bfloat16))
    assert same_bits(np.array(1.0), np.array(1.0))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int64", "bool", "complex128", "float8_e5m2"])
def test_poison_is_found_where_both_runs_left_it(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    first, second = (np.full(40 * dtype.itemsize, byte, np.uint8).view(dtype).reshape(5, 8) for byte in (0xA5, 0x5A))
    first[0], second[0] = 1, 1
    first[2, 3] = 1
    second[2, 4] = 1
    first[1, 0] = second[1, 0] = second[1, 1]  # computes the second poison, in both runs
    left = poison_left(first, second, 0xA5, 0x5A)
    assert left.tolist() == sorted(set(range(9, 40)) - {19, 20})
    assert poison_left(first[:0], second[:0], 0xA5, 0x5A).size == 0


def test_poison_needs_two_bytes_and_one_form():
    a = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="one poison byte"):
        poison_left(a, a, 7, 7)
    with pytest.raises(ValueError, match="two runs"):
        poison_left(a, a[:2], 7, 8)
