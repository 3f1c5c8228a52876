"""What became of the lines of one text in another: which match, and where a range of them went.

Lines that stand exactly once in both texts hold the comparison together (as in a patience diff); only what lies
between two of them is compared line by line.  That reads well and stays fast for long files.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Between two anchors; a longer stretch without one line in common that is its own counts as replaced.
STRETCH_PAIRS_MAX = 250_000


@dataclass(frozen=True)
class Match:
    """`length` equal lines, from index `old` of the one text and index `new` of the other."""

    old: int
    new: int
    length: int


def lines_of(text: str) -> list[str]:
    """As the source view numbers them: line n of the page is index n - 1."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def matches(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """The equal stretches, in order, none touching the next."""
    joined: list[Match] = []
    for match in _pieces(old, new):
        last = joined[-1] if joined else None
        if last and last.old + last.length == match.old and last.new + last.length == match.new:
            joined[-1] = Match(last.old, last.new, last.length + match.length)
        else:
            joined.append(match)
    return joined


@dataclass(frozen=True)
class Changed:
    """How many lines of a file are new, and how many are gone."""

    path: str
    added: int
    removed: int


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[Changed]:
    """The files, by path, in which two revisions differ; a file of one of them alone counts whole."""
    found = []
    for path in sorted(old.keys() | new.keys()):
        before, after = (lines_of(files[path]) if path in files else [] for files in (old, new))
        kept = sum(match.length for match in matches(before, after))
        if len(before) + len(after) > 2 * kept:
            found.append(Changed(path, len(after) - kept, len(before) - kept))
    return found


def ported(old: Sequence[str], new: Sequence[str], start: int, end: int) -> tuple[int, int] | None:
    """Where lines `start` to `end` (from 1, both included) of `old` are in `new`; None where they are gone.

    Moved lines are found again where all of them stand together, in one place only, among what `new` added:
    elsewhere an equal line is another line, not this one.
    """
    if not 1 <= start <= end <= len(old):
        return None
    found = matches(old, new)
    kept = {m.old + i: m.new + i for m in found for i in range(m.length)}
    first = kept.get(start - 1)
    if first is not None and all(kept.get(start - 1 + i) == first + i for i in range(end - start + 1)):
        return first + 1, first + 1 + end - start
    added = set(range(len(new))) - set(kept.values())
    return _moved(old[start - 1 : end], new, added)


def _moved(wanted: Sequence[str], new: Sequence[str], added: set[int]) -> tuple[int, int] | None:
    if not any(any(letter.isalnum() for letter in line) for line in wanted):
        return None  # a lone bracket is equal to every other
    length = len(wanted)
    places = [
        at
        for at in sorted(added)
        if list(new[at : at + length]) == list(wanted) and all(at + i in added for i in range(length))
    ]
    return (places[0] + 1, places[0] + length) if len(places) == 1 else None


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Match]:
    old_at = new_at = 0
    for old_anchor, new_anchor in [*_anchors(old, new), (len(old), len(new))]:
        yield from _between(old, new, (old_at, old_anchor), (new_at, new_anchor))
        if old_anchor < len(old):
            yield Match(old_anchor, new_anchor, 1)
        old_at, new_at = old_anchor + 1, new_anchor + 1


def _between(
    old: Sequence[str], new: Sequence[str], old_range: tuple[int, int], new_range: tuple[int, int]
) -> Iterator[Match]:
    left, right = old[slice(*old_range)], new[slice(*new_range)]
    if not left or not right or len(left) * len(right) > STRETCH_PAIRS_MAX:
        return
    for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        if block.size:
            yield Match(old_range[0] + block.a, new_range[0] + block.b, block.size)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of the lines that are unique in both: the longest run of them whose order both share."""
    in_old, in_new = Counter(old), Counter(new)
    where = {line: at for at, line in enumerate(old) if in_old[line] == 1 and in_new[line] == 1}
    return _longest_ascending([(where[line], at) for at, line in enumerate(new) if line in where])


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose first numbers ascend; the second ones do already."""
    ends: list[int] = []
    holders: list[int] = []
    before: list[int] = []
    for number, (old_at, _) in enumerate(pairs):
        place = bisect_left(ends, old_at)
        before.append(holders[place - 1] if place else -1)
        ends[place : place + 1] = [old_at]
        holders[place : place + 1] = [number]
    chosen: list[tuple[int, int]] = []
    at = holders[-1] if holders else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]
