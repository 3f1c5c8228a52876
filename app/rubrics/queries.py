"""Every select about rubrics."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, joinedload

from app.errors import NotFound
from app.models import Rubric, RubricVersion


def rubric_by_key(session: Session, key: str) -> Rubric | None:
    return session.scalar(select(Rubric).where(Rubric.key == key))


def find_version(session: Session, public_id: str) -> RubricVersion:
    found = session.scalar(_whole().where(RubricVersion.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no rubric version {public_id!r}")
    return found


def list_versions(session: Session, *, rubric_id: int | None = None) -> Sequence[RubricVersion]:
    """Every version, newest first within each rubric."""
    query = _whole().order_by(RubricVersion.rubric_id, RubricVersion.version.desc())
    return session.scalars(query if rubric_id is None else query.where(RubricVersion.rubric_id == rubric_id)).all()


def published(session: Session) -> Sequence[RubricVersion]:
    """Published and not retired, newest first."""
    query = _whole().where(RubricVersion.state == "published")
    return session.scalars(query.order_by(RubricVersion.published_at.desc(), RubricVersion.id.desc())).all()


def draft_of(session: Session, rubric_id: int) -> RubricVersion | None:
    query = _whole().where(RubricVersion.rubric_id == rubric_id, RubricVersion.state == "draft")
    return session.scalar(query)


def _whole() -> Select[RubricVersion]:
    return select(RubricVersion).options(joinedload(RubricVersion.rubric))
