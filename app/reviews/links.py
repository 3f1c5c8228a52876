"""Linked ranges: which lines of a task's source became which lines of the submission, as a reviewer says.

The left side is a file of the task, the right side one of the submission.  What was dropped has no right side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.config import Settings
from app.kit import strict_json
from app.models import Submission, TaskVersion
from app.reviews.comments import Sources
from app.reviews.files import sources_of
from app.reviews.scoring import DraftLink, Fate, LinkContent, ReviewContent
from app.submissions.outline import features

SNIPPET_LINES_MAX = 100
NOT_LINKED = "not linked"


@dataclass(frozen=True)
class Link:
    """A link as pages and exports number it, from 1, in the order in which it was made."""

    number: int
    content: DraftLink
    raw: dict[str, Any]

    @property
    def digest(self) -> str:
        """What it is known by beside its number, which changes as others go."""
        return hashlib.sha256(strict_json.dump(self.content.model_dump()).encode()).hexdigest()[:16]

    @property
    def left(self) -> str:
        return _place(self.content.left_path, self.content.left_start, self.content.left_end)

    @property
    def right(self) -> str:
        """Empty for what was dropped."""
        return _place(self.content.right_path, self.content.right_start, self.content.right_end)

    @property
    def tone(self) -> int:
        return (self.number - 1) % 6 + 1


@dataclass(frozen=True)
class Mark:
    """A link in the margin of a line; `href` leads to the other side, and is empty where there is none."""

    link: Link
    is_first: bool
    href: str


@dataclass(frozen=True)
class Row:
    """A line of the table: something of the source, and what became of it."""

    name: str
    kind: str
    start: int
    end: int
    links: tuple[Link, ...]

    @property
    def fate(self) -> str:
        """Every answer that was given, or that none was."""
        said = dict.fromkeys(link.content.how for link in self.links)
        return ", ".join(how.replace("_", " ") for how in said) or NOT_LINKED


@dataclass(frozen=True)
class Table:
    """All that one file of the source has; `is_read` is False where its language has no outline here."""

    path: str
    rows: tuple[Row, ...]
    is_read: bool

    @property
    def linked(self) -> int:
        return sum(1 for row in self.rows if row.links)


def numbered(links: Sequence[Mapping[str, Any]]) -> list[Link]:
    return [Link(n, DraftLink.model_validate(dict(link)), dict(link)) for n, link in enumerate(links, 1)]


def task_sources(settings: Settings, version: TaskVersion) -> dict[str, list[str]]:
    """Every text of the task in lines, but the one that names hidden workloads."""
    return sources_of(settings, version, sees_hidden=False)


def problems(
    settings: Settings, given: ReviewContent, submission: Submission | None, version: TaskVersion
) -> dict[str, str]:
    """What keeps links from being published, under `links`: each fault names its link."""
    if not given.links:
        return {}
    if submission is None:
        return {"links": "this review is of no submission that lines of the task could be linked with: take them out"}
    left, right = task_sources(settings, version), sources_of(settings, submission)
    faults = [f"link {n} {why}" for n, link in enumerate(given.links, 1) if (why := fault(link, left, right))]
    return {"links": "; ".join(faults)} if faults else {}


def fault(link: LinkContent, left: Sources, right: Sources) -> str:
    """Why a link leads nowhere; empty where it leads from lines that are there to lines that are there."""
    wrong = _misplaced(link.left_path, link.left_start, link.left_end, left, "the task")
    if wrong:
        return wrong
    if link.how is Fate.DROPPED:
        return "says that its lines were dropped, and names a target" if link.right_start or link.right_path else ""
    if link.right_path is None or link.right_start is None or link.right_end is None:
        return "names no lines of the target: give them, or say that the lines were dropped"
    return _misplaced(link.right_path, link.right_start, link.right_end, right, "the submission")


def tables(links: Sequence[Link], sources: Sources, paths: Sequence[str] | None = None) -> list[Table]:
    """For each file of the source that is asked for, or that has a link: what became of all it defines."""
    wanted = paths if paths is not None else sorted({link.content.left_path for link in links} & set(sources))
    return [_table(path, sources[path], [one for one in links if one.content.left_path == path]) for path in wanted]


def marks(links: Sequence[Link], side: str, path: str, other: str, anchor: str) -> dict[int, list[Mark]]:
    """Line -> links in its margin.  A mark leads to the other side (of left and right) where that file is shown."""
    found: dict[int, list[Mark]] = {}
    for link in links:
        here = _range(link, side)
        if here is None or here[0] != path:
            continue
        there = _range(link, "right" if side == "left" else "left")
        href = f"#{anchor}-L{there[1]}" if there and there[0] == other else ""
        for line in range(here[1], here[2] + 1):
            found.setdefault(line, []).append(Mark(link, line == here[1], href))
    return found


def exported(links: Sequence[Mapping[str, Any]], left: Sources, right: Sources) -> list[dict[str, Any]]:
    """With the lines themselves, so that a row can be read without finding them."""
    return [
        {
            "number": link.number,
            **link.content.model_dump(),
            "left_snippet": _snippet(left, link.content.left_path, link.content.left_start, link.content.left_end),
            "right_snippet": _snippet(right, link.content.right_path, link.content.right_start, link.content.right_end),
        }
        for link in numbered(links)
    ]


def _table(path: str, lines: Sequence[str], links: Sequence[Link]) -> Table:
    outline = features(path, lines)
    rows = [Row(f.name, f.kind, f.start, f.end, _over(links, f.start, f.end)) for f in outline or ()]
    inside = {link.number for row in rows for link in row.links}
    rows += [
        Row(f"lines {_lines(link.content.left_start, link.content.left_end)}", "lines",
            link.content.left_start or 0, link.content.left_end or 0, (link,))
        for link in links if link.number not in inside
    ]  # fmt: skip
    return Table(path, tuple(sorted(rows, key=lambda row: (row.start, row.end))), outline is not None)


def _over(links: Sequence[Link], start: int, end: int) -> tuple[Link, ...]:
    return tuple(
        link for link in links if (link.content.left_start or 0) <= end and start <= (link.content.left_end or 0)
    )


def _range(link: Link, side: str) -> tuple[str, int, int] | None:
    c = link.content
    path, start, end = (
        (c.left_path, c.left_start, c.left_end) if side == "left" else (c.right_path, c.right_start, c.right_end)
    )
    return (path, start, end) if path and start and end and end - start < 100_000 else None


def _misplaced(path: str, start: int, end: int, sources: Sources, whose: str) -> str:
    if path not in sources:
        return f"names {path}, which is no text of {whose}"
    if end < start:
        return f"ends on line {end} of {path}, before it starts on line {start}"
    count = len(sources[path])
    return f"goes to line {end} of {path}, which has {count} line{'s' if count > 1 else ''}" if end > count else ""


def _snippet(sources: Sources, path: str | None, start: int | None, end: int | None) -> str:
    if path is None or start is None or end is None:
        return ""
    return "\n".join(sources.get(path, [])[start - 1 : min(end, start - 1 + SNIPPET_LINES_MAX)])


def _place(path: str | None, start: int | None, end: int | None) -> str:
    return f"{path}:{_lines(start, end)}" if path and start else ""


def _lines(start: int | None, end: int | None) -> str:
    return str(start) if end in (None, start) else f"{start}-{end}"
