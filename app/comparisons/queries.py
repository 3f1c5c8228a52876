"""Every select about comparisons: which there are, what is in them, and what could be compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import Session, joinedload

from app.accounts.policy import Viewer
from app.assignments.rules import asked_by, too_close
from app.domain.review import EvaluationState, SlotState, SubjectKind
from app.errors import NotFound
from app.kit.pagination import LIMIT_DEFAULT, Page, newest_first
from app.models import (
    ComparisonMember,
    Evaluation,
    ReviewSlot,
    ReviewSubject,
    SubjectAuthor,
    Submission,
    Task,
    TaskVersion,
    utc_now,
)

# A place that somebody may still fill.
_OUTSTANDING = (SlotState.WAITING, SlotState.OPEN, SlotState.CLAIMED)
CANDIDATES_SHOWN = 50


def list_comparisons(
    session: Session, viewer: Viewer, *, cursor: str | None = None, limit: int = LIMIT_DEFAULT
) -> Page[ReviewSubject]:
    """Newest first, without those that the viewer is too close to: it would tell them of rivals."""
    query = _far_from(_comparisons(), viewer)
    return newest_first(session, query, ReviewSubject.id, cursor=cursor, limit=limit)


def find(session: Session, viewer: Viewer, public_id: str) -> ReviewSubject:
    """Whoever is too close to a member's author finds none."""
    found = session.scalar(_far_from(_comparisons().where(ReviewSubject.public_id == public_id), viewer))
    if found is None:
        raise NotFound(f"there is no comparison {public_id!r}")
    return found


def members_of(session: Session, subject_ids: Collection[int]) -> dict[int, list[Submission]]:
    """Subject -> its members, in the order in which they were submitted."""
    query = (
        select(ComparisonMember)
        .options(joinedload(ComparisonMember.submission))
        .where(ComparisonMember.subject_id.in_(subject_ids))
        .order_by(ComparisonMember.position)
    )
    found: dict[int, list[Submission]] = {subject_id: [] for subject_id in subject_ids}
    for member in session.scalars(query):
        found[member.subject_id].append(member.submission)
    return found


@dataclass(frozen=True)
class Places:
    """How far the reviews of a comparison have come."""

    done: int
    wanted: int
    is_open: bool


def places_of(session: Session, subject_ids: Collection[int]) -> Mapping[int, Places]:
    counted: dict[int, dict[str, int]] = {subject_id: {} for subject_id in subject_ids}
    query = select(ReviewSlot.subject_id, ReviewSlot.state, func.count()).where(ReviewSlot.subject_id.in_(subject_ids))
    for subject_id, state, count in session.execute(query.group_by(ReviewSlot.subject_id, ReviewSlot.state)):
        counted[subject_id][state] = count
    return {
        subject_id: Places(
            done=by_state.get(SlotState.DONE, 0),
            wanted=sum(by_state.values()),
            is_open=any(by_state.get(state) for state in _OUTSTANDING),
        )
        for subject_id, by_state in counted.items()
    }


def open_with(session: Session, task_version_id: int, submission_ids: Collection[int]) -> ReviewSubject | None:
    """A comparison of exactly these that still waits for a review; none while its version is not `lock`ed is final."""
    outstanding = exists().where(ReviewSlot.subject_id == ReviewSubject.id, ReviewSlot.state.in_(_OUTSTANDING))
    member = exists().where(ComparisonMember.subject_id == ReviewSubject.id)
    others = member.where(ComparisonMember.submission_id.not_in(submission_ids))
    query = select(ReviewSubject).where(
        ReviewSubject.kind == SubjectKind.COMPARISON, ReviewSubject.task_version_id == task_version_id, outstanding,
        ~others, *(member.where(ComparisonMember.submission_id == one) for one in submission_ids),
    )  # fmt: skip
    return session.scalars(query.limit(1)).first()


def lock(session: Session, task_version_id: int) -> None:
    """Comparisons of one task version are opened one after another, so that two at once do not open the same."""
    if session.connection().dialect.name != "sqlite":  # whoever writes there is alone already
        session.execute(select(TaskVersion.id).where(TaskVersion.id == task_version_id).with_for_update(key_share=True))


@dataclass(frozen=True)
class Choosable:
    """A task version with enough to compare; `count` of its submissions have evidence."""

    version: TaskVersion
    count: int


def choosable(session: Session) -> list[Choosable]:
    """Task versions with two evaluated submissions or more, by name, the newest version first."""
    counted = (
        select(Submission.task_version_id, func.count().label("ready"))
        .where(_has_evidence())
        .group_by(Submission.task_version_id)
        .having(func.count() > 1)
        .subquery()
    )
    query = (
        select(TaskVersion, counted.c.ready)
        .join(counted, counted.c.task_version_id == TaskVersion.id)
        .join(Task, Task.id == TaskVersion.task_id)
        .options(joinedload(TaskVersion.task))
        .order_by(Task.name, TaskVersion.version.desc())
    )
    return [Choosable(version, ready) for version, ready in session.execute(query)]


def candidates(session: Session, viewer: Viewer, task_version_id: int) -> Sequence[Submission]:
    """The newest evaluated submissions to it, as many as a page shows; none that the viewer is too close to."""
    own = exists().where(ReviewSubject.submission_id == Submission.id, too_close(ReviewSubject.id))
    query = select(Submission).options(joinedload(Submission.author))
    query = query.where(Submission.task_version_id == task_version_id, _has_evidence(), ~own)
    query = query.order_by(Submission.id.desc()).limit(CANDIDATES_SHOWN)
    return session.scalars(query.params(**asked_by(viewer, utc_now()))).all()


def verdicts_of(session: Session, submission_ids: Collection[int]) -> dict[int, str | None]:
    """Submission -> the verdict of its newest evidence, also while it is evaluated again."""
    query = select(ReviewSubject.submission_id, ReviewSubject.verdict)
    found = session.execute(query.where(ReviewSubject.submission_id.in_(submission_ids)))
    return {submission_id: verdict for submission_id, verdict in found if submission_id is not None}


def is_too_close(session: Session, viewer: Viewer, submission_ids: Collection[int]) -> bool:
    query = select(ReviewSubject.id).where(ReviewSubject.submission_id.in_(submission_ids), too_close(ReviewSubject.id))
    return session.scalars(query.limit(1), asked_by(viewer, utc_now())).first() is not None


def authors_of(session: Session, submission_ids: Collection[int]) -> set[int]:
    """Everybody who counts as an author of one of the submissions."""
    query = select(SubjectAuthor.user_id).join(ReviewSubject, ReviewSubject.id == SubjectAuthor.subject_id)
    return set(session.scalars(query.where(ReviewSubject.submission_id.in_(submission_ids))))


def _comparisons() -> Select[ReviewSubject]:
    version = joinedload(ReviewSubject.task_version).joinedload(TaskVersion.task)
    return select(ReviewSubject).options(version).where(ReviewSubject.kind == SubjectKind.COMPARISON)


def _far_from(query: Select[ReviewSubject], viewer: Viewer) -> Select[ReviewSubject]:
    return query.where(~too_close(ReviewSubject.id)).params(**asked_by(viewer, utc_now()))


def _has_evidence() -> ColumnElement[bool]:
    return exists().where(Evaluation.submission_id == Submission.id, Evaluation.state == EvaluationState.DONE)
