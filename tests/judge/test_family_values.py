"""What a family's values are, and that a layout changes nothing but where elements lie."""

from __future__ import annotations

import numpy as np
import pytest

from app.domain.task import LAYOUTS, VALUE_FAMILIES
from workers.reference.families import FAMILIES, filled, laid_out

OWN = np.random.default_rng(5).standard_normal((16, 24)).astype(np.float32)


def made(family: str, like: np.ndarray = OWN) -> np.ndarray:
    return filled(like, family, np.random.default_rng(3))


def test_every_name_that_a_contract_may_use_is_made():
    assert tuple(FAMILIES) == VALUE_FAMILIES


@pytest.mark.parametrize("family", VALUE_FAMILIES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_shape_and_dtype_stay_and_the_seed_decides_the_values(family, dtype):
    own = OWN.astype(dtype)
    a, b = made(family, own), made(family, own)
    assert (a.shape, a.dtype) == (own.shape, own.dtype)
    assert a.tobytes() == b.tobytes()
    assert a.tobytes() != own.tobytes()


@pytest.mark.parametrize("leaf", [np.arange(9), np.array([True, False]), np.float32(2.0), 3, None, "relu"])
def test_indices_masks_scalars_and_options_stay(leaf):
    assert all(filled(leaf, family, np.random.default_rng(3)) is leaf for family in VALUE_FAMILIES)


def test_infinities_and_nans_leave_most_rows_and_the_first_one_as_they_were():
    for family, special in (("inf", np.isinf), ("nan", np.isnan)):
        values = made(family)
        assert 0 < special(values).mean() < 0.2
        assert (values[0] == OWN[0]).all()
        assert (values[~special(values)] == OWN[~special(values)]).all()


def test_a_single_element_still_becomes_special():
    assert np.isnan(made("nan", np.ones(1, np.float32))).all()


def test_huge_overflows_when_squared_and_not_when_summed():
    with np.errstate(over="ignore"):
        values = made("huge")
        assert np.isinf(np.square(values)).mean() > 0.9
        assert np.isfinite(values.sum(dtype=np.float32))


def test_tiny_is_normal_and_its_squares_are_not():
    values, smallest = made("tiny"), np.finfo(np.float32).smallest_normal
    assert (np.abs(values) > smallest).mean() > 0.99
    assert (np.square(values) < smallest).all()


def test_subnormal_is_below_the_smallest_normal_number():
    values = made("subnormal")
    assert (np.abs(values) <= np.finfo(np.float32).smallest_normal).all()
    assert (values != 0).mean() > 0.9


def test_zeros_have_both_signs():
    values = made("zeros")
    assert (values == 0).all()
    assert 0 < np.signbit(values).mean() < 1


def test_one_hot_has_one_in_each_row_and_first_a_permutation():
    values = made("one-hot")
    assert (values.sum(-1) == 1).all()
    assert values.max(0).sum() == len(values)


def test_sums_of_integers_are_exact_in_any_order():
    values = made("integers", np.zeros((200, 300), np.float32)).reshape(-1)
    backwards = np.cumsum(values[::-1], dtype=np.float32)[-1]
    assert np.cumsum(values, dtype=np.float32)[-1] == backwards == values.astype(np.int64).sum()


def test_permuted_is_the_same_values():
    assert sorted(made("permuted").reshape(-1)) == sorted(OWN.reshape(-1))


def test_wide_spans_many_binades_and_its_products_fit():
    values = np.abs(made("wide"))
    assert values.max() / values.min() > 2.0**40
    assert np.isfinite(values.max() ** 2)


def test_an_array_whose_elements_share_memory_stays():
    repeated = np.broadcast_to(np.ones(4, np.float32), (3, 4))
    assert made("huge", repeated) is repeated


@pytest.mark.parametrize("layout", LAYOUTS[1:])
@pytest.mark.parametrize("leaf", [OWN, np.arange(7), np.zeros((0, 3), np.float32)])
def test_a_layout_keeps_the_values(layout, leaf):
    view = laid_out(leaf, layout)
    assert view is not leaf
    assert view.dtype == leaf.dtype
    assert (view == leaf).all()


def test_strided_is_not_contiguous_and_offset_begins_later():
    assert not laid_out(OWN, "strided").flags.c_contiguous
    offset = laid_out(OWN, "offset")
    assert offset.flags.c_contiguous
    root = offset.base
    while root.base is not None:
        root = root.base
    assert offset.ctypes.data == root.ctypes.data + OWN.itemsize
