"""Long sources in parts: the first screenful, the surroundings of what is pointed at, and the rest on demand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.kit.source import SourceFile, SourceLine

# What the first load of a page shows of all its files together; a browser gets the rest when somebody asks.
FIRST_LINES_MAX, FIRST_CHARACTERS_MAX = 1_500, 150_000
PART_LINES = 1_000
AROUND_LINES = 10
POINTED_AT_MAX = 40


@dataclass(frozen=True)
class Gap:
    """Lines `start` to `end`, not shown yet; `skipped` of them."""

    start: int
    end: int

    @property
    def skipped(self) -> int:
        return self.end - self.start + 1

    @property
    def next_end(self) -> int:
        return min(self.end, self.start + PART_LINES - 1)


@dataclass(frozen=True)
class FilePart:
    """A file with gaps among its lines; read by the same macro as a whole one."""

    name: str
    anchor: str
    count: int
    lines: tuple[SourceLine | Gap, ...]


def first_parts(
    files: Iterable[SourceFile], pointed_at: Mapping[str, Collection[int]], *, share: int = 1
) -> list[FilePart]:
    """What a page shows at first; `pointed_at` are lines that something on the page links to.

    `share`: how many submissions share the page.
    """
    lines, characters = FIRST_LINES_MAX // share, FIRST_CHARACTERS_MAX // share
    shown = []
    for file in files:
        wanted = set(_from_the_top(file.lines, lines, characters))
        lines -= len(wanted)
        characters -= sum(len(file.lines[n - 1].html) for n in wanted)
        for line in sorted(pointed_at.get(file.name, ()))[:POINTED_AT_MAX]:
            around = range(max(1, line - AROUND_LINES), min(len(file.lines), line + AROUND_LINES) + 1)
            wanted |= {n for n in around if n == line or len(file.lines[n - 1].html) < FIRST_CHARACTERS_MAX // 100}
        shown.append(FilePart(file.name, file.anchor, len(file.lines), with_gaps(file.lines, wanted)))
    return shown


def part(file: SourceFile, start: int, end: int) -> FilePart:
    """Lines `start` to `end` at most, and the gap that is left of them."""
    start, end = max(1, start), min(len(file.lines), end)
    shown = file.lines[start - 1 : min(end, start + PART_LINES - 1)]
    rest = start + len(shown)
    gap = (Gap(rest, end),) if rest <= end else ()
    return FilePart(file.name, file.anchor, len(file.lines), (*shown, *gap))


def with_gaps(lines: Sequence[SourceLine], wanted: Collection[int]) -> tuple[SourceLine | Gap, ...]:
    found: list[SourceLine | Gap] = []
    last = 0
    for number in [*sorted(n for n in wanted if 1 <= n <= len(lines)), len(lines) + 1]:
        if number > last + 1:
            found.append(Gap(last + 1, number - 1))
        if number <= len(lines):
            found.append(lines[number - 1])
        last = number
    return tuple(found)


def _from_the_top(lines: Sequence[SourceLine], lines_left: int, characters_left: int) -> Iterable[int]:
    for line in lines[: max(0, lines_left)]:
        characters_left -= len(line.html)
        if characters_left < 0:
            return
        yield line.number
