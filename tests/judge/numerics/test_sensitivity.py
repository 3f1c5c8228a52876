"""S and K as the reference's process measures them, on NumPy references; honest kernels stay within the budget."""

import time

import numpy as np
import pytest

from workers.judge.numerics import Expected, Tolerance, compare
from workers.reference.bench import TaskBench
from workers.reference.gradients import Gradients, answer
from workers.reference.sensitivity import measure
from workers.wire.storage import close_all


def study(function, *inputs, seconds=20.0, seed=1):
    wide = [np.asarray(x).astype(float) if np.asarray(x).dtype.kind == "f" else x for x in inputs]
    return measure(lambda v: function(*v), lambda change: tuple(change(np.copy(x)) for x in wide), seed, seconds)


def judged(function, kernel, *inputs):
    """The budget's ratio of `kernel`."""
    found, oracle = study(function, *inputs), function(*(x.astype(float) for x in inputs))
    expected = Expected(oracle.astype(np.float32), oracle, found.length, found.scales[0])
    return compare("y", kernel(*inputs), expected, Tolerance(1e9, 1e9, None)).budget_ratio


def in_order(x):
    return np.add.accumulate(x, axis=-1)[..., -1]


def layer_norm(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def layer_norm_in_order(x):
    n = np.float32(x.shape[-1])
    centred = x - (in_order(x) / n)[:, None]
    return centred / np.sqrt((in_order(centred**2) / n)[:, None] + np.float32(1e-5))


def layer_norm_one_pass(x):
    n = np.float32(x.shape[-1])
    mean = (in_order(x) / n)[:, None]
    variance = (in_order(x * x) / n)[:, None] - mean * mean
    return (x - mean) / np.sqrt(np.maximum(variance, 0) + np.float32(1e-5))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((32, 2048)).astype(np.float32)


# S


@pytest.mark.parametrize(
    "function", [lambda x: x.sum(axis=1), lambda x: np.cumsum(x, axis=1), lambda x: x.mean(axis=0), lambda x: x * 0.5]
)
def test_where_the_reference_is_linear_s_is_exact(rows, function):
    found = study(function, rows)
    assert found.method == "linear"
    assert found.scales[0] == pytest.approx(function(abs(rows.astype(float))), rel=1e-6)


def test_products_are_linear_in_each_operand(rng):
    a, b, c = rng.standard_normal((8, 64)), rng.standard_normal((64, 8)), rng.standard_normal(8)
    found = study(lambda x, y, z: x @ y + z, a, b, c)
    assert (found.method, found.length) == ("linear", 64)
    assert found.scales[0] == pytest.approx(abs(a) @ abs(b) + abs(c), rel=1e-6)


def test_differences_and_signed_coefficients_are_not_taken_for_f_of_the_absolute(rng):
    a, b = rng.standard_normal((2, 500, 40))
    signs = np.where(np.arange(40) % 2, 1.0, -1.0)
    for function, inputs, s in (
        (lambda x, y: x - y, (a, b), abs(a) + abs(b)),
        (lambda x: x @ signs, (a,), abs(a).sum(axis=1)),
    ):
        found = study(function, *inputs)
        share = found.scales[0] / s
        assert found.method == "first-order" and 1 < np.median(share) < 2.5
        assert np.quantile(share, 0.01) > 0.6 and share.max() < 5


def test_s_of_a_nonlinear_function_is_its_condition(rng):
    x = rng.uniform(0.5, 4, (100, 100))
    found = study(np.exp, x)
    share = found.scales[0] / (x * np.exp(x))
    assert 1 < np.median(share) < 2.2 and share.min() > 0.4


def test_a_reference_with_other_outputs_and_inputs(rng):
    x, index = rng.standard_normal((4, 100)), np.arange(3)
    found = study(lambda v, i: {"a": v[:, i].sum(axis=1), "b": v.argmax(axis=1)}, x, index)
    assert found.scales[0].shape == (4,) and found.scales[1] is None


def test_what_cannot_be_studied(rng):
    assert study(lambda i: i + 1, np.arange(4)) is None
    assert study(np.exp, rng.standard_normal(9), seconds=0.0) is None
    with pytest.raises(ZeroDivisionError):
        study(lambda x: 1 // 0, np.ones(3))


def test_time_that_passes_while_others_run_does_not_count(rng):
    """A busy machine, as far as a process can see it: the clock goes on and nothing is computed."""

    def delayed(x):
        time.sleep(0.05)
        return np.exp(x)

    x = rng.standard_normal(100)
    found = study(delayed, x, seconds=0.6)  # 12 delays, and ours are more than 16
    assert found is not None
    assert found.draws == study(np.exp, x).draws


def test_a_reference_that_waits_for_its_turn_is_not_slow(tmp_path):
    source = "import time\nimport numpy as np\ndef make_inputs(*, seed):\n    return np.ones(4)\n"
    (tmp_path / "reference.py").write_text(source + "def reference(x):\n    time.sleep(0.4)\n    return x\n")
    bench = TaskBench(str(tmp_path))
    bench.draw("0", 1, {})
    bench.native("0", [])
    assert bench.native_s < 0.3


def test_gradients_that_wait_for_their_turn_are_not_slow():
    class Waiting(Gradients):
        def native(self):
            time.sleep(0.4)
            return [np.ones(3)]

    told, fds = answer(Waiting(None, None, None, None), {"part": "native"})
    close_all(fds)
    assert 0 < told["seconds"] < 0.3


def test_special_values_leave_a_finite_s(rng):
    x = rng.standard_normal(100)
    x[:3] = np.inf, -np.inf, np.nan
    assert np.isfinite(study(lambda v: v * np.exp(v), x).scales[0]).all()


# K


@pytest.mark.parametrize(
    ("function", "length"),
    [(np.exp, 1), (lambda x: x.sum(1), 2048), (softmax, 2048), (lambda x: x.sum(), 65536), (lambda x: x.sum(0), 32)],
)
def test_k_counts_the_inputs_behind_an_output(rows, function, length):
    assert study(function, rows).length == length


# Kernels


@pytest.mark.parametrize("shift", [0, 3, 1000])
def test_honest_layer_norms_stay_within_and_one_pass_shows(rows, shift):
    x = rows + np.float32(shift)
    assert judged(layer_norm, layer_norm_in_order, x) < 1
    assert judged(layer_norm, layer_norm, x) < 1
    if shift == 1000:
        assert judged(layer_norm, layer_norm_one_pass, x) > 100


def test_sums_that_cancel(rng):
    x = rng.standard_normal((32, 4096)).astype(np.float32)
    x -= x.mean(axis=1, keepdims=True)
    blocked, backwards = lambda v: in_order(in_order(v.reshape(32, 64, 64))), lambda v: in_order(v[:, ::-1])
    for honest in (in_order, blocked, backwards, lambda v: v.sum(axis=1)):
        assert judged(lambda v: v.sum(axis=1), honest, x) < 1
    assert judged(lambda v: v.sum(axis=1), lambda v: in_order(v.astype(np.float16)).astype(np.float32), x) > 10
    assert judged(lambda v: v.sum(axis=1), lambda v: v[:, 4:].sum(axis=1), x) > 10


def test_softmax(rows):
    x = rows * 3

    def ordered(v):
        e = np.exp(v - v.max(axis=1, keepdims=True))
        return e / in_order(e)[:, None]

    assert judged(softmax, ordered, x) < 1 and judged(softmax, softmax, x) < 1
    assert judged(softmax, lambda v: softmax(v) * np.float32(1.001), x) > 5
    half = softmax(x.astype(np.float16)).astype(np.float32)
    assert judged(softmax, lambda _: half, x) > 5
