"""Every select about rubrics."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, Select, bindparam, func, or_, select, text
from sqlalchemy.orm import Session, joinedload

from app.domain.review import ReviewState
from app.errors import NotFound
from app.models import Review, ReviewDraft, ReviewSubject, Rubric, RubricVersion, Ruling, RulingAcknowledgement
from app.models.base import UtcDateTime
from app.rubrics.content import rubric_of


def rubric_by_key(session: Session, key: str) -> Rubric | None:
    return session.scalar(select(Rubric).where(Rubric.key == key))


def lock_all(session: Session) -> None:
    """Of several processes that start at once, one after another looks at what is there and adds to it."""
    connection = session.connection()
    # Whoever writes on SQLite is alone already.
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCK_ALL)


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


def published_before(session: Session, version: RubricVersion) -> RubricVersion | None:
    """The version of the same rubric that was published (and perhaps retired since) right before this one."""
    query = _whole().where(RubricVersion.rubric_id == version.rubric_id, RubricVersion.version < version.version)
    query = query.where(RubricVersion.state != "draft").order_by(RubricVersion.version.desc())
    return session.scalars(query.limit(1)).first()


def published_after(session: Session, version: RubricVersion) -> RubricVersion | None:
    """The newest published version of the same rubric, if it came after this one."""
    query = _whole().where(RubricVersion.rubric_id == version.rubric_id, RubricVersion.version > version.version)
    query = query.where(RubricVersion.state == "published").order_by(RubricVersion.version.desc())
    return session.scalars(query.limit(1)).first()


def reviews_by_version(session: Session, rubric_id: int) -> dict[int, dict[str, int]]:
    """Version id -> how many reviews there are in each state, corrections not counted."""
    query = select(RubricVersion.id, Review.state, func.count()).select_from(Review).join(RubricVersion)
    query = query.where(RubricVersion.rubric_id == rubric_id, Review.revision == 1)
    query = query.group_by(RubricVersion.id, Review.state)
    found: dict[int, dict[str, int]] = {}
    for version_id, state, count in session.execute(query):
        found.setdefault(version_id, {})[state] = count
    return found


def drafts_before(
    session: Session, version: RubricVersion, *, review_id: int | None = None
) -> Sequence[tuple[Review, ReviewDraft]]:
    """Reviews not yet submitted that pin an earlier version of the same rubric, with their texts.

    None of them corrects another: a correction keeps the version of what it corrects, so that both can be compared.
    """
    query = (
        select(Review, ReviewDraft)
        .join(ReviewDraft, ReviewDraft.review_id == Review.id)
        .join(RubricVersion, RubricVersion.id == Review.rubric_version_id)
        .options(
            joinedload(Review.rubric_version),
            joinedload(Review.subject).joinedload(ReviewSubject.task_version),
            joinedload(Review.subject).joinedload(ReviewSubject.submission),
        )
        .where(RubricVersion.rubric_id == version.rubric_id, RubricVersion.version < version.version)
        .where(Review.state == ReviewState.DRAFT, Review.revision == 1)
        .order_by(Review.id)
    )
    query = query if review_id is None else query.where(Review.id == review_id)
    return [(review, draft) for review, draft in session.execute(query.execution_options(populate_existing=True))]


def find_ruling(session: Session, public_id: str) -> Ruling:
    found = session.scalar(_rulings().where(Ruling.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no ruling {public_id!r}")
    return found


def rulings_of(
    session: Session, version: RubricVersion, *, at: dt.datetime | None = None, withdrawn: bool = False
) -> Sequence[Ruling]:
    """On this version's criteria, in force now (or then), oldest first; `withdrawn` adds those that ever were."""
    keys = {criterion.key for criterion in rubric_of(version).criteria}
    query = _RULINGS if withdrawn else _IN_FORCE if at is None else _IN_FORCE_THEN
    found = session.scalars(query, {"rubric": version.rubric_id, "then": at})
    return [ruling for ruling in found if ruling.criterion in keys]


def acknowledged(session: Session, user_id: int, ruling_ids: Sequence[int]) -> dict[int, dt.datetime]:
    """Ruling id -> when this person acknowledged it."""
    if not ruling_ids:
        return {}
    query = select(RulingAcknowledgement.ruling_id, RulingAcknowledgement.at)
    query = query.where(RulingAcknowledgement.user_id == user_id, RulingAcknowledgement.ruling_id.in_(ruling_ids))
    return {row.ruling_id: row.at for row in session.execute(query)}


def _rulings() -> Select[Ruling]:
    return select(Ruling).options(joinedload(Ruling.made_by))


_LOCK_ALL = text("LOCK TABLE rubrics IN SHARE ROW EXCLUSIVE MODE")
# Built once: every submit asks for those in force.
_RULINGS = _rulings().where(Ruling.rubric_id == bindparam("rubric", type_=Integer)).order_by(Ruling.id)
_IN_FORCE = _RULINGS.where(Ruling.withdrawn_at.is_(None))
_THEN: Any = bindparam("then", type_=UtcDateTime)
_IN_FORCE_THEN = _RULINGS.where(
    Ruling.created_at <= _THEN, or_(Ruling.withdrawn_at.is_(None), Ruling.withdrawn_at > _THEN)
)


def _whole() -> Select[RubricVersion]:
    return select(RubricVersion).options(joinedload(RubricVersion.rubric))
