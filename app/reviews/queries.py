"""Every select about reviews; what a viewer may see of others' is decided by `policy`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from app.accounts.policy import Viewer
from app.assignments import queries as assignment_queries
from app.assignments.rules import asked_by, too_close
from app.domain.ranking import LETTERS
from app.domain.review import Decision, ReviewState, SlotState, SubjectKind
from app.errors import NotFound
from app.kit.pagination import LIMIT_DEFAULT, Page, newest_first
from app.models import (
    Contest,
    Evaluation,
    Review,
    ReviewDraft,
    ReviewMember,
    ReviewSubject,
    RubricVersion,
    SubjectAuthor,
    SubjectDecision,
    Submission,
    TaskVersion,
    utc_now,
)
from app.reviews import policy

# The gate of every shipped rubric of submissions that asks whether the task can be judged at all.
_JUDGEABLE = "judgeable"
OPEN, SETTLED = "open", "settled"  # states of a contest


@dataclass(frozen=True)
class SeenReview:
    """A review that the viewer may see, under the name that they may know."""

    review: Review
    label: str


def find(session: Session, public_id: str) -> Review:
    """With all that a page of it shows."""
    return _found(session, _FIND, public_id)


def find_draft(session: Session, public_id: str) -> Review:
    """By itself: a draft is saved more often than anything else is done here."""
    return _found(session, _FIND_ALONE, public_id)


def find_to_close(session: Session, public_id: str) -> Review:
    """With what closing it needs; the rubric and the report, which are long, are read when they are asked for."""
    return _found(session, _FIND_TO_CLOSE, public_id)


def lock(session: Session, review: Review) -> tuple[str, int | None]:
    """State and rubric version as they are now, and for nobody else to change: of two at once, the second waits."""
    state, version_id = session.execute(_LOCK, {"review": review.id}).one()
    return state, version_id


@dataclass(frozen=True)
class ToClose:
    """A locked review as it is now.  `reported` is what of its report binds its scores: findings and claims."""

    state: str
    rubric_version_id: int | None
    evaluation_id: int | None
    is_by_author: bool
    reported: dict[str, Any]


def lock_to_close(session: Session, review: Review) -> ToClose:
    """The same, with all that closing asks of other rows."""
    values = {"review": review.id, "subject": review.subject_id, "person": review.reviewer_id}
    now = session.execute(_LOCK_TO_CLOSE, values).one()
    state, version_id, evaluation_id, is_by_author, findings, claims = now
    reported = {"findings": findings or [], "claims": claims or []}
    return ToClose(state, version_id, evaluation_id, is_by_author, reported)


def _found(session: Session, query: Select[Review], public_id: str) -> Review:
    found = session.scalar(query, {"public_id": public_id})
    if found is None:
        raise NotFound(f"there is no review {public_id!r}")
    return found


def find_visible(session: Session, viewer: Viewer, public_id: str) -> SeenReview:
    """The same, but what the viewer may not see is not found."""
    review = find(session, public_id)
    for seen in visible_reviews(session, viewer, review.subject_id):
        if seen.review.id == review.id:
            return seen
    raise NotFound(f"there is no review {public_id!r}")


def find_own_draft(session: Session, viewer: Viewer, public_id: str) -> Review:
    """With all that a page of it shows; what the viewer does not write themselves is not found."""
    review = find_visible(session, viewer, public_id).review
    if review.reviewer_id != viewer.id or review.state != ReviewState.DRAFT:
        raise NotFound("there is no draft of yours here", what_to_do="A submitted review is never rewritten.")
    return review


def own_review(session: Session, viewer: Viewer, subject_id: int) -> Review | None:
    """The first: what corrects it hangs on it."""
    mine = (Review.subject_id == subject_id, Review.reviewer_id == viewer.id, Review.revision == 1)
    return session.scalar(_whole().where(*mine))


def correction_of(session: Session, review: Review) -> Review | None:
    """The submitted revision after this one."""
    later = next_revision(session, review)
    return later if later is not None and later.state == ReviewState.SUBMITTED else None


def next_revision(session: Session, review: Review) -> Review | None:
    """What corrects this review, submitted or not."""
    return session.scalar(_whole().where(Review.supersedes_id == review.id))


def draft_of(session: Session, review: Review) -> ReviewDraft:
    draft = session.get(ReviewDraft, review.id)
    return draft if draft is not None else ReviewDraft(review_id=review.id, version=0, content={})


def visible_reviews(session: Session, viewer: Viewer, subject_id: int) -> list[SeenReview]:
    """The submitted reviews of a subject that this viewer may see, and their own: each with all of its revisions."""
    query = _whole().where(Review.subject_id == subject_id, Review.state != ReviewState.WITHDRAWN)
    reviews = session.scalars(query.order_by(Review.revision, Review.submitted_at, Review.id)).all()
    first = [r for r in reviews if r.revision == 1]
    own = next((r for r in first if r.reviewer_id == viewer.id), None)
    mine = is_author(session, viewer, subject_id)
    all_in = _all_in(session, subject_id)
    order = [r.reviewer_id for r in first if r.state == ReviewState.SUBMITTED]
    return [
        SeenReview(r, policy.reviewer_label(viewer, r, order, is_author=mine))
        for r in reviews
        if policy.may_see(viewer, r, own=own, is_author=mine, all_in=all_in)
    ]


def standing(seen: Sequence[SeenReview]) -> list[SeenReview]:
    """Each person's review once: its newest submitted revision, or the draft of its first."""
    found: dict[int, SeenReview] = {}
    for one in seen:
        if one.review.revision == 1 or one.review.state == ReviewState.SUBMITTED:
            found[one.review.reviewer_id] = one
    return list(found.values())


