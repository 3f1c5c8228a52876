"""Rulings: a lead says once how a criterion is meant, with an example; reviewers read it before their next submit.

A ruling holds for every version that has its criterion, from its date until it is withdrawn; it is never rewritten.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.domain.review import Role
from app.errors import Conflict, Invalid
from app.kit import audit
from app.models import RubricVersion, Ruling, RulingAcknowledgement, utc_now
from app.rubrics import content, queries

TEXT_LENGTH_MAX = 4000


def make_ruling(
    session: Session, viewer: Viewer, version: RubricVersion, *, criterion: str, body: str, example: str
) -> Ruling:
    require_role(viewer, Role.ADJUDICATOR)
    if criterion not in {c.key for c in content.read(version.content).criteria}:
        raise Invalid(f"this rubric has no criterion {criterion!r}", what_to_do="Choose one of its criteria.")
    texts = {"body": body.strip(), "example": example.strip()}
    for name, text in texts.items():
        if not 0 < len(text) <= TEXT_LENGTH_MAX:
            raise Invalid(f"a ruling's {name} has 1 to {TEXT_LENGTH_MAX} characters", what_to_do="Write it.")
    ruling = Ruling(rubric_id=version.rubric_id, criterion=criterion, made_by_id=viewer.id, **texts)
    session.add(ruling)
    session.flush()
    audit.note(session, viewer.id, "ruling.make", ruling.public_id, criterion=criterion)
    return ruling


def withdraw_ruling(session: Session, viewer: Viewer, ruling: Ruling) -> None:
    """From now on it holds no more; reviews written under it are exported with it as before."""
    require_role(viewer, Role.ADJUDICATOR)
    if ruling.withdrawn_at is not None:
        raise Conflict("this ruling is withdrawn already")
    ruling.withdrawn_at, ruling.withdrawn_by_id = utc_now(), viewer.id
    audit.note(session, viewer.id, "ruling.withdraw", ruling.public_id)


def acknowledge(session: Session, viewer: Viewer, rulings: Sequence[Ruling], *, at: dt.datetime | None = None) -> None:
    """Note that the viewer has read them; what is noted already stays with its first date."""
    if not rulings:
        return
    known = queries.acknowledged(session, viewer.id, [ruling.id for ruling in rulings])
    session.add_all(
        RulingAcknowledgement(ruling_id=ruling.id, user_id=viewer.id, at=at or utc_now())
        for ruling in rulings
        if ruling.id not in known
    )
    session.flush()


def unread(session: Session, viewer: Viewer, version: RubricVersion) -> list[Ruling]:
    """Those in force on this version's criteria that the viewer has not acknowledged."""
    standing = queries.rulings_of(session, version)
    known = queries.acknowledged(session, viewer.id, [ruling.id for ruling in standing])
    return [ruling for ruling in standing if ruling.id not in known]
