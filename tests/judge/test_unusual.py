"""On inputs that nobody chose the tolerance for, honest kernels pass, and clear mistakes are still found."""

from __future__ import annotations

import numpy as np
import pytest

from workers.judge import numerics, unusual

TIGHT = numerics.Tolerance(0.0, 1e-6, None)
INF, NAN = float("inf"), float("nan")


def expected(native, oracle=None, sensitivity=None, dtype=np.float32, length=8):
    truth = None if oracle is None else np.asarray(oracle, np.float64)
    s = None if sensitivity is None else np.asarray(sensitivity, np.float32)
    return numerics.Expected(np.asarray(native, dtype), truth, length, s)


def compared(got, want, family="huge", tolerance=TIGHT, accumulate="fp32"):
    may_flush = family != "subnormal"
    rules = unusual.Rules(tolerance, vacuous=False, accumulate=accumulate, family=family, may_flush=may_flush)
    return unusual.compare("out", np.asarray(got, want.native.dtype), want, rules)


class TestElementsThatSayNothing:
    @pytest.mark.parametrize("got", [INF, NAN, 0.0, 7.0])
    def test_where_the_reference_overflows_on_the_way(self, got):
        assert compared([got, 1.0], expected([INF, 1.0], [7.0, 1.0])).ok

    @pytest.mark.parametrize("got", [3.4e38, INF, 3.2e38])
    def test_next_to_the_largest_number(self, got):
        assert compared([got], expected([3.4e38], [3.39e38])).ok

    @pytest.mark.parametrize("got", [INF, -INF, NAN])
    def test_infinity_or_nan_beyond_it(self, got):
        assert compared([got], expected([INF], [1e58])).ok

    def test_but_no_finite_number_there(self):
        assert not compared([3.0], expected([INF], [1e58])).ok

    @pytest.mark.parametrize("got", [0.0, 1.0, NAN])
    def test_where_the_reference_lost_every_digit(self, got):
        assert compared([got], expected([0.0], [1.3], [1.3])).ok

    def test_other_elements_still_count(self):
        found = compared([INF, 1.5], expected([INF, 1.0], [7.0, 1.0]))
        assert (found.ok, found.mismatched) == (False, 1)

    def test_the_sign_of_one_over_a_zero(self):
        assert compared([INF], expected([-INF], [-INF]), "zeros").ok
        assert not compared([INF], expected([-INF], [-INF]), "inf").ok

    def test_a_nan_for_an_infinity_among_zeros_is_a_missing_guard(self):
        assert not compared([1.0, 1.0], expected([NAN, 1.0], [NAN, 1.0]), "zeros").ok

    def test_positions_among_ties(self):
        want = expected([3, 4], dtype=np.int64)
        exact = numerics.Tolerance(None, None, None)
        assert compared([5, 4], want, "zeros", exact).ok
        assert not compared([5, 4], want, "normal", exact).ok

    def test_without_an_oracle_nobody_knows_where_an_infinity_belongs(self):
        assert compared([1.0], expected([INF])).ok
        assert not compared([1.0], expected([INF]), "inf").ok


class TestSpecialInputs:
    @pytest.mark.parametrize("family", ["inf", "nan"])
    def test_positions_have_to_match(self, family):
        want = expected([NAN, INF, 1.0], [NAN, INF, 1.0])
        assert compared([NAN, INF, 1.0], want, family).ok
        assert compared([1.0, INF, 1.0], want, family).nan_mismatch == 1
        assert compared([NAN, -INF, 1.0], want, family).inf_mismatch == 1


class TestBudget:
    def test_cancelling_terms_pass_within_it_and_fail_beyond(self):
        """1e6 and -1e6 were added: 0.06 is one rounding of them."""
        want = expected([0.0], [0.0], [2e6])
        assert compared([0.06], want).decided_by == "budget"
        assert not compared([50.0], want).ok

    def test_numbers_in_the_report_are_those_of_all_elements(self):
        assert compared([0.06], expected([0.0], [0.0], [2e6])).max_abs_error == pytest.approx(0.06)

    def test_about_as_good_as_the_reference_is_good_enough(self):
        want = expected([1.001], [1.0], [1.0])
        assert compared([0.999], want).ok
        assert not compared([0.99], want).ok

    def test_inputs_rounded_to_tf32_pass_where_the_task_allows_it(self):
        """A term of 1000, rounded to 11 bits, cancels."""
        want = expected([1.0], [1.0], [2000.0])
        assert not compared([1.4], want).ok
        rules = unusual.Rules(TIGHT, vacuous=False, accumulate="fp32", family="wide", u_inputs=2.0**-11)
        assert unusual.compare("out", np.asarray([1.4], np.float32), want, rules).ok

    def test_a_flush_to_zero_is_excused_but_where_it_may_not_be(self):
        want = expected([1e-40], [1e-40])
        assert compared([0.0], want, "tiny").ok
        assert not compared([0.0], want, "subnormal").ok
        assert compared([0.0], want, "subnormal", numerics.Tolerance(1e-6, 0.0, None)).ok


class TestIntegers:
    LOOSE = numerics.Tolerance(1e-2, 0.0, None)

    def test_every_element_exact(self):
        assert compared([3.0, 0.0], expected([3, 0], [3, 0], [9, 9]), "integers").decided_by == "integer_exact"

    def test_inexact_ones_are_counted(self):
        got = np.asarray([3.001, 0.0], np.float32)
        assert unusual.inexact(got, expected([3, 0], [3, 0], [9, 9]), "fp32") == 1
        assert compared(got, expected([3, 0], [3, 0], [9, 9]), "integers", self.LOOSE).decided_by == "tolerance"

    @pytest.mark.parametrize(
        ("want", "accumulate"),
        [
            (expected([0.5, 1.0], [0.5, 1.0], [9, 9]), "fp32"),
            (expected([3.0], [3.0], [2.0**24]), "fp32"),
            (expected([3.0], [3.0], [2000.0]), "fp16"),
            (expected([3.0], [3.0]), "fp32"),
            (expected([3.0], None, [9.0]), "fp32"),
            (expected([0.0], [0.0], [9.0]), "fp32"),
        ],
        ids=["fractions", "sums-too-large", "narrow-accumulator", "unknown-sums", "no-oracle", "all-zero"],
    )
    def test_where_sums_need_not_be_exact_nothing_is_claimed(self, want, accumulate):
        assert unusual.inexact(want.native, want, accumulate) is None


def test_complex_numbers_are_compared_by_their_parts():
    want = numerics.Expected(np.asarray([1 + 2j], np.complex64), np.asarray([1 + 2j]), 4)
    assert compared([1 + 2j], want).ok
    assert not compared([1 + 3j], want).ok