def decisions_in(session: Session, subject_id: int) -> Sequence[str]:
    """What the submitted reviews of a subject decide, each as it stands."""
    return [decision for decision in session.scalars(_DECISIONS, {"subject": subject_id}) if decision]


def says_defect(review: Review) -> bool:
    """Whether a review of a submission says that the fault lies in the task, by its decision or by the first gate."""
    return review.decision == Decision.TASK_DEFECT or review.scores.get(_JUDGEABLE, {}).get("level") == 0


@dataclass(frozen=True)
class DefectReport:
    """A review of a submission that finds the fault in the task; without its words for whoever may not read it yet."""

    at: dt.datetime
    said: str = ""
    review_id: str = ""


def defect_reports(session: Session, viewer: Viewer, task_version_id: int, limit: int = 20) -> list[DefectReport]:
    """What reviews of submissions say against the task, newest first."""
    judgeable = Review.scores[_JUDGEABLE]["level"].as_integer()
    query = _whole().where(
        Review.state == ReviewState.SUBMITTED, ~superseded(),
        (Review.decision == Decision.TASK_DEFECT) | (judgeable == 0),
        Review.subject.has(
            (ReviewSubject.task_version_id == task_version_id) & (ReviewSubject.kind == SubjectKind.SUBMISSION)
        ),
    )  # fmt: skip
    found = []
    for review in session.scalars(query.order_by(Review.id.desc()).limit(limit)):
        at = review.submitted_at or review.created_at
        may_read = any(seen.review.id == review.id for seen in visible_reviews(session, viewer, review.subject_id))
        said = review.scores.get(_JUDGEABLE, {}).get("rationale", "").strip() or review.feedback
        found.append(DefectReport(at, said, review.public_id) if may_read else DefectReport(at))
    return found


def is_author(session: Session, viewer: Viewer, subject_id: int) -> bool:
    return bool(session.scalar(_IS_AUTHOR, {"subject": subject_id, "person": viewer.id}))


def list_own(
    session: Session, viewer: Viewer, *, cursor: str | None = None, limit: int = LIMIT_DEFAULT
) -> Page[Review]:
    """As they stand, and drafts; what was corrected is reached from its correction."""
    query = _whole().where(Review.reviewer_id == viewer.id, Review.state != ReviewState.WITHDRAWN, ~superseded())
    return newest_first(session, query, Review.id, cursor=cursor, limit=limit)


def notes_to(session: Session, viewer: Viewer, submission: Submission) -> list[str]:
    """What those who ranked it beside others wrote to its author, each ranking as it stands and once all are in."""
    query = (
        select(ReviewMember.place, Review.ranking, Review.subject_id)
        .join(Review, Review.id == ReviewMember.review_id)
        .where(ReviewMember.submission_id == submission.id, Review.state == ReviewState.SUBMITTED, ~superseded())
        .order_by(Review.id)
    )
    found = [] if not policy.reads_notes(viewer, submission) else session.execute(query).all()
    notes = [(kept["notes"].get(LETTERS[place]), subject_id) for place, kept, subject_id in found]
    waits = submission.author_id == viewer.id  # also staff, on their own work
    return [note for note, subject_id in notes if note and (not waits or _all_in(session, subject_id))]


def superseded(*, by: dt.datetime | None = None) -> ColumnElement[bool]:
    """Whether a review has been corrected; `by` then, where a past state is asked for."""
    later = aliased(Review)
    ways = [later.supersedes_id == Review.id, later.state == ReviewState.SUBMITTED]
    return exists().where(*ways, *([] if by is None else [later.submitted_at <= by]))


def decision_of(session: Session, subject_id: int) -> SubjectDecision | None:
    """The decision that stands: the newest."""
    query = select(SubjectDecision).options(joinedload(SubjectDecision.decided_by))
    query = query.where(SubjectDecision.subject_id == subject_id).order_by(SubjectDecision.id.desc())
    return session.scalars(query.limit(1)).first()


def own_feedback(session: Session, viewer: Viewer, *, besides: Review, limit: int = 20) -> Sequence[str]:
    """What this person wrote last to authors of other work, newest first."""
    query = select(Review.feedback).where(Review.reviewer_id == viewer.id, Review.state == ReviewState.SUBMITTED)
    query = query.where(Review.subject_id != besides.subject_id)
    return session.scalars(query.order_by(Review.id.desc()).limit(limit)).all()


