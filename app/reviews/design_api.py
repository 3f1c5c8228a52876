"""The design of a task over REST: its record over all evaluations, and asking for its review."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel

from app.accounts.access import scope
from app.accounts.policy import Viewer, require_role
from app.assignments import designs as task_designs
from app.domain.review import Role
from app.evaluations.task_health import health_of
from app.kit.steps import ReadSession, WriteSession, steps
from app.tasks import policy as task_policy
from app.tasks import queries as task_queries
from app.tasks import service as tasks

router = steps(prefix="/tasks", tags=["tasks"])


class AskIn(BaseModel):
    reason: str
    version: int | None = None


class DesignOut(BaseModel):
    subject: str
    task: str
    version: int
    why: str
    is_open: bool


@router.get("/{name}/health")
def show_health(
    session: ReadSession, viewer: Annotated[Viewer, Depends(scope("review"))], name: str, version: int | None = None
) -> dict[str, Any]:
    """What all evaluations of a version say of the task; without hidden workloads for whoever may submit."""
    require_role(viewer, Role.REVIEWER, Role.ADJUDICATOR)
    task = task_queries.find_version(session, name, version)
    health = health_of(session, task.id)
    shown = health if task_policy.sees_hidden(viewer) else health.for_submitter(tasks.hidden_workloads(task))
    return shown.to_json()


@router.post("/{name}/reviews", status_code=201)
def ask_for_review(
    request: Request, session: WriteSession, viewer: Annotated[Viewer, Depends(scope("review"))], name: str, body: AskIn
) -> DesignOut:
    """Put the design into the queue; again, once all its reviews are in, for one more."""
    task = task_queries.find_version(session, name, body.version)
    health, settings = health_of(session, task.id), request.app.state.settings
    subject = task_designs.ask_for_review(session, settings, viewer, task, health, reason=body.reason)
    return DesignOut(
        subject=subject.public_id, task=task.task.name, version=task.version, why=subject.why, is_open=subject.is_open
    )
