"""A submission's file beside another text: the revision before, or a file of its task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.kit.source import SourceFile, SourceLine, coloured_all
from app.submissions.differences import lines_of, matches

CONTEXT_LINES = 3


@dataclass(frozen=True)
class DiffRow:
    """One line of the view: `same`, `changed`, `removed`, `added`, or a `gap` of `skipped` equal lines."""

    kind: str
    old: SourceLine | None = None
    new: SourceLine | None = None
    skipped: int = 0


@dataclass(frozen=True)
class FileDiff:
    """Two texts in rows; `cut` says that one of them is longer than a page shows."""

    old_name: str
    new_name: str
    rows: tuple[DiffRow, ...]
    cut: bool

    @property
    def added(self) -> int:
        return sum(1 for row in self.rows if row.kind in ("added", "changed"))

    @property
    def removed(self) -> int:
        return sum(1 for row in self.rows if row.kind in ("removed", "changed"))


def compare(old: tuple[str, str], new: tuple[str, str]) -> FileDiff:
    """`old` and `new` as (name, text)."""
    old_lines, new_lines = lines_of(old[1]), lines_of(new[1])
    left, right = coloured_all([old])[0], coloured_all([new])[0]
    rows = tuple(_rows(old_lines, new_lines, left, right))
    shown = [row for row in rows if row.kind == "gap" or row.old or row.new]
    return FileDiff(old[0], new[0], tuple(shown), cut=len(shown) < len(rows))


def pairs(old: Mapping[str, str], new: Mapping[str, str]) -> list[FileDiff]:
    """Two revisions, file by file: what is only in one of them stands beside nothing."""
    both = sorted(old.keys() | new.keys())
    return [compare((path, old.get(path, "")), (path, new.get(path, ""))) for path in both]


def _rows(old: Sequence[str], new: Sequence[str], left: SourceFile, right: SourceFile) -> Iterator[DiffRow]:
    old_at = new_at = 0
    ends = [*((m.old, m.new, m.length) for m in matches(old, new)), (len(old), len(new), 0)]
    for old_start, new_start, length in ends:
        yield from _replaced(range(old_at, old_start), range(new_at, new_start), left, right)
        is_last = old_start + length == len(old) and new_start + length == len(new)
        before = CONTEXT_LINES if old_at or new_at or old_start or new_start else 0
        after = 0 if is_last else CONTEXT_LINES
        yield from _same(old_start, new_start, length, left, right, before=before, after=after)
        old_at, new_at = old_start + length, new_start + length


def _replaced(removed: range, added: range, left: SourceFile, right: SourceFile) -> Iterator[DiffRow]:
    """Lines that took the place of others stand beside them; what one side has more stands alone."""
    for place in range(max(len(removed), len(added))):
        old = _line(left, removed[place]) if place < len(removed) else None
        new = _line(right, added[place]) if place < len(added) else None
        yield DiffRow("changed" if old and new else "removed" if old else "added", old, new)


def _same(
    old: int, new: int, length: int, left: SourceFile, right: SourceFile, *, before: int, after: int
) -> Iterator[DiffRow]:
    """An equal stretch: `before` lines follow the last change, `after` lines lead to the next."""
    hidden = range(before, length - after) if length - before - after > 1 else range(0)
    for place in range(length):
        if place not in hidden:
            yield DiffRow("same", _line(left, old + place), _line(right, new + place))
        elif place == hidden.start:
            yield DiffRow("gap", skipped=len(hidden))


def _line(file: SourceFile, at: int) -> SourceLine | None:
    """None beyond what a page shows of a file."""
    return file.lines[at] if at < len(file.lines) else None
