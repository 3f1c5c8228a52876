"""Any generator's mask passes; what is no dropout does not."""

import numpy as np
import pytest

from workbench_checks import dropout, dropped_out

SHAPE, RATE = (64, 500), 0.25


@pytest.fixture
def random():
    return np.random.default_rng(11)


@pytest.fixture
def x(random):
    return (random.random(SHAPE) + 0.5).astype(np.float32)


def dropped(x, mask, rate=RATE):
    return np.where(mask, 0, x / np.float32(1 - rate)).astype(x.dtype)


def test_takes_an_honest_mask(random, x):
    ok, message = dropped_out(dropped(x, random.random(SHAPE) < RATE), x, RATE)
    assert ok
    assert "of 32000 elements are dropped; a rate that is 0.0" in message


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_takes_all_or_nothing_where_that_is_the_rate(x, rate):
    assert dropped_out(x * (1 - rate), x, rate)
    assert not dropped_out(x * rate, x, rate)


def test_inputs_that_are_0_say_nothing(random, x):
    x[:, :250] = 0
    assert dropped_out(dropped(x, random.random(SHAPE) < RATE), x, RATE)


def test_takes_what_becomes_of_nan_and_infinity(random, x):
    x[3, 4], x[5, 6], x[7, 8] = np.nan, np.inf, -np.inf
    mask = random.random(SHAPE) < RATE
    kept = dropped(x, mask)
    with np.errstate(invalid="ignore"):
        multiplied = x * ~mask / np.float32(1 - RATE)
    assert dropped_out(kept, x, RATE)
    assert dropped_out(multiplied, x, RATE)


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        (lambda r: np.zeros(SHAPE, bool), "0 of 32000 elements are dropped instead of 0.25"),
        (lambda r: r.random(SHAPE) < 0.28, "elements are dropped instead of 0.25"),
        (lambda r: np.broadcast_to(r.permutation(500) < 125, SHAPE), "along axis 0"),
        (lambda r: np.broadcast_to(r.random((64, 1)) < 0.25, SHAPE), "are dropped"),
        (lambda r: np.repeat(r.random((64, 250)) < 0.25, 2, axis=1), "along axis 1"),
        (lambda r: np.concatenate([r.random((63, 500)) < 0.25, np.zeros((1, 500), bool)]), "elements from [63, "),
    ],
)
def test_refuses_zeros_that_do_not_fall_by_chance(random, x, mask, says):
    ok, message = dropped_out(dropped(x, mask(random)), x, RATE)
    assert not ok
    assert says in message


def test_names_the_first_value_that_is_not_scaled(random, x):
    mask = random.random(SHAPE) < RATE
    mask[2, 17] = False
    out = dropped(x, mask)
    out[2, 17] = x[2, 17]
    assert dropped_out(out, x, RATE).message.startswith("the output at [2, 17] is ")


def test_takes_a_scale_of_its_own(random, x):
    assert dropped_out(np.where(random.random(SHAPE) < RATE, 0, x), x, RATE, scale=1.0)


def test_too_few_elements_are_the_tasks_fault(random, x):
    with pytest.raises(ValueError, match=r"too few to tell a rate of 0\.25"):
        dropped_out(dropped(x, random.random(SHAPE) < RATE)[0, :40], x[0, :40], RATE)


@pytest.mark.matrix
def test_refuses_honest_masks_no_more_often_than_stated_in_20000_trials(random):
    told = np.ones((20, 30), bool)
    masks = random.random((20_000, *told.shape)) < RATE
    assert sum(not dropout._falls_by_chance(mask, told, RATE, 1e-2) for mask in masks) <= 270
