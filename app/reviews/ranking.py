"""A review of a comparison: its members as this reviewer sees them, what a ranking lacks, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.accounts.policy import Viewer
from app.domain import ranking
from app.domain.ranking import Ranking, Strength
from app.domain.review import Decision
from app.errors import Conflict
from app.evaluations import queries as evaluation_queries
from app.models import ComparisonMember, Evaluation, Review, ReviewMember, Submission
from app.reviews import scoring
from app.reviews.scoring import RankingContent, ReviewContent


def members_of(session: Session, review: Review) -> Sequence[ReviewMember]:
    """A, B and so on, each with its submission and the evidence that this review is written from."""
    return session.scalars(_MEMBERS.where(ReviewMember.review_id == review.id)).all()


def pin_members(session: Session, viewer: Viewer, review: Review, item: str) -> None:
    """Fix, for a new draft, the order in which this person sees the members, and the evidence of each.

    `item` is the public id of the comparison.
    """
    query = select(Submission).join(ComparisonMember, ComparisonMember.submission_id == Submission.id)
    found = session.scalars(query.where(ComparisonMember.subject_id == review.subject_id)).all()
    by_id = {submission.public_id: submission for submission in found}
    for place, public_id in enumerate(ranking.shown_order(viewer.public_id, item, list(by_id))):
        submission = by_id[public_id]
        evidence = evaluation_queries.evidence_of(session, submission.id)
        if evidence is None:
            raise Conflict("the evidence of a member is not ready", what_to_do="Give it back, and take it later.")
        session.add(
            ReviewMember(review_id=review.id, submission_id=submission.id, place=place, evaluation_id=evidence.id)
        )
    session.flush()


def copy_members(session: Session, review: Review, draft: Review) -> None:
    """For a correction: under the same letters, each beside the evidence as it is now."""
    there = {member.submission_id: member for member in members_of(session, draft)}
    for member in members_of(session, review):
        evidence = evaluation_queries.evidence_of(session, member.submission_id) or member.evaluation
        if (copy := there.get(member.submission_id)) is not None:
            copy.evaluation = evidence
        else:
            session.add(
                ReviewMember(
                    review_id=draft.id, submission_id=member.submission_id, place=member.place,
                    evaluation_id=evidence.id,
                )
            )  # fmt: skip


def is_same_evidence(session: Session, review: Review, before: Review | None) -> bool:
    """Whether a correction is written from what its review was written from."""
    pinned = [{m.submission_id: m.evaluation_id for m in members_of(session, one)} for one in (review, before) if one]
    return pinned[0] == pinned[-1]


def newer_evidence(session: Session, members: Sequence[ReviewMember]) -> dict[str, Evaluation]:
    """Letter -> what has been measured of it since the draft was opened."""
    newest = {member.letter: evaluation_queries.evidence_of(session, member.submission_id) for member in members}
    pinned = {member.letter: member.evaluation_id for member in members}
    return {letter: one for letter, one in newest.items() if one is not None and one.id != pinned[letter]}


def take_newer_evidence(session: Session, review: Review) -> dict[str, str]:
    """Go by the newest evidence of every member; letter -> the evaluation, for those where that is another."""
    members = members_of(session, review)
    newer = newer_evidence(session, members)
    if not newer:
        raise Conflict("this draft has the newest evidence already")
    for member in members:
        if member.letter in newer:
            member.evaluation = newer[member.letter]
    session.flush()
    return {letter: one.public_id for letter, one in newer.items()}


def problems(members: Sequence[ReviewMember], given: ReviewContent) -> dict[str, str]:
    """What keeps it from being submitted: place -> sentence, in the order of the page."""
    letters = [member.letter for member in members]
    said = given.ranking or RankingContent()
    if given.decision is Decision.CANNOT_JUDGE:
        found = {} if said.reason.strip() else {"reason": "say why these cannot be ranked here"}
    else:
        found = ranking.problems(letters, said.ranks, said.strengths, said.reason)
        if given.decision is not None:
            found["ranking"] = "a ranking decides nothing: leave the decision out, or say `cannot_judge`"
    if given.scores or given.comments or given.links:
        found["ranking"] = "a ranking has neither scores nor comments on lines"
    if strange := sorted(given.notes.keys() - set(letters)):
        found["notes"] = f"there is no {strange[0]!r} to write to"
    return found | scoring.unsure(given)


def as_kept(given: ReviewContent) -> dict[str, Any]:
    """What a review keeps of a ranking in which `problems` found none; no places where nobody could judge."""
    said = given.ranking or RankingContent()
    if given.decision is Decision.CANNOT_JUDGE:
        said = RankingContent(reason=said.reason)
    made = ranking.ranking(said.ranks, said.strengths, said.reason)
    notes = {letter: note.strip() for letter, note in given.notes.items() if note.strip()}
    return {
        "places": [list(place) for place in made.places], "strengths": [one.value for one in made.strengths],
        "reason": made.reason, "notes": notes,
    }  # fmt: skip


def as_typed(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a draft has it."""
    ranks = {letter: place for place, letters in enumerate(kept["places"], 1) for letter in letters}
    said = {"ranks": ranks, "strengths": list(kept["strengths"]), "reason": kept["reason"]}
    return {"ranking": said, "notes": dict(kept["notes"])}


def read_back(kept: Mapping[str, Any]) -> Ranking:
    """The ranking that a review keeps."""
    places = tuple(tuple(place) for place in kept["places"])
    return Ranking(places, tuple(Strength(one) for one in kept["strengths"]), kept["reason"])


_MEMBERS = (
    select(ReviewMember)
    .options(joinedload(ReviewMember.submission), joinedload(ReviewMember.evaluation))
    .order_by(ReviewMember.place)
)
