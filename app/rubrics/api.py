"""Published rubrics over REST; editing is for the pages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.domain.review import Role
from app.errors import NotFound
from app.kit.steps import ReadSession, steps
from app.models import RubricVersion
from app.rubrics import queries

router = steps(prefix="/rubrics", tags=["rubrics"])
Reader = Annotated[Viewer, Depends(scope("read"))]


class RulingOut(BaseModel):
    """`acknowledged_at` is when the caller read it; a submit lists its id under `acknowledged` until then."""

    id: str
    criterion: str
    body: str
    example: str
    made_at: dt.datetime
    acknowledged_at: dt.datetime | None


class RubricOut(BaseModel):
    """`rulings` are those in force, for reviewers; in a list of rubrics they are left out."""

    id: str
    key: str
    version: int
    state: str
    sha256: str | None
    published_at: dt.datetime | None
    content: dict[str, Any]
    rulings: list[RulingOut] = []


def as_out(version: RubricVersion, rulings: Sequence[RulingOut] = ()) -> RubricOut:
    # What graders are told among themselves is not for submitters.
    criteria = [{k: v for k, v in c.items() if k != "grader_notes"} for c in version.content["criteria"]]
    return RubricOut(
        id=version.public_id, key=version.rubric.key, version=version.version, state=version.state,
        sha256=version.sha256, published_at=version.published_at, content={**version.content, "criteria": criteria},
        rulings=list(rulings),
    )  # fmt: skip


@router.get("")
def list_rubrics(session: ReadSession, viewer: Reader) -> list[RubricOut]:
    return [as_out(version) for version in queries.published(session)]


@router.get("/{version_id}")
def show_rubric(session: ReadSession, viewer: Reader, version_id: str) -> RubricOut:
    version = queries.find_version(session, version_id)
    if version.state == "draft" and not viewer.is_staff:
        raise NotFound(f"there is no rubric version {version_id!r}")
    return as_out(version, _rulings(session, viewer, version))


def _rulings(session: Session, viewer: Viewer, version: RubricVersion) -> list[RulingOut]:
    if not viewer.has(Role.REVIEWER, Role.ADJUDICATOR):
        return []
    standing = queries.rulings_of(session, version)
    read_at = queries.acknowledged(session, viewer.id, [ruling.id for ruling in standing])
    return [
        RulingOut(
            id=ruling.public_id, criterion=ruling.criterion, body=ruling.body, example=ruling.example,
            made_at=ruling.created_at, acknowledged_at=read_at.get(ruling.id),
        )
        for ruling in standing
    ]  # fmt: skip
