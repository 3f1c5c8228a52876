"""One exported row of a ranking: what a person said, by submissions' ids, and what follows from it, marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.config import Settings
from app.domain.ranking import Pair, pairs
from app.exports import rows
from app.models import Review, ReviewMember
from app.reviews import ranking


def ranking_row(settings: Settings, review: Review, members: Sequence[ReviewMember]) -> dict[str, Any]:
    """One submitted ranking.  `members` stand in the order in which its reviewer saw them, as A, B and so on.

    `rubric` is null as long as rankings go by none; `decision` is `cannot_judge` or null.
    """
    subject, ids = review.subject, {member.letter: member.submission.public_id for member in members}
    return {
        "schema_version": rows.SCHEMA_VERSION,
        "shape": "ranking",
        "review": _review(review),
        "subject": {"id": subject.public_id, "kind": subject.kind},
        "task": rows.task_part(settings, subject.task_version),
        "rubric": rows.rubric_part(review.rubric_version) if review.rubric_version else None,
        "members": [_member(settings, member) for member in members],
        **_said(review.ranking or {}, ids),
    }


def _review(review: Review) -> dict[str, Any]:
    return rows.origin_part(review) | {
        "decision": review.decision,
        "confidence": review.confidence,
        "feedback": review.feedback,
        "is_extra": review.is_extra,
        "active_seconds": review.active_seconds,
        "wall_seconds": review.wall_seconds,
    }


def _member(settings: Settings, member: ReviewMember) -> dict[str, Any]:
    return {
        "shown_as": member.letter,
        "submission": rows.submission_part(settings, member.submission),
        "evaluation": rows.evaluation_part(member.evaluation),
    }


def _said(kept: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    said = ranking.read_back(kept)
    return {
        "ranking": {
            "places": [[ids[letter] for letter in place] for place in said.places],
            "strengths": [strength.value for strength in said.strengths],
            "reason": said.reason,
            "notes": {ids[letter]: note for letter, note in kept["notes"].items()},
        },
        "pairs": [_pair(pair, ids) for pair in pairs(said)],
    }


def _pair(pair: Pair, ids: dict[str, str]) -> dict[str, Any]:
    """Nobody compared two members by themselves: every pair is derived.  `is_stated`: the order itself says as much."""
    return {
        "better": ids[pair.better],
        "worse": ids[pair.worse],
        "is_tie": pair.is_tie,
        "strength": pair.strength.value if pair.strength else None,
        "is_stated": pair.is_stated,
        "derived_from": "ranking",
    }
