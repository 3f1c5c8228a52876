"""The stuck-finder: items that cannot finish by themselves, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, exists, select
from sqlalchemy.orm import Session, joinedload

from app.accounts.policy import Viewer, viewer_of
from app.assignments.rules import MAY_REVIEW, asked_by
from app.domain.review import EvaluationState, Role, SlotState, SubjectKind
from app.models import Evaluation, ReviewSlot, ReviewSubject, TaskVersion, User, utc_now
from app.rubrics import service as rubrics

# An admin's page names so many of a kind; the others follow as these are put right.
SHOWN_MAX = 50
_BITE = 5_000


@dataclass(frozen=True)
class Stuck:
    """`slot` is one that could be given to somebody, where that would help."""

    subject: ReviewSubject
    why: str
    what_to_do: str
    slot: ReviewSlot | None = None


def find_stuck(session: Session) -> list[Stuck]:
    """Every kind in turn, the oldest first."""
    return [*_without_reviewer(session), *_reserved_in_vain(session), *_without_rubric(session), *_failed(session)]


def _without_reviewer(session: Session) -> Iterator[Stuck]:
    ids = _nobody_may(session, _reviewers(session))[:SHOWN_MAX]
    places = select(ReviewSlot).where(ReviewSlot.subject_id.in_(ids), ReviewSlot.state == SlotState.OPEN)
    slots = {slot.subject_id: slot for slot in session.scalars(places.order_by(ReviewSlot.number.desc()))}
    for subject in session.scalars(_subjects().where(ReviewSubject.id.in_(ids))):
        yield Stuck(
            subject, "no reviewer is left who may take it: all made it, are too close, declined, or have reviewed it",
            "Add a reviewer from another team, or let those who declined see it again.", slots.get(subject.id),
        )  # fmt: skip


def _nobody_may(session: Session, reviewers: Sequence[Viewer]) -> list[int]:
    """Open subjects that none of them may review: the first leaves few over, and each of the others fewer."""
    now, left = utc_now(), select(ReviewSubject.id).where(ReviewSubject.is_open).order_by(ReviewSubject.id)
    if not reviewers:
        return list(session.scalars(left.limit(SHOWN_MAX)))
    first, *others = reviewers
    ids = list(session.scalars(left.where(~MAY_REVIEW), asked_by(first, now)))
    for viewer in others:
        bites = [ids[start : start + _BITE] for start in range(0, len(ids), _BITE)]
        queries = [left.where(ReviewSubject.id.in_(bite), ~MAY_REVIEW) for bite in bites]
        ids = [key for query in queries for key in session.scalars(query, asked_by(viewer, now))]
    return ids


def _reviewers(session: Session) -> list[Viewer]:
    people = session.scalars(select(User).where(User.is_active, ~User.is_paused).order_by(User.id))
    # Admins hold every role, and are not who a queue waits for.
    return [viewer_of(u) for u in people if {Role.REVIEWER.value, Role.ADJUDICATOR.value} & set(u.roles)]


def _reserved_in_vain(session: Session) -> Iterator[Stuck]:
    query = select(ReviewSlot).join(User, User.id == ReviewSlot.reserved_for_id)
    query = query.where(ReviewSlot.state == SlotState.OPEN, User.is_paused | ~User.is_active)
    subject = joinedload(ReviewSlot.subject)
    query = query.options(
        subject.joinedload(ReviewSubject.task_version), subject.joinedload(ReviewSubject.submission),
        joinedload(ReviewSlot.reserved_for),
    )  # fmt: skip
    query = query.order_by(ReviewSlot.id).limit(SHOWN_MAX)
    for slot in session.scalars(query):
        name = slot.reserved_for.name if slot.reserved_for else "somebody"
        yield Stuck(slot.subject, f"it was given to {name}, who is paused or gone", "Give it to another.", slot)


def _without_rubric(session: Session) -> Iterator[Stuck]:
    """Comparisons are ranked without one."""
    is_task = ReviewSubject.kind == SubjectKind.TASK_VERSION
    is_submission = ReviewSubject.kind == SubjectKind.SUBMISSION
    for kind in session.scalars(select(TaskVersion.kind).distinct()):
        of_kind = ReviewSubject.task_version_id.in_(select(TaskVersion.id).where(TaskVersion.kind == kind))
        for name, which in (("submission", is_submission), ("task_version", is_task)):
            if rubrics.applicable(session, task_kind=kind, subject=name) is None:
                query = _subjects().where(ReviewSubject.is_open, which, of_kind).limit(SHOWN_MAX)
                for subject in session.scalars(query):
                    yield Stuck(subject, f"no published rubric is for {kind!r}", "Publish one for this kind.")


def _failed(session: Session) -> Iterator[Stuck]:
    """No slot ever opened, and the machine has given up."""
    of_it = Evaluation.submission_id == ReviewSubject.submission_id
    ended = exists().where(of_it, Evaluation.state == EvaluationState.FAILED)
    alive = exists().where(of_it, Evaluation.state != EvaluationState.FAILED)
    query = _subjects().where(~ReviewSubject.is_open, ended, ~alive)
    for subject in session.scalars(query.limit(SHOWN_MAX)):
        yield Stuck(subject, "its evaluation failed on our side, so no slot opens", "Try the evaluation again.")


def _subjects() -> Select[Any]:
    version = joinedload(ReviewSubject.task_version).joinedload(TaskVersion.task)
    return select(ReviewSubject).options(version, joinedload(ReviewSubject.submission)).order_by(ReviewSubject.id)
