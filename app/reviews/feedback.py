"""The overall feedback, put together from what the reviewer has said already: their scores, reasons and comments.

Nothing is added that they did not say, but for the headings of the task's kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from app.domain.rubric import CANNOT_JUDGE
from app.reviews.scoring import DraftComment, DraftContent, DraftScore
from app.rubrics.content import CriterionContent

SKELETONS = Path(__file__).with_name("feedback.yaml")
AT_LINES, NEXT = "At lines", "What to do next"
_LOW = 1


def assembled(
    kind: str, criteria: Sequence[CriterionContent], content: Mapping[str, Any], cited: Callable[[str], str] = str
) -> str:
    """Markdown: under each heading of the kind what was said on its criteria, the heavier first.

    `cited` names a piece of evidence as the author may read it.
    """
    draft = DraftContent.model_validate(dict(content))
    said = {c.key: text for c in criteria if (text := _on(c, draft, cited))}
    order = sorted(criteria, key=lambda c: -c.weight)
    parts = [
        f"# {heading}\n\n" + "\n".join(texts)
        for heading, keys in _headings(kind, [c.key for c in criteria])
        if (texts := [said[c.key] for c in order if c.key in keys and c.key in said])
    ]
    loose = [c for c in draft.comments if c.body.strip() and c.criterion not in said]
    if loose:
        parts.append(f"# {AT_LINES}\n\n" + "\n".join(_comment(c) for c in loose))
    return "\n\n".join([*parts, f"# {NEXT}\n"]) if parts else ""


def appended(typed: str, more: str) -> str:
    """Behind what was typed; what stands there word for word already is not said again."""
    if not more or more.strip() in typed:
        return typed
    return f"{typed.rstrip()}\n\n{more}" if typed.strip() else more


@cache
def skeletons() -> dict[str, dict[str, list[str]]]:
    """Task kind -> heading -> keys of criteria."""
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(SKELETONS.read_text(encoding="utf-8"))
    return loaded


def _headings(kind: str, keys: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    found = skeletons().get(kind) or {"What I found": list(keys)}
    homeless = set(keys).difference(*found.values())
    last = list(found)[-1]
    for heading, belonging in found.items():
        yield heading, set(belonging) | (homeless if heading == last else set())


def _on(criterion: CriterionContent, draft: DraftContent, cited: Callable[[str], str]) -> str:
    """A point on one criterion with its comments below it; empty where nothing was said in words and nothing is low."""
    score = draft.scores.get(criterion.key, DraftScore())
    comments = [c for c in draft.comments if c.criterion == criterion.key and c.body.strip()]
    words = score.rationale.strip()
    is_low = score.state == "scored" and score.level is not None and score.level <= _LOW
    if not (words or comments or is_low):
        return ""
    lines = [
        f"- **{criterion.title}** {_level(criterion, score)}".rstrip() + (f": {_indented(words)}" if words else "")
    ]
    if score.evidence:
        lines[0] += f" (evidence: {', '.join(f'`{cited(cell)}`' for cell in score.evidence)})"
    return "\n".join(lines + [f"  {_comment(comment)}" for comment in comments])


def _level(criterion: CriterionContent, score: DraftScore) -> str:
    if score.state == CANNOT_JUDGE:
        return "(cannot be judged)"
    if score.state != "scored" or score.level is None:
        return ""
    descriptor = criterion.levels.get(score.level, "").strip().rstrip(".")
    return f"({score.level} of 3: {descriptor[:1].lower()}{descriptor[1:]})" if descriptor else f"({score.level} of 3)"


def _comment(comment: DraftComment) -> str:
    lines = "" if comment.line is None else f":{comment.line}"
    if comment.line is not None and comment.end_line not in (None, comment.line):
        lines += f"-{comment.end_line}"
    place = f"`{comment.path}{lines}`: " if comment.path else ""
    return f"- {place}{_indented(comment.body.strip())}"


def _indented(text: str) -> str:
    """As part of a point: later lines stay in it."""
    return text.replace("\n", "\n    ")
