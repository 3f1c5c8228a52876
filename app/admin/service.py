"""What admins do across nouns, and the queries of their page."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.domain.review import Role
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


def audit_log(session: Session, limit: int = 100) -> Sequence[AuditEntry]:
    return session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)).all()
