"""Long sources: a first part within its budget, every line that is pointed at, and all the rest one press away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.kit.source import plain
from app.submissions.parts import FIRST_CHARACTERS_MAX, FIRST_LINES_MAX, PART_LINES, Gap, first_parts, part


def numbers(shown):
    return [line.number for line in shown.lines if not isinstance(line, Gap)]


def test_a_short_file_is_whole():
    (shown,) = first_parts([plain("a.py", "x\n" * 200)], {})
    assert numbers(shown) == list(range(1, 201)) and shown.count == 200


def test_a_long_file_shows_its_start_and_where_findings_point():
    (shown,) = first_parts([plain("a.py", "x\n" * 20_000)], {"a.py": [15_000]})
    assert numbers(shown) == [*range(1, FIRST_LINES_MAX + 1), *range(14_990, 15_011)]
    assert [line for line in shown.lines if isinstance(line, Gap)] == [Gap(1501, 14_989), Gap(15_011, 20_000)]


def test_the_budget_is_of_the_page_and_not_of_each_file():
    shown = first_parts([plain(f"{n}.py", "x\n" * 1000) for n in range(3)], {})
    assert [len(numbers(one)) for one in shown] == [1000, 500, 0]


def test_one_endless_line_waits_until_it_is_asked_for():
    (shown,) = first_parts([plain("a.py", "x" * (FIRST_CHARACTERS_MAX + 1) + "\ny")], {})
    assert shown.lines == (Gap(1, 2),)


@given(st.integers(1, 5000), st.integers(-5, 6000), st.integers(-5, 6000))
def test_asking_on_and_on_gives_every_line_once(count, start, end):
    file = plain("a.py", "\n".join("x" for _ in range(count)))
    seen, asked = [], Gap(start, end)
    while asked is not None:
        shown = part(file, asked.start, asked.end)
        assert len(numbers(shown)) <= PART_LINES
        seen += numbers(shown)
        asked = next((line for line in shown.lines if isinstance(line, Gap)), None)
    assert seen == list(range(max(1, start), min(count, end) + 1))
