"""Workloads drawn from a contract's axes: within their ranges, of every kind, and small enough."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from app.domain.task import Axis, Workload
from workers.judge.shapes import MOST_BYTES, TILES, drawn_workloads

BASE = Workload("open", {"rows": 8, "cols": 100, "kind": "relu"}, uses=("correctness", "benchmark"))
BYTES = 8 * 100 * 8


def cols(axis: Axis, seed: int = 1, base: Workload = BASE) -> list[int]:
    workloads, _ = drawn_workloads(base, {"cols": axis}, BYTES, seed)
    return [w.params["cols"] for w in workloads]


@given(st.integers(0, 50), st.integers(0, 4000), st.integers(1, 64), st.integers(0, 2**31))
def test_every_value_is_within_the_range_and_a_multiple(low, spread, multiple, seed):
    axis = Axis(low * multiple, (low + spread) * multiple, multiple)
    assert all(axis.holds(value) for value in cols(axis, seed))


@given(st.integers(0, 2**31))
def test_one_axis_has_each_kind(seed):
    values = set(cols(Axis(0, 4096), seed))
    assert {0, 1, 4096} <= values
    assert any(n > 16 and all(n % d for d in range(2, math.isqrt(n) + 1)) for n in values)
    assert any(n + 1 in TILES for n in values)
    assert any(n - 1 in TILES for n in values)


def test_where_0_is_not_allowed_it_is_not_drawn():
    assert cols(Axis(1, 4096))[0] == 1
    assert 0 not in cols(Axis(1, 4096))


@given(st.integers(0, 2**31))
def test_several_axes_have_each_kind_between_them(seed):
    workloads, _ = drawn_workloads(BASE, {"rows": Axis(1, 64), "cols": Axis(0, 256)}, BYTES, seed)
    assert {1, 64} <= {w.params["rows"] for w in workloads}
    assert {0, 1, 256} <= {w.params["cols"] for w in workloads}


def test_they_carry_the_other_parameters_and_say_what_was_drawn():
    [first, *_] = drawn_workloads(BASE, {"cols": Axis(0, 4096)}, BYTES, 1)[0]
    assert first.name == "open, cols=0"
    assert first.params == {"rows": 8, "cols": 0, "kind": "relu"}
    assert (first.drawn, first.uses, first.hidden) == (True, ("correctness",), False)


def test_what_is_drawn_from_a_hidden_workload_is_hidden():
    hidden = Workload("secret", BASE.params, hidden=True)
    assert all(w.hidden for w in drawn_workloads(hidden, {"cols": Axis(0, 4096)}, BYTES, 1)[0])


@given(st.integers(0, 2**31))
def test_they_stay_small_and_what_is_left_out_is_said(seed):
    axes = {"rows": Axis(1, 1 << 30), "cols": Axis(0, 1 << 30, 16)}
    workloads, left_out = drawn_workloads(BASE, axes, BYTES, seed)
    sizes = [BYTES * (w.params["rows"] / 8) * (w.params["cols"] / 100) for w in workloads]
    assert max(sizes) <= MOST_BYTES * 1.2
    assert len(left_out) == 2
    assert "1073741824" in left_out[0]


def test_the_seed_decides():
    assert cols(Axis(0, 4096), 1) == cols(Axis(0, 4096), 1) != cols(Axis(0, 4096), 2)


def test_a_range_of_one_value_that_the_workload_has_draws_nothing():
    assert cols(Axis(100, 100)) == []


def test_an_axis_that_the_workload_lacks_draws_nothing():
    assert drawn_workloads(BASE, {"depth": Axis(1, 8)}, BYTES, 1) == ([], [])
