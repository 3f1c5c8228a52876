"""What the numerics charts draw: bins where they belong, the tolerance beside them, and maps that need no colour."""

import math

from app.kit import charts, error_maps, figures, histograms


def bins(**counts):
    return tuple(counts.get(f"b{n}", 0) for n in range(64))


class TestUlpHistogram:
    def test_bars_stand_in_order_with_the_special_ones_apart(self):
        chart = histograms.ulp_histogram(bins(b0=9, b2=4, b63=1), bins(b0=14))

        assert [bar.label for bar in chart.bars] == ["under 1", "2\u20134", "special or \u2265 2\u2076\u00b2"]
        assert [(bar.candidate, bar.reference) for bar in chart.bars] == [(9, 14), (4, 0), (1, 0)]
        assert chart.bars[0].x < chart.bars[1].x < chart.bars[2].x

    def test_more_elements_stand_higher_and_one_is_still_seen(self):
        chart = histograms.ulp_histogram(bins(b0=100_000, b1=10, b2=1))

        heights = [bar.candidate_height for bar in chart.bars]
        assert heights == sorted(heights, reverse=True) and heights[-1] > 2
        assert heights[0] == chart.base - chart.top

    def test_the_limit_lies_where_the_bins_say_it_does(self):
        """A limit of 4 ULP is the lower edge of bin 3, which counts from 4 on."""
        chart = histograms.ulp_histogram(bins(b1=5, b3=5), allowed=4.0)

        assert chart.limit.x == next(bar.x for bar in chart.bars if bar.label == "4\u20138")
        assert chart.limit.label == "allowed 4 ULP"

    def test_nothing_counted_is_no_chart(self):
        assert histograms.ulp_histogram(bins()) is None
        assert histograms.ulp_histogram(()) is None


class TestErrorHistogram:
    def test_bins_are_named_by_their_own_exponent(self):
        chart = histograms.error_histogram(bins(b0=1, b1=1, b63=1), (), -10)

        below, octave, special = (bar.label for bar in chart.bars)
        assert below == f"under {figures.significant(2**-10)}"
        assert octave == f"{figures.significant(2**-10)}\u2013{figures.significant(2**-9)}"
        assert special == "special"

    def test_a_tolerance_above_all_errors_is_in_the_picture(self):
        chart = histograms.error_histogram(bins(b60=5, b62=5), (), -70, (2.0**-3, 2.0**-2))

        assert max(bar.x for bar in chart.bars) < chart.limit.x < chart.limit.x_high <= chart.width
        assert chart.limit.label == "allowed 0.125 to 0.250"

    def test_a_tolerance_far_away_stands_at_the_edge_with_an_arrow(self):
        above = histograms.error_histogram(bins(b62=5), (), -200, (1e-6, 1e-6))
        below = histograms.error_histogram(bins(b30=5, b62=5), (), 0, (1e-9, 1e-9))

        assert above.limit.label.endswith("\u2192") and below.limit.label.startswith("\u2190")
        assert below.limit.x <= min(bar.x for bar in below.bars)
        assert above.limit.x >= max(bar.x for bar in above.bars)

    def test_exact_outputs_and_wide_exponents_are_drawn_too(self):
        exact = histograms.error_histogram(bins(b0=8), bins(b0=8), -1074, (1e-6, 1e-6))
        huge = histograms.error_histogram(bins(b62=8), (), 962, ())

        assert [bar.candidate for bar in exact.bars] == [8]
        assert huge.bars[0].label.endswith("\u221e")

    def test_marks_and_bars_stay_inside(self):
        for used in ({"b1": 1, "b62": 1}, {"b0": 1, "b40": 1, "b63": 2}, {"b62": 1}):
            for exponent in (-1000, -60, 0, 900):
                chart = histograms.error_histogram(bins(**used), bins(**used), exponent, (1e-3, 1e-2))
                places = [*(bar.x + 2 * chart.bar_width for bar in chart.bars), *(mark.at for mark in chart.marks)]
                assert all(0 <= x <= chart.width for x in (*places, chart.limit.x, chart.limit.x_high))


class TestErrorMap:
    def test_larger_errors_are_larger_squares_and_other_letters(self):
        drawn = error_maps.error_map([[-8.0, 1.0, 3.0, 6.0, 11.0, 64.0]])

        assert drawn.lines == (".-+*#X",)
        sides = [layer.level.side for layer in drawn.layers]
        assert sides == sorted(sides)
        assert [layer.level.title for layer in drawn.layers if layer.is_crossed] == ["special mismatch"]

    def test_far_larger_errors_spread_the_levels(self):
        drawn = error_maps.error_map([[12.0, 14.0, 17.0, 19.0, 21.5]])

        assert drawn.lines == (".-+*#",)
        assert drawn.layers[0].level.title == "under 2^14 ULP"

    def test_one_long_line_is_folded(self):
        drawn = error_maps.error_map([[0.0] * 70])

        assert [len(line) for line in drawn.lines] == [32, 32, 6]

    def test_nothing_is_no_map(self):
        assert error_maps.error_map(()) is None


class TestGauge:
    def test_one_is_the_middle_and_the_ends_hold(self):
        places = [charts.gauge(ratio).x for ratio in (0.0, 0.001, 0.1, 1.0, 10.0, 1e9, math.inf)]

        assert places == sorted(places) and places[0] == 0 and places[-1] == charts.gauge(1.0).width
        assert charts.gauge(1.0).x == charts.gauge(1.0).one
        assert charts.gauge(None) is None


class TestApart:
    def test_digits_suffice_to_see_the_difference(self):
        assert figures.apart(0.104445606, 0.104445595) == ("0.104445606", "0.104445595")
        assert figures.apart(1.0, 0.5) == ("1", "0.5000")
        assert figures.apart("nan", 0.5) == ("NaN", "0.5000")
        assert figures.apart(0.25, 0.25) == ("0.2500", "0.2500")
