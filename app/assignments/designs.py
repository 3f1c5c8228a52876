"""Task versions as items of the queue: opened by an admin, or by a review that could not judge for the task's sake."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import queries, service, slots
from app.assignments.policy import Priority
from app.config import Settings
from app.domain.findings import REGISTER
from app.domain.report import Severity
from app.domain.review import DESIGN_DECISIONS, Decision, Role, SlotState, SubjectKind
from app.domain.task_health import TaskHealth
from app.errors import Invalid
from app.kit import audit
from app.models import ReviewSlot, ReviewSubject, SubjectAuthor, TaskVersion

REASON_LENGTH_MAX = 240
_ASKED = 20
# A defect keeps every review of a submission to the task from counting.
_REPORTED = Priority(36, "a reviewer of a submission says that the task has a defect")


def subject_of(session: Session, task_version_id: int) -> ReviewSubject | None:
    query = select(ReviewSubject).where(
        ReviewSubject.task_version_id == task_version_id, ReviewSubject.kind == SubjectKind.TASK_VERSION
    )
    return session.scalar(query)


def must_suit(session: Session, subject_id: int, decision: Decision) -> None:
    """Raises `Invalid` for what nobody decides of a task's design."""
    if session.get_one(ReviewSubject, subject_id).kind == SubjectKind.TASK_VERSION and decision not in DESIGN_DECISIONS:
        known = ", ".join(one.value.replace("_", " ") for one in DESIGN_DECISIONS)
        raise Invalid(
            f"nobody decides {decision.value.replace('_', ' ')!r} of a task's design",
            what_to_do=f"Choose from {known}.",
        )


def ask_for_review(
    session: Session, settings: Settings, viewer: Viewer, version: TaskVersion, health: TaskHealth, *, reason: str
) -> ReviewSubject:
    """An admin or adjudicator puts the design of a task into the queue; again, for one more review of it."""
    require_role(viewer, Role.ADJUDICATOR, Role.ADMIN)
    if not reason.strip():
        raise Invalid("say why it is to be reviewed", what_to_do="One sentence; reviewers read it in the queue.")
    if len(reason.strip()) > REASON_LENGTH_MAX:
        raise Invalid(f"the reason is longer than {REASON_LENGTH_MAX} characters", what_to_do="Shorten it.")
    subject = _open(session, settings, version, health, Priority(_ASKED, f"it was asked for: {reason.strip()}"))
    _add_place_if_done(session, subject)
    audit.note(session, viewer.id, "task.ask_review", version.public_id, subject=subject.public_id, reason=reason)
    return subject


def report_defect(
    session: Session, settings: Settings, viewer: Viewer, version: TaskVersion, health: TaskHealth, *, review_id: str
) -> ReviewSubject:
    """A review says that the task has a defect.

    What it says stays in it, so that the next reviewer sees for themselves; a design that has all its reviews gets no
    further one by this.
    """
    subject = _open(session, settings, version, health, _REPORTED)
    audit.note(session, viewer.id, "task.report_defect", version.public_id, subject=subject.public_id, review=review_id)
    return subject


def _open(
    session: Session, settings: Settings, version: TaskVersion, health: TaskHealth, reason: Priority
) -> ReviewSubject:
    subject = subject_of(session, version.id) or _made(session, version)
    queries.lock_subject(session, subject.id)
    subject.summary = _summary_of(health)
    if queries.slots_of(session, subject.id):
        slots.raise_priority(session, subject, reason)
    else:
        service.open_places(session, settings, subject, reason)
    return subject


def _add_place_if_done(session: Session, subject: ReviewSubject) -> None:
    there = queries.slots_of(session, subject.id)
    if all(slot.state in (SlotState.DONE, SlotState.BROKEN) for slot in there):
        session.add(ReviewSlot(subject_id=subject.id, number=len(there) + 1, state=SlotState.OPEN.value, why=""))
        slots.recount(session, subject.id)


def _made(session: Session, version: TaskVersion) -> ReviewSubject:
    try:
        with session.begin_nested():
            subject = ReviewSubject(kind=SubjectKind.TASK_VERSION.value, task_version_id=version.id)
            session.add(subject)
            session.flush()
            if version.uploaded_by_id is not None:
                session.add(SubjectAuthor(subject_id=subject.id, user_id=version.uploaded_by_id))
    except IntegrityError:
        # Two people asked at once, and the other was first.
        there = subject_of(session, version.id)
        if there is None:
            raise
        return there
    return subject


def _summary_of(health: TaskHealth) -> dict[str, object]:
    """What a line of the queue says: as of a submission, and with the same fields."""
    grave = [fault for fault in health.faults if fault.severity is not Severity.INFO]
    top = REGISTER.get(grave[0].code) if grave else None
    evaluated = f"{health.evaluations} evaluation{'s' if health.evaluations != 1 else ''}"
    return {
        "scope": f"judged in {evaluated} of it" if health.evaluations else "nothing was evaluated by it yet",
        "top": top.title if top else grave[0].code if grave else None,
        "is_hard": bool(grave) and grave[0].severity is Severity.ERROR,
        "more": max(0, len(grave) - 1),
    }
