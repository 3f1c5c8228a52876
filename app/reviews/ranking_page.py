"""The page on which a comparison is ranked, and the one on which a ranking is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.domain.ranking import Strength
from app.domain.review import EvaluationState
from app.evaluations import queries as evaluation_queries
from app.models import Review, ReviewMember
from app.reviews import members, policy, queries, ranking, revisions
from app.reviews.member_routes import more_address
from app.reviews.members import Member
from app.reviews.scoring import DraftContent
from app.submissions import parts

# What the list of what is missing calls the places of the page.
TITLES = {"ranking": "Order", "strengths": "How much better", "notes": "To an author"}
_UNDER_WAY = (EvaluationState.QUEUED, EvaluationState.RUNNING)


def draft_context(
    request: Request, session: Session, viewer: Viewer, review: Review, content: Mapping[str, Any]
) -> dict[str, Any]:
    """What only the form of a comparison shows."""
    pinned = ranking.members_of(session, review)
    return _members_context(request, viewer, review, pinned) | {
        "said": DraftContent.model_validate(dict(content)),
        "strengths": tuple(Strength),
        "newer": ranking.newer_evidence(session, pinned),
        "running": _running(session, pinned),
        "submission": None,
        "design": None,
        "newer_evidence": None,
        "newer_rubric": None,
        "titles": TITLES,
    }


def read_context(request: Request, session: Session, viewer: Viewer, review: Review) -> dict[str, Any]:
    """What was submitted, with the evidence that it was written from."""
    visible = queries.visible_reviews(session, viewer, review.subject_id)
    seen = next(s for s in visible if s.review.id == review.id)
    pinned = ranking.members_of(session, review)
    kept = review.ranking or {"places": [], "strengths": [], "reason": "", "notes": {}}
    return _members_context(request, viewer, review, pinned) | {
        "review": review,
        "label": seen.label,
        "revisions": revisions.around(session, viewer, review, visible),
        "said": ranking.read_back(kept),
        "notes": kept["notes"],
        # Whoever ranked them stays blind to whose they are.
        "submissions": {m.letter: m.submission for m in pinned} if policy.knows_members(viewer, review) else {},
    }


def _members_context(
    request: Request, viewer: Viewer, review: Review, pinned: Sequence[ReviewMember]
) -> dict[str, Any]:
    shown = [members.shown(request.app.state.settings, viewer, member) for member in pinned]
    return {
        "task": review.subject.task_version,
        "members": shown,
        "figures": members.figures(shown),
        "parts": {member.letter: _parts(member, len(shown)) for member in shown},
        "more": {member.letter: more_address(review, member.letter) for member in shown},
    }


def _parts(member: Member, share: int) -> list[parts.FilePart]:
    pointed_at = {file.name: list(member.at_lines(file.name)) for file in member.files}
    return parts.first_parts(member.files, pointed_at, share=share)


def _running(session: Session, pinned: Sequence[ReviewMember]) -> list[str]:
    """Letters of those that are being evaluated again."""
    states = evaluation_queries.latest_states(session, [member.submission_id for member in pinned])
    return [member.letter for member in pinned if states.get(member.submission_id) in _UNDER_WAY]