def contests_by(session: Session, review: Review) -> Sequence[Contest]:
    """What its reviewer contested from any revision of this review, on whichever evidence."""
    whose = (Review.subject_id == review.subject_id, Review.reviewer_id == review.reviewer_id)
    query = select(Contest).where(Contest.review_id.in_(select(Review.id).where(*whose)))
    return session.scalars(query.order_by(Contest.id)).all()


def count_open_contests(session: Session, viewer: Viewer | None = None) -> int:
    """Those that the viewer's list has; of nobody in particular, all."""
    query = select(func.count(Contest.id)).where(Contest.upheld.is_(None))
    return session.scalar(query if viewer is None else _far_from(query, viewer)) or 0


def list_contests(
    session: Session,
    viewer: Viewer,
    *,
    state: str = "",
    code: str = "",
    cursor: str | None = None,
    limit: int = LIMIT_DEFAULT,
) -> Page[Contest]:
    """Newest first, without those that the viewer is too close to; `state` is open or settled, `code` a finding's."""
    query = _far_from(_contests(), viewer)
    if state:
        query = query.where(Contest.upheld.is_(None) if state == OPEN else Contest.upheld.is_not(None))
    if code:
        query = query.where(Contest.finding_code == code)
    return newest_first(session, query, Contest.id, cursor=cursor, limit=limit)


def find_contest(session: Session, viewer: Viewer, public_id: str) -> Contest:
    """Whoever is too close to the author finds none: it holds a reviewer's words."""
    found = session.scalar(_far_from(_contests().where(Contest.public_id == public_id), viewer))
    if found is None:
        raise NotFound(f"there is no contest {public_id!r}")
    return found


def _far_from(query: Select[Any], viewer: Viewer) -> Select[Any]:
    close = exists().where(
        ReviewSubject.submission_id == Evaluation.submission_id,
        Evaluation.id == Contest.evaluation_id,
        too_close(ReviewSubject.id),
    )
    return query.where(~close).params(**asked_by(viewer, utc_now()))


def _contests() -> Select[Contest]:
    whose = joinedload(Contest.evaluation, innerjoin=True).joinedload(Evaluation.submission, innerjoin=True)
    return select(Contest).options(
        whose.joinedload(Submission.task_version, innerjoin=True).joinedload(TaskVersion.task, innerjoin=True),
        joinedload(Contest.rerun), joinedload(Contest.review), joinedload(Contest.settled_by),
        joinedload(Contest.raised_by, innerjoin=True),
    )  # fmt: skip


def _all_in(session: Session, subject_id: int) -> bool:
    slots = assignment_queries.slots_of(session, subject_id)
    return bool(slots) and all(s.state in (SlotState.DONE, SlotState.BROKEN) for s in slots)


_BEFORE = joinedload(Review.supersedes).load_only(Review.public_id, Review.revision, Review.submitted_at)


def _whole() -> Select[Review]:
    submission = joinedload(Review.subject).joinedload(ReviewSubject.submission)
    version = joinedload(Review.subject).joinedload(ReviewSubject.task_version)
    return select(Review).options(
        joinedload(Review.reviewer),
        joinedload(Review.slot),
        joinedload(Review.rubric_version).joinedload(RubricVersion.rubric),
        joinedload(Review.evaluation),
        _BEFORE,
        submission.joinedload(Submission.author),
        version.joinedload(TaskVersion.task),
    )


# Built once: building such statements takes longer than answering them.
_ASKED = Review.public_id == bindparam("public_id")
_FIND = _whole().where(_ASKED)
_FIND_ALONE = select(Review).where(_ASKED)
_SUBJECT = joinedload(Review.subject, innerjoin=True)
_RUBRIC = joinedload(Review.rubric_version)
_FIND_TO_CLOSE = (
    select(Review)
    .options(
        joinedload(Review.slot),
        _BEFORE,
        _RUBRIC.defer(RubricVersion.content),
        _RUBRIC.joinedload(RubricVersion.rubric),
        joinedload(Review.evaluation).defer(Evaluation.report),
        _SUBJECT.joinedload(ReviewSubject.submission).load_only(Submission.public_id, Submission.files),
    )
    .where(_ASKED)
)
_LOCK = select(Review.state, Review.rubric_version_id).where(Review.id == bindparam("review")).with_for_update()
_DECISIONS = select(Review.decision).where(
    Review.subject_id == bindparam("subject"), Review.state == ReviewState.SUBMITTED, ~superseded()
)
_IS_AUTHOR = select(
    exists().where(SubjectAuthor.subject_id == bindparam("subject"), SubjectAuthor.user_id == bindparam("person"))
)
_LOCK_TO_CLOSE = (
    select(
        Review.state, Review.rubric_version_id, Review.evaluation_id, _IS_AUTHOR.scalar_subquery(),
        Evaluation.report["findings"], Evaluation.report["claims"],
    )
    .outerjoin(Evaluation, Evaluation.id == Review.evaluation_id)
    .where(Review.id == bindparam("review"))
    .with_for_update(of=Review)
)  # fmt: skip
