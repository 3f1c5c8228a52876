"""Who may see all of a task."""

from __future__ import annotations

from app.accounts.policy import Viewer
from app.domain.review import Role


def sees_hidden(viewer: Viewer) -> bool:
    """Whoever may submit must not see hidden workloads, whatever else they are; admins keep the tasks."""
    if Role.ADMIN in viewer.roles:
        return True
    return viewer.has(Role.REVIEWER, Role.ADJUDICATOR) and Role.SUBMITTER not in viewer.roles
