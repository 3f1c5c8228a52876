"""Published rubrics over REST; editing is for the pages."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer
from app.errors import NotFound
from app.kit.db import ReadSession
from app.models import RubricVersion
from app.rubrics import queries

router = APIRouter(prefix="/rubrics", tags=["rubrics"])
Reader = Annotated[Viewer, Depends(scope("read"))]


class RubricOut(BaseModel):
    id: str
    key: str
    version: int
    state: str
    sha256: str | None
    published_at: dt.datetime | None
    content: dict[str, Any]


def as_out(version: RubricVersion) -> RubricOut:
    # What graders are told among themselves is not for submitters.
    criteria = [{k: v for k, v in c.items() if k != "grader_notes"} for c in version.content["criteria"]]
    return RubricOut(
        id=version.public_id, key=version.rubric.key, version=version.version, state=version.state,
        sha256=version.sha256, published_at=version.published_at, content={**version.content, "criteria": criteria},
    )  # fmt: skip


@router.get("")
def list_rubrics(session: ReadSession, viewer: Reader) -> list[RubricOut]:
    return [as_out(version) for version in queries.published(session)]


@router.get("/{version_id}")
def show_rubric(session: ReadSession, viewer: Reader, version_id: str) -> RubricOut:
    version = queries.find_version(session, version_id)
    if version.state == "draft" and not viewer.is_staff:
        raise NotFound(f"there is no rubric version {version_id!r}")
    return as_out(version)
