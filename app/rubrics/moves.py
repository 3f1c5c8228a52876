"""Drafts moved to a later version of their rubric: planned without a trace, then done for all of them or for none.

Submitted reviews are never moved: they keep the version that they were written with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.domain.review import ReviewState
from app.domain.rubric import Criterion
from app.errors import Conflict
from app.kit import audit
from app.models import Review, ReviewDraft, RubricMove, RubricVersion, utc_now
from app.rubrics import content, queries
from app.rubrics.carry_over import CarriedOver, carry_over, gone


@dataclass(frozen=True)
class Move:
    """One draft as it is and as it would be."""

    review: Review
    draft: ReviewDraft
    carried: CarriedOver


@dataclass(frozen=True)
class Plan:
    """A dry run.  `seal` changes with anything that it rests on, so that what is done is what was shown."""

    target: RubricVersion
    moves: list[Move]
    mapping: dict[str, str]
    seal: str
    gone: list[Criterion] = field(default_factory=list)


def plan(
    session: Session, target: RubricVersion, mapping: Mapping[str, str] | None = None, *, review: Review | None = None
) -> Plan:
    """What moving every draft of earlier versions (or only this review's) to `target` would do."""
    new = content.as_rubric(target.content)
    chosen = {old: key for old, key in sorted((mapping or {}).items()) if key in {c.key for c in new.criteria}}
    found = queries.drafts_before(session, target, review_id=review.id if review else None)
    moves: list[Move] = []
    missing: dict[str, Criterion] = {}
    for row, draft in found:
        old = content.as_rubric(row.rubric.content)
        missing |= {criterion.key: criterion for criterion in gone(old, new)}
        moves.append(Move(row, draft, carry_over(draft.content, old, new, chosen)))
    return Plan(target, moves, chosen, _seal(target, chosen, moves), list(missing.values()))


def move(session: Session, viewer: Viewer, planned: Plan, *, seal: str) -> int:
    """Do what was planned, all of it or nothing; the texts as they were stay in the books.  How many drafts."""
    if planned.target.state != "published":
        raise Conflict("drafts move to a published version only", what_to_do="Publish it first.")
    must_be_as_shown(planned, seal)
    for one in planned.moves:
        _move(session, one, planned.target)
    before = [
        {"review": one.review.public_id, "version": one.review.rubric.public_id, "draft": one.draft.content}
        for one in planned.moves
    ]
    row = RubricMove(
        to_version_id=planned.target.id, moved_by_id=viewer.id, mapping=dict(planned.mapping), moved=before
    )
    session.add(row)
    audit.note(session, viewer.id, "rubric.move", planned.target.public_id, drafts=len(before), move=row.public_id)
    for one in planned.moves:
        session.expire(one.review)
        session.expire(one.draft)
    return len(before)


def must_be_as_shown(planned: Plan, seal: str) -> None:
    if seal != planned.seal:
        raise Conflict(
            "the rubric or a draft was changed since this was shown", what_to_do="Look at what would change now."
        )


def _move(session: Session, one: Move, target: RubricVersion) -> None:
    """Only a draft that is still as it was planned on: a save or a submit in between stops them all."""
    saved = session.execute(
        update(ReviewDraft)
        .where(ReviewDraft.review_id == one.review.id, ReviewDraft.version == one.draft.version)
        .values(content=one.carried.content, version=one.draft.version + 1, saved_at=utc_now()),
        execution_options={"synchronize_session": False},
    )
    pinned = session.execute(
        update(Review)
        .where(Review.id == one.review.id, Review.state == ReviewState.DRAFT)
        .values(rubric_version_id=target.id),
        execution_options={"synchronize_session": False},
    )
    if (saved.rowcount, pinned.rowcount) != (1, 1):  # type: ignore[attr-defined]
        raise Conflict("a draft was saved or submitted meanwhile", what_to_do="Look at what would change now.")


def _seal(target: RubricVersion, mapping: Mapping[str, str], moves: Sequence[Move]) -> str:
    rests_on = [
        target.public_id, content.sha256_of(content.read(target.content)), dict(mapping),
        [[one.review.public_id, one.draft.version] for one in moves],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(rests_on, sort_keys=True).encode()).hexdigest()
