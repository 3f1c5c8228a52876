"""Pages of a task's design: its record over all evaluations, the reviews of it, and how one is asked for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.assignments import designs as task_designs
from app.assignments import queries as assignment_queries
from app.domain.review import DESIGN_DECISIONS, Decision, Role, SlotState
from app.errors import NotFound
from app.evaluations.task_health import health_of
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import ReviewSubject, TaskVersion
from app.reviews import page, service, showing
from app.tasks import queries as task_queries

router = steps(include_in_schema=False)
Reviewer = Annotated[Viewer, Depends(role(Role.REVIEWER, Role.ADJUDICATOR))]
Staff = Annotated[Viewer, Depends(role(Role.ADJUDICATOR))]
Version = Annotated[int | None, Query()]
Text = Annotated[str, Form()]


@router.get("/tasks/{name}/reviews")
def design_page(
    request: Request, session: ReadSession, viewer: Reviewer, name: str, version: Version = None
) -> Response:
    task = task_queries.find_version(session, name, version)
    subject = task_designs.subject_of(session, task.id)
    context = showing.design_context(session, viewer, task) | _reviews(session, viewer, subject)
    context |= {
        "task": task, "subject": subject, **_standing(session, subject), "may_ask": viewer.is_staff,
        "decide_at": f"/tasks/{name}/decide?version={task.version}", "back": (f"/tasks/{name}", "Back to the task"),
        "decisions": DESIGN_DECISIONS, "confidences": page.CONFIDENCES,
        "notes": [],  # submissions are ranked, and tasks are not
    }  # fmt: skip
    return pages.render(request, "reviews/design_reviews.html", context)


@router.post("/tasks/{name}/reviews")
def ask(
    request: Request, session: WriteSession, viewer: Staff, name: str, version: Version = None, reason: Text = ""
) -> Response:
    task = task_queries.find_version(session, name, version)
    health = health_of(session, task.id)
    task_designs.ask_for_review(session, request.app.state.settings, viewer, task, health, reason=reason)
    return _back(task)


@router.post("/tasks/{name}/decide")
def decide(
    session: WriteSession,
    viewer: Staff,
    name: str,
    decision: Annotated[Decision, Form()],
    confidence: Annotated[int, Form()],
    version: Version = None,
    reason: Text = "",
) -> Response:
    task = task_queries.find_version(session, name, version)
    subject = task_designs.subject_of(session, task.id)
    if subject is None:
        raise NotFound("the design of this task is not under review", what_to_do="Put it into the queue first.")
    service.decide(session, viewer, subject.id, decision=decision, confidence=confidence, reason=reason)
    return _back(task)


def _reviews(session: Session, viewer: Viewer, subject: ReviewSubject | None) -> dict[str, Any]:
    if subject is None:
        return {"seen": [], "rows": [], "is_author": False, "decision": None, "may_decide": False}
    return showing.reviews_beside(session, viewer, subject.id)


def _standing(session: Session, subject: ReviewSubject | None) -> dict[str, Any]:
    """In words; and whether asking would add a place, which it does once all reviews are in."""
    if subject is None:
        return {"standing": "It is not in the queue.", "is_wanted": False}
    states = [slot.state for slot in assignment_queries.slots_of(session, subject.id)]
    done, waiting = states.count(SlotState.DONE), sum(s in (SlotState.OPEN, SlotState.CLAIMED) for s in states)
    said = (
        f"{done} review{'s are' if done != 1 else ' is'} in, {waiting} {'are' if waiting != 1 else 'is'} still wanted."
    )
    return {"standing": said, "is_wanted": waiting > 0}


def _back(task: TaskVersion) -> Response:
    return RedirectResponse(f"/tasks/{task.task.name}/reviews?version={task.version}", 303)
