"""What an experienced reviewer would ask of a draft before it goes out: advice with a place, and never a refusal.

The words are looked at and not understood, so that a hint may be wrong; each says what it saw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.report import Report
from app.domain.review import CommentSeverity, Decision
from app.reviews import variables
from app.reviews.feedback import NEXT
from app.reviews.scoring import DraftComment, DraftContent

LOW = 1
SHINGLE, ALIKE = 4, 0.8  # words; the share of them that two texts have in common
_ASKS = frozenset({CommentSeverity.MUST_CHANGE.value, CommentSeverity.SHOULD_CHANGE.value})
_UNHAPPY = frozenset({Decision.REVISE.value, Decision.REJECT.value, Decision.ACCEPT_WITH_NOTES.value})
_DEED = re.compile(
    r"\b(add|avoid|call|cast|change|check|clamp|compare|compute|convert|declare|drop|fix|guard|handle|initiali[sz]e|"
    r"keep|load|make|mask|mov|nam|need|pass|pick|put|read|reduce|remov|renam|replac|return|round|say|set|should|split|"
    r"stor|subtract|swap|take|try|use|using|instead|widen|writ|must)\w*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Hint:
    """`place` is the id of what it is about on the page."""

    place: str
    says: str


def hints(
    content: Mapping[str, Any], titles: Mapping[str, str], earlier: Sequence[str] = (), report: Report | None = None
) -> list[Hint]:
    """In the order of the page; `titles` are the criteria's by key, `earlier` the reviewer's own feedback before.

    `report` is the evidence as the author knows it, from which variables get their figures.
    """
    draft = DraftContent.model_validate(dict(content))
    found: list[Hint] = []
    for key, score in draft.scores.items():
        if key in titles:
            found += [Hint(f"criterion-{key}", f"{titles[key]} {fault}") for fault in _of_score(key, draft)]
            found += [Hint(f"criterion-{key}", fault) for fault in _gaps(score.rationale, report)]
    for number, comment in enumerate(draft.comments, 1):
        found += [Hint(f"comment-{number}", f"comment {number} {fault}") for fault in _faults(comment)]
        found += [Hint(f"comment-{number}", fault) for fault in _gaps(comment.body, report)]
    return found + [Hint("feedback", fault) for fault in _of_feedback(draft, earlier) + _gaps(draft.feedback, report)]


def _of_score(key: str, draft: DraftContent) -> list[str]:
    level = draft.scores[key].level
    is_bare = level is not None and level <= LOW and not _is_shown(key, draft)
    return ["is low, and no comment shows where: cite a cell, or comment on a line"] if is_bare else []


def _gaps(text: str, report: Report | None) -> list[str]:
    """What a text that was inserted, or a variable that was typed, does not know here."""
    left = [f"the gap [{name}: \N{HORIZONTAL ELLIPSIS}] is still to be filled in" for name in variables.gaps(text)]
    return left + [
        f"{{{{{name}}}}} has no value here, and will be read as \N{LEFT DOUBLE QUOTATION MARK}{said}"
        "\N{RIGHT DOUBLE QUOTATION MARK}"
        for name, said in variables.without_value(text, report)
    ]


def _is_shown(key: str, draft: DraftContent) -> bool:
    return bool(draft.scores[key].evidence) or any(
        c.criterion == key and (c.line is not None or c.evidence) for c in draft.comments
    )


def _faults(comment: DraftComment) -> list[str]:
    if not comment.body.strip() or comment.severity == CommentSeverity.PRAISE.value:
        return []
    faults = []
    if comment.path is None and not comment.evidence:
        faults.append("has neither a line nor evidence: what is it about?")
    if comment.severity in _ASKS and not _DEED.search(comment.body):
        faults.append("asks for a change, and seems not to say which")
    return faults


def _of_feedback(draft: DraftContent, earlier: Sequence[str]) -> list[str]:
    if not draft.feedback.strip():
        return []
    empty = _empty_headings(draft.feedback)
    faults = [
        f"nothing stands under \N{LEFT DOUBLE QUOTATION MARK}{title}\N{RIGHT DOUBLE QUOTATION MARK}" for title in empty
    ]
    if draft.decision in _UNHAPPY and not empty and not _DEED.search(_under(draft.feedback, NEXT) or draft.feedback):
        faults.append("it seems not to say what the author should do next")
    alike = max((_likeness(draft.feedback, other) for other in earlier), default=0.0)
    if alike >= ALIKE:
        faults.append(f"it is {alike:.0%} the same as feedback that you gave before: is it about this one?")
    return faults


def _empty_headings(text: str) -> list[str]:
    """Of headings that no text follows before the next one."""
    parts = _HEADING.split(text)
    return [title for title, body in zip(parts[1::2], parts[2::2], strict=True) if not body.strip()]


def _under(text: str, title: str) -> str:
    parts = _HEADING.split(text)
    return next((body for found, body in zip(parts[1::2], parts[2::2], strict=True) if found == title), "")


def _likeness(one: str, other: str) -> float:
    """The share of runs of four words that two texts have in common (Jaccard)."""
    a, b = _shingles(one), _shingles(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", _HEADING.sub("", text).lower())
    return {tuple(words[n : n + SHINGLE]) for n in range(len(words) - SHINGLE + 1)}
