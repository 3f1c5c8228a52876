"""A draft moved to another version of its rubric: what is kept, what loses its place, what is asked anew.

Pure: the dry run and the move are the same call.  Nothing typed is lost; an answer whose criterion is gone becomes
a general comment in the reviewer's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.rubric import Criterion, Rubric

COMMENT_LENGTH_MAX = 20_000


@dataclass(frozen=True)
class CarriedOver:
    """`content` is the draft as it would be; the rest are criterion keys, old ones in `unplaced` and `moved`."""

    content: dict[str, Any]
    kept: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    unplaced: tuple[str, ...] = ()
    rescore: tuple[str, ...] = ()
    asked_anew: tuple[str, ...] = ()


def carry_over(draft: Mapping[str, Any], old: Rubric, new: Rubric, mapping: Mapping[str, str]) -> CarriedOver:
    """`mapping` says of a criterion that is gone (or renamed) under which key its answers go on."""
    before, after = ({c.key: c for c in rubric.criteria} for rubric in (old, new))
    scores: dict[str, Any] = {}
    kept, moved, unplaced, rescore = [], [], [], []
    comments = list(draft.get("comments", []))
    for key, score in dict(draft.get("scores", {})).items():
        target = mapping.get(key) or key
        if target not in after or target in scores:
            unplaced.append(key)
            comments.append(_as_comment(before.get(key), key, score))
            continue
        scores[target] = score
        if _fits(score, after[target]):
            (kept.append(key) if target == key else moved.append((key, target)))
        else:
            scores[target] = {**score, "level": None}
            rescore.append(target)
    content = {**draft, "scores": scores, "comments": comments}
    asked = [key for key in after if key not in scores and key not in before]
    return CarriedOver(content, tuple(kept), tuple(moved), tuple(unplaced), tuple(rescore), tuple(asked))


def gone(old: Rubric, new: Rubric) -> list[Criterion]:
    """Criteria of the old version that the new one does not have."""
    keys = {c.key for c in new.criteria}
    return [c for c in old.criteria if c.key not in keys]


def _fits(score: Mapping[str, Any], criterion: Criterion) -> bool:
    level = score.get("level")
    return level is None or level in criterion.levels


def _as_comment(criterion: Criterion | None, key: str, score: Mapping[str, Any]) -> dict[str, Any]:
    answer = score.get("state", "scored") if score.get("level") is None else f"level {score['level']}"
    parts = [f"{criterion.title if criterion else key}, no longer asked ({answer.replace('_', ' ')})."]
    parts += [str(score[name]) for name in ("rationale", "false_because") if score.get(name)]
    parts += [f"Evidence: {', '.join(score['evidence'])}"] if score.get("evidence") else []
    return {"path": None, "line": None, "body": "\n\n".join(parts)[:COMMENT_LENGTH_MAX]}
