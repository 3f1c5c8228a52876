"""Agreement of reviewers, criterion by criterion, on the answers that each gave first and alone.

Answers are those handed in, which no correction rewrites; each was blind to the others of its subject.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.domain.agreement import Agreement, agreement
from app.domain.review import ReviewState
from app.models import Review, RubricVersion
from app.rubrics.content import rubric_of

REVIEWS_READ = 1000
# What Krippendorff asks for: from here on conclusions may be drawn, from there on only tentative ones.
RELIABLE, TENTATIVE = 0.8, 2 / 3


@dataclass(frozen=True)
class Row:
    """One criterion of one version of a rubric."""

    rubric: str
    version: int
    criterion: str
    agreement: Agreement

    @property
    def said(self) -> str:
        value = self.agreement.alpha
        if value is None:
            return "not enough data"
        return "reliable" if value >= RELIABLE else "tentative" if value >= TENTATIVE else "not reliable"


def rows(session: Session) -> list[Row]:
    """Newest versions first; within one the criteria in the rubric's order.  For staff: it is about people."""
    answers: dict[int, dict[str, dict[int, list[int]]]] = {}
    for version_id, subject_id, scores in session.execute(_SCORES):
        for key, score in scores.items():
            if score.get("state") == "scored" and score.get("level") is not None:
                subjects = answers.setdefault(version_id, {}).setdefault(key, {})
                subjects.setdefault(subject_id, []).append(score["level"])
    query = select(RubricVersion).options(joinedload(RubricVersion.rubric, innerjoin=True))
    versions = session.scalars(query.where(RubricVersion.id.in_(answers)).order_by(RubricVersion.id.desc()))
    return [
        Row(rubric.title, version.version, criterion.title, agreement(list(given.values())))
        for version in versions
        for rubric in [rubric_of(version)]
        for criterion in rubric.criteria
        if (given := answers[version.id].get(criterion.key))
    ]


_SCORES = (
    select(Review.rubric_version_id, Review.subject_id, Review.scores)
    # A correction is written by somebody who may have read the others.
    .where(Review.state == ReviewState.SUBMITTED, Review.revision == 1)
    .order_by(Review.id.desc())
    .limit(REVIEWS_READ)
)
