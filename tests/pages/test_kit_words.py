"""Numbers, prose, source and chart geometry: what templates say, without a page around it."""

from __future__ import annotations

import datetime as dt

import pytest

from app.kit import charts, figures
from app.kit.prose import prose
from app.kit.source import coloured, visible
from app.kit.words import said


class TestSignificant:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (0, "0"),
            (3, "3"),
            (0.25, "0.250"),
            (1.375, "1.38"),
            (123.456, "123"),
            (99999, "99\u2009999"),
            (4194304.0, "4.19\u2009\u00d7\u200910\u2076"),
            (5.96e-8, "5.96\u2009\u00d7\u200910\u207b\u2078"),
            (-0.5, "\u22120.500"),
            ("nan", "NaN"),
            ("-inf", "\u2212\u221e"),
            (float("inf"), "\u221e"),
            (None, "\u2013"),
            (True, "yes"),
        ],
    )
    def test_three_figures_and_whole_numbers_stay_whole(self, value, shown):
        assert figures.significant(value) == shown


class TestSeconds:
    @pytest.mark.parametrize(
        ("value", "shown"), [(2e-6, "2 \u00b5s"), (0.0125, "12.5 ms"), (3.41, "3.41 s"), (200, "3 min 20 s")]
    )
    def test_the_unit_fits_the_size(self, value, shown):
        assert figures.seconds(value) == shown


class TestAgo:
    NOW = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)

    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [(0, "just now"), (30, "30 s ago"), (240, "4 min ago"), (7200, "2 h ago"), (-720, "in 12 min")],
    )
    def test_before_and_after(self, seconds, shown):
        assert figures.ago(self.NOW - dt.timedelta(seconds=seconds), self.NOW) == shown


class TestProse:
    def test_markdown_becomes_markup_and_html_does_not(self):
        html = prose("# Title\n\n**bold** <b>raw</b> `code`")

        assert "<h3>Title</h3>" in html
        assert "<strong>bold</strong>" in html and "<code>code</code>" in html
        assert "<b>" not in html

    @pytest.mark.parametrize(
        "hostile",
        [
            "<script>x</script>",
            "[a](javascript:x)",
            "![i](http://e.example/p)",
            '<a onclick="x">',
            "[a](data:text/html,x)",
        ],
    )
    def test_nothing_active_survives(self, hostile):
        html = prose(hostile)

        assert "<script" not in html and "<img" not in html
        assert 'href="javascript' not in html and 'href="data' not in html and "<a onclick" not in html


class TestSaid:
    def test_backticks_are_code_and_the_rest_is_escaped(self):
        assert said("`a<b` & <i>") == "<code>a&lt;b</code> &amp; &lt;i&gt;"


class TestSource:
    def test_each_line_is_closed_in_itself(self):
        file = coloured("k.py", 's = """one\ntwo"""\nx = "<script>"\n')

        assert len(file.lines) == 3
        assert all(line.html.count("<span") == line.html.count("</span>") for line in file.lines)
        assert "<script>" not in "".join(line.html for line in file.lines)

    def test_hidden_characters_are_shown(self):
        assert visible("a\x1b[31m\u202eb\tc\n") == "a\\x1b[31m\\u202eb\tc\n"

    def test_an_anchor_holds_no_surprise(self):
        assert coloured('a b/"><x>.py', "").anchor == "a-b-x-py"


class TestSpeedupPlot:
    def test_the_interval_says_the_sign(self):
        rows = [
            {"name": "a", "speedup": 1.6, "speedup_interval": (1.5, 1.7)},
            {"name": "b", "speedup": 1.0, "speedup_interval": (0.9, 1.1)},
            {"name": "c", "speedup": 0.7, "speedup_interval": (0.6, 0.8)},
            {"name": "unmeasured"},
        ]

        plot = charts.speedup_plot(rows)

        assert [row.reads for row in plot.rows] == ["faster", "no difference shown", "slower"]
        assert all(row.x_low < row.x < row.x_high for row in plot.rows)
