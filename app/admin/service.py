"""What admins do across nouns, and the queries of their page."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.domain.review import Role
from app.domain.task import FRAMEWORKS, KINDS
from app.errors import Invalid
from app.evaluations import queries as evaluation_queries
from app.evaluations import service as evaluations
from app.kit import audit
from app.models import AuditEntry, Evaluation, User


def retry_evaluation(session: Session, viewer: Viewer, evaluation_id: str) -> Evaluation:
    """Give a failed evaluation its attempts back."""
    require_role(viewer, Role.ADMIN)
    evaluation = evaluation_queries.find(session, evaluation_id)
    evaluations.retry(session, evaluation, requested_by_id=viewer.id)
    audit.note(session, viewer.id, "evaluation.retry", evaluation.public_id)
    return evaluation


def pause(session: Session, viewer: Viewer, user: User, *, is_paused: bool) -> None:
    """A paused reviewer claims nothing new; what they hold they may finish."""
    require_role(viewer, Role.ADMIN)
    user.is_paused = is_paused
    audit.note(session, viewer.id, "user.pause" if is_paused else "user.resume", user.public_id)


def set_queue(session: Session, viewer: Viewer, user: User, *, cap: int | None, expertise: list[str]) -> None:
    """How many reviews a day somebody may hand in, and the frameworks and kinds that they are shown first."""
    require_role(viewer, Role.ADMIN)
    known = (*FRAMEWORKS, *KINDS)
    if strange := [word for word in expertise if word not in known]:
        raise Invalid(f"{', '.join(strange)}: no framework and no kind of ours", what_to_do=f"Use {', '.join(known)}.")
    user.reviews_per_day_max, user.expertise = cap, expertise
    audit.note(session, viewer.id, "user.set_queue", user.public_id, cap=cap, expertise=expertise)


def audit_log(session: Session, limit: int = 100) -> Sequence[AuditEntry]:
    return session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)).all()
