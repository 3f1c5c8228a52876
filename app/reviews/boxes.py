"""The boxes of a review: `feedback`, `comment` for a new one, `comment.2`, `rationale.` and the key of a criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import Invalid
from app.reviews.scoring import DraftComment, DraftContent, DraftScore
from app.reviews.snippets import added

FEEDBACK, COMMENT, RATIONALE = "feedback", "comment", "rationale"


@dataclass(frozen=True)
class Box:
    """`place` is the id on the page of what it stands in."""

    name: str
    title: str
    place: str


def boxes(content: Mapping[str, Any], titles: Mapping[str, str]) -> list[Box]:
    """Every box there is; `titles` are the criteria's by key."""
    draft = DraftContent.model_validate(dict(content))
    return [
        Box(FEEDBACK, "Overall feedback", FEEDBACK),
        Box(COMMENT, "A new comment", f"comment-{len(draft.comments) + 1}"),
        *(
            Box(f"{COMMENT}.{n}", f"Comment {n}{_about(comment)}", f"comment-{n}")
            for n, comment in enumerate(draft.comments, 1)
        ),
        *(Box(f"{RATIONALE}.{key}", f"Rationale for {title}", f"criterion-{key}") for key, title in titles.items()),
    ]


def written(content: Mapping[str, Any], box: Box, text: str) -> dict[str, Any]:
    """The draft with the text behind what stands in the box."""
    draft = dict(content)
    what, _, which = box.name.partition(".")
    if what == FEEDBACK:
        return draft | {"feedback": added(draft.get("feedback", ""), text)}
    if what == RATIONALE:
        scores = dict(draft.get("scores", {}))
        score = scores.get(which, DraftScore().model_dump())
        return draft | {"scores": scores | {which: score | {"rationale": added(score.get("rationale", ""), text)}}}
    comments = [dict(one) for one in draft.get("comments", [])]
    if not which:
        comments.append(DraftComment(body=text).model_dump())
    else:
        comments[int(which) - 1]["body"] = added(comments[int(which) - 1]["body"], text)
    return draft | {"comments": comments}


def named(name: str, content: Mapping[str, Any], titles: Mapping[str, str]) -> Box:
    found = next((box for box in boxes(content, titles) if box.name == name), None)
    if found is None:
        raise Invalid("there is no such box in this review", what_to_do="Choose one from the list.")
    return found


def _about(comment: DraftComment) -> str:
    return f", {comment.path}{f':{comment.line}' if comment.line else ''}" if comment.path else ""
