"""Lower precision inside is warned of where neither the budget nor the reference's own error explains it."""

import dataclasses

import pytest

from app.domain.report import OutputResult
from workers.judge.downgrade import is_downgraded


def bins(**counts):
    return tuple(counts.get(f"b{n}", 0) for n in range(64))


REFERENCE = bins(b0=100, b10=800, b12=100)
ABOVE_BUDGET = OutputResult(
    "out", (1000,), "float32", ok=True, decided_by="tolerance", elements=1000, budget_ratio=3.0,
    error_histogram=REFERENCE, reference_error_histogram=REFERENCE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        pytest.param(REFERENCE, False, id="as large as the reference's"),
        pytest.param(bins(b0=900, b12=100), False, id="smaller on the whole"),
        pytest.param(bins(b0=999, b13=1), True, id="one in a higher octave"),
        pytest.param(bins(b12=1000), True, id="the largest everywhere"),
        pytest.param(bins(b0=999, b63=1), True, id="a special mismatch"),
    ],
)
def test_the_reference_excuses_errors_like_its_own(errors, expected):
    assert is_downgraded(dataclasses.replace(ABOVE_BUDGET, error_histogram=errors)) is expected


def test_without_an_oracle_only_the_budget_speaks():
    assert is_downgraded(dataclasses.replace(ABOVE_BUDGET, reference_error_histogram=()))


@pytest.mark.parametrize("change", [{"budget_ratio": 1.0}, {"budget_ratio": None}, {"decided_by": "reference_error"}])
def test_within_the_budget_or_passed_by_the_reference_is_none(change):
    worse = dataclasses.replace(ABOVE_BUDGET, error_histogram=bins(b20=1000), **change)
    assert not is_downgraded(worse)


@pytest.mark.parametrize(
    ("dtype", "rms", "expected"),
    [
        pytest.param("float32", 2.0**-19, False, id="another formula in fp32"),
        pytest.param("float32", 2.0**-14, True, id="some of the work in tf32"),
        pytest.param("float64", 2.0**-45, False, id="another formula in fp64"),
        pytest.param("float64", 2.0**-26, True, id="fp32 inside"),
        pytest.param("bfloat16", 2.0**-19, True, id="below the output's own rounding nothing can be told"),
        pytest.param("float32", None, True, id="squares overflow"),
    ],
)
def test_no_format_is_blamed_for_less_than_it_loses(dtype, rms, expected):
    worse = dataclasses.replace(ABOVE_BUDGET, dtype=dtype, error_histogram=bins(b20=1000), normalised_rms=rms)
    assert is_downgraded(worse) is expected
