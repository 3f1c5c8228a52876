"""What publishing a draft, or moving others' drafts to a version, would touch; shown before anything is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.domain.review import ReviewState
from app.models import RubricVersion
from app.rubrics import content, lint, moves, queries, service
from app.rubrics.changes import Change
from app.rubrics.lint import Remark
from app.rubrics.moves import Plan


@dataclass(frozen=True)
class Touched:
    """A version with how many reviews pin it: submitted ones stay, drafts may move."""

    version: RubricVersion
    submitted: int
    drafts: int


@dataclass(frozen=True)
class Impact:
    """`before` is the version published before, None for the first; `supersedes` what new reviews use until now."""

    before: RubricVersion | None
    changes: Sequence[Change]
    change_class: str | None
    remarks: Sequence[Remark]
    touched: Sequence[Touched]
    supersedes: Mapping[str, RubricVersion]
    plan: Plan

    @property
    def faults(self) -> list[Remark]:
        return [remark for remark in self.remarks if remark.is_fault]


def impact_of(session: Session, version: RubricVersion, mapping: Mapping[str, str]) -> Impact:
    """Reads only."""
    before = queries.published_before(session, version)
    return Impact(
        before=before,
        changes=service.changed_since(before, version) if before else (),
        change_class=service.change_class(session, version),
        remarks=lint.lint(content.read(version.content)),
        touched=_touched(session, version),
        supersedes=_superseded(session, version),
        plan=moves.plan(session, version, mapping),
    )


def _touched(session: Session, version: RubricVersion) -> list[Touched]:
    counts = queries.reviews_by_version(session, version.rubric_id)
    return [
        Touched(v, counts[v.id].get(ReviewState.SUBMITTED, 0), counts[v.id].get(ReviewState.DRAFT, 0))
        for v in queries.list_versions(session, rubric_id=version.rubric_id)
        if v.id in counts
    ]


def _superseded(session: Session, version: RubricVersion) -> dict[str, RubricVersion]:
    """Task kind -> the version that new reviews of it start with now and would not any more."""
    if version.state != "draft":
        return {}
    subject = version.content.get("subject", "submission")
    found = {
        kind: service.applicable(session, task_kind=kind, subject=subject)
        for kind in version.content.get("kinds") or [""]
    }
    return {kind: now for kind, now in found.items() if now is not None}
