"""Reviews: opened on a claimed slot, saved as typed, submitted once, and decided beside the verdict."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.assignments import designs as task_designs
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.config import Settings
from app.domain.review import DESIGN_DECISIONS, Decision, ReviewState, Role, SlotState, SubjectKind
from app.domain.task_health import TaskHealth
from app.errors import Conflict, Invalid, NotPermitted
from app.evaluations import queries as evaluation_queries
from app.evaluations import service as evaluations
from app.evaluations.task_health import health_of
from app.kit import audit
from app.models import (
    Contest,
    Evaluation,
    Review,
    ReviewDraft,
    ReviewSlot,
    RubricVersion,
    Ruling,
    SubjectDecision,
    TaskVersion,
    utc_now,
)
from app.reviews import comments, corrections, differing, files, links, news, queries, ranking, scoring, typed_variables
from app.rubrics import queries as rubric_queries
from app.rubrics import rulings
from app.rubrics import service as rubrics
from app.rubrics.content import rubric_of
from app.submissions import queries as submission_queries


@dataclass(frozen=True)
class Saved:
    """How a save went.  `conflict` is the other, newer text: both are shown, neither is lost."""

    version: int
    saved_at: dt.datetime
    conflict: dict[str, Any] | None = None


class ReviewIncomplete(Invalid):
    """The review lacks something; `problems` maps each place to a sentence, for the jump list."""


def open_review(session: Session, viewer: Viewer, slot: ReviewSlot) -> Review:
    """The viewer's review of this subject: a new draft that pins rubric and evidence, or the one there is."""
    if slot.state != SlotState.CLAIMED or slot.holder_id != viewer.id:
        raise NotPermitted("claim the item first", what_to_do="Take it from your queue.")
    review = queries.own_review(session, viewer, slot.subject_id)
    if review is not None:
        if review.state == ReviewState.DRAFT:
            review.slot_id = slot.id
        return review
    evidence = _evidence(session, slot.subject.submission_id)
    is_ranking = slot.subject.kind == SubjectKind.COMPARISON
    review = Review(
        subject_id=slot.subject_id, slot_id=slot.id, reviewer_id=viewer.id, state=ReviewState.DRAFT.value,
        rubric_version_id=None if is_ranking else _rubric_for(session, slot).id,
        evaluation_id=evidence.id if evidence else None, scores={}, comments=[], feedback="", is_extra=False,
    )  # fmt: skip
    session.add(review)
    session.flush()
    if is_ranking:
        ranking.pin_members(session, viewer, review, slot.subject.public_id)
    session.add(ReviewDraft(review_id=review.id, version=0, content={}, saved_at=utc_now()))
    session.flush()
    return queries.find(session, review.public_id)


def save_draft(
    session: Session, viewer: Viewer, review: Review, content: Mapping[str, Any], *, base_version: int
) -> Saved:
    """Keep what was typed on top of `base_version`; a newer text from another page comes back beside it."""
    _must_be_own_draft(viewer, review)
    scoring.check_draft(content)
    now = utc_now()
    statement = (
        update(ReviewDraft)
        .where(ReviewDraft.review_id == review.id, ReviewDraft.version == base_version)
        .values(version=base_version + 1, content=dict(content), saved_at=now)
        .returning(ReviewDraft.version)
    )
    version = session.scalar(statement, execution_options={"synchronize_session": "fetch"})
    if version is not None:
        return Saved(version, now)
    other = saved(session, review)
    # A save whose answer never arrived is sent again: that is the same text, and no other page.
    return other if not differing.are_the_same(content, other.conflict or {}) else replace(other, conflict=None)


def saved(session: Session, review: Review) -> Saved:
    """What any page saved last, as a text that another one disagrees with."""
    other = session.get_one(ReviewDraft, review.id, populate_existing=True)
    return Saved(other.version, other.saved_at, conflict=other.content)


def change_links(
    session: Session, viewer: Viewer, review: Review, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    """Change the links of a draft and nothing else in it, whatever another page has saved meanwhile."""
    _must_be_own_draft(viewer, review)
    draft = session.get_one(ReviewDraft, review.id, with_for_update=True, populate_existing=True)
    content = {**draft.content, "links": change(list(draft.content.get("links", [])))}
    save_draft(session, viewer, review, content, base_version=draft.version)


def newer_evidence(session: Session, review: Review) -> Evaluation | None:
    """What has been measured since the draft was opened; the draft keeps what it was written from until told."""
    found = _evidence(session, review.subject.submission_id)
    return found if found is not None and found.id != review.evaluation_id else None


def take_newer_evidence(session: Session, viewer: Viewer, review: Review) -> None:
    """Write the review from the newest evidence; not a letter of what was answered changes."""
    _must_be_own_draft(viewer, review)
    if review.is_ranking:
        taken = ranking.take_newer_evidence(session, review)
        audit.note(session, viewer.id, "review.evidence", review.public_id, after=taken)
        return
    newer = newer_evidence(session, review)
    if newer is None:
        raise Conflict("this draft has the newest evidence already")
    before = review.evaluation.public_id if review.evaluation else None
    review.evaluation_id = newer.id
    audit.note(session, viewer.id, "review.evidence", review.public_id, before=before, after=newer.public_id)
    session.flush()
    session.expire(review, ["evaluation"])


def newer_rubric(session: Session, review: Review) -> RubricVersion | None:
    """Where the draft may move to; a correction keeps the version of what it corrects."""
    return rubric_queries.published_after(session, review.rubric) if review.supersedes_id is None else None


def submit_review(
    session: Session, settings: Settings, viewer: Viewer, review: Review, content: Mapping[str, Any]
) -> Review:
    """Close the review, or refuse with the list of what is missing.

    A slot lost in the meantime is taken again if it is free; else the review is kept as an extra.
    """
    locked = queries.lock_to_close(session, review)
    _must_be_own_draft(viewer, review, locked.state)
    if review.rubric_version is not None and review.rubric_version.id != locked.rubric_version_id:
        raise Conflict("this draft was just moved to another version of its rubric", what_to_do="Reload the page.")
    if review.evaluation_id != locked.evaluation_id:
        raise Conflict("this draft was just moved to newer evidence", what_to_do="Reload the page.")
    if locked.is_by_author:
        raise NotPermitted("nobody reviews their own work")
    corrections.must_still_be_allowed(session, viewer, review)
    given = scoring.read(content)
    if review.is_ranking:
        _close_ranking(session, viewer, review, given)
    else:
        _close_scores(session, settings, viewer, review, given, locked.reported)
    detail = {"decision": review.decision, "extra": review.is_extra} | corrections.as_audited(review)
    audit.note(session, viewer.id, "review.submit", review.public_id, **detail)
    news.tell_of_review(session, review)
    session.flush()
    return review


def _close_ranking(session: Session, viewer: Viewer, review: Review, given: scoring.ReviewContent) -> None:
    members = ranking.members_of(session, review)
    is_same_evidence = ranking.is_same_evidence(session, review, review.supersedes)
    unsaid = corrections.problems(review, given, is_same_evidence=is_same_evidence)
    _refuse(ranking.problems(members, given) | unsaid)
    if review.supersedes_id is None:
        review.is_extra = not assignments.finish_slot(session, viewer, review.slot)
    _close(review, given)
    review.ranking = ranking.as_kept(given)


def _close_scores(
    session: Session,
    settings: Settings,
    viewer: Viewer,
    review: Review,
    given: scoring.ReviewContent,
    reported: Mapping[str, Any],
) -> None:
    health = _health(session, review)
    judged = health.as_report() if health else reported
    problems = typed_variables.problems(given)
    given = typed_variables.filled(given, None if health else review.evaluation)
    unread = rulings.unread(session, viewer, review.rubric)
    rubric = rubric_of(review.rubric)
    _refuse(
        problems
        | scoring.missing(rubric, given, judged, DESIGN_DECISIONS if health else tuple(Decision))
        | comments.problems(settings, rubric, given, _reviewed(session, review))
        | _broken_links(session, settings, given, review)
        | _not_acknowledged(unread, given)
        | corrections.problems(review, given, is_same_evidence=corrections.is_same_evidence(review, health))
    )
    if review.supersedes_id is None:
        review.is_extra = not assignments.finish_slot(session, viewer, review.slot)
    _close(review, given)
    review.health = health.to_json() if health else None
    session.flush()
    assignments.note_decisions(session, review.subject, queries.decisions_in(session, review.subject_id))
    _contest_what_is_called_false(session, viewer, review, given, reported)
    _report_task_defect(session, settings, viewer, review)
    rulings.acknowledge(session, viewer, unread, at=review.submitted_at)


def _refuse(problems: dict[str, str]) -> None:
    """Raises `ReviewIncomplete` where there are any."""
    if problems:
        raise ReviewIncomplete(
            f"the review lacks {len(problems)} thing{'s' if len(problems) > 1 else ''}",
            what_to_do="Go through the list; each entry leads to its place.",
            problems=problems,
        )


def decide(
    session: Session, viewer: Viewer, subject_id: int, *, decision: Decision, confidence: int, reason: str
) -> SubjectDecision:
    """What people conclude about the subject; it stands beside the verdict and never changes it."""
    require_role(viewer, Role.ADJUDICATOR)
    _must_be_apart(session, viewer, subject_id)
    if not reason.strip() or confidence not in (1, 2, 3):
        raise Invalid("a decision needs a reason and a confidence from 1 to 3")
    # It is made from the reviews as they are: a correction that is just being submitted is in before it, or refused.
    assignment_queries.lock_subject(session, subject_id)
    task_designs.must_suit(session, subject_id, decision)
    row = SubjectDecision(
        subject_id=subject_id, decided_by_id=viewer.id, decision=decision.value, confidence=confidence, reason=reason
    )
    session.add(row)
    session.flush()
    audit.note(session, viewer.id, "subject.decide", row.public_id, decision=decision.value)
    news.tell_of_decision(session, subject_id)
    return row


def contest_finding(
    session: Session, viewer: Viewer, review: Review, *, code: str, reason: str, workload: str | None = None
) -> Contest:
    """Say that a finding (or, as code `verdict`, the verdict) is wrong: it is run again and shown to an adjudicator."""
    if review.reviewer_id != viewer.id:
        raise NotPermitted("contest from your own review")
    evaluation = review.evaluation
    if evaluation is None or evaluation.report is None:
        raise Conflict("there is no report to contest")
    if code != "verdict" and all(f["code"] != code for f in evaluation.report["findings"]):
        raise Invalid(f"the report has no finding {code!r}")
    if not reason.strip():
        raise Invalid("say why it is wrong", what_to_do="Name what the finding gets wrong and how to see it.")
    rerun = evaluations.request_evaluation(
        session, evaluation.submission_id, requested_by_id=viewer.id, reason="contest"
    )
    contest = Contest(
        evaluation_id=evaluation.id, review_id=review.id, raised_by_id=viewer.id, finding_code=code,
        workload=workload, reason=reason, rerun_id=rerun.id,
    )  # fmt: skip
    session.add(contest)
    session.flush()
    audit.note(session, viewer.id, "finding.contest", contest.public_id, code=code)
    return contest


def may_settle(session: Session, viewer: Viewer, contest: Contest) -> bool:
    """Whether this person is far enough from it: neither who contested it nor close to the author."""
    subject = submission_queries.subject_of(session, contest.evaluation.submission_id)
    too_close = subject is not None and assignment_queries.is_too_close(session, viewer, subject.id)
    return viewer.has(Role.ADJUDICATOR) and contest.raised_by_id != viewer.id and not too_close


def settle_contest(session: Session, viewer: Viewer, contest: Contest, *, upheld: bool, because: str) -> None:
    """`upheld`: the reviewer was right and the finding was false."""
    require_role(viewer, Role.ADJUDICATOR)
    if not because.strip():
        raise Invalid("say why you settle it so", what_to_do="One sentence is enough; its reviewer reads it.")
    if contest.raised_by_id == viewer.id:
        raise NotPermitted("nobody settles what they contested themselves", what_to_do="Ask another adjudicator.")
    evaluation = session.get_one(Evaluation, contest.evaluation_id)
    subject = submission_queries.subject_of(session, evaluation.submission_id)
    if subject is not None:
        _must_be_apart(session, viewer, subject.id)
    if contest.upheld is not None:
        raise Conflict("this contest is settled already")
    contest.upheld, contest.settled_by_id, contest.settled_at = upheld, viewer.id, utc_now()
    contest.settled_because = because.strip()
    audit.note(session, viewer.id, "finding.settle", contest.public_id, upheld=upheld)


def _broken_links(session: Session, settings: Settings, given: scoring.ReviewContent, review: Review) -> dict[str, str]:
    if not given.links:
        return {}
    version = session.get_one(TaskVersion, review.subject.task_version_id)
    return links.problems(settings, given, review.subject.submission, version)


def _not_acknowledged(unread: Sequence[Ruling], given: scoring.ReviewContent) -> dict[str, str]:
    return {
        f"ruling-{ruling.public_id}": f"read the ruling of {ruling.created_at:%d %b %Y} on {ruling.criterion}, tick it"
        for ruling in unread
        if ruling.public_id not in given.acknowledged
    }


def _contest_what_is_called_false(
    session: Session, viewer: Viewer, review: Review, given: scoring.ReviewContent, reported: Mapping[str, Any]
) -> None:
    """A level above a finding's cap is a contest of that finding: settled like any, and counted with its rule."""
    called = scoring.called_false(given, rubric_of(review.rubric), reported)
    if not called:
        return
    codes = {f["code"] for f in reported["findings"]}
    # Neither newer evidence nor a correction makes one doubt into two: each counts once with its rule.
    mine = {contest.finding_code for contest in queries.contests_by(session, review)}
    for code, reason in called.items():
        if code in codes - mine:
            contest_finding(session, viewer, review, code=code, reason=reason)


def _health(session: Session, review: Review) -> TaskHealth | None:
    """What a task's version is judged by, as it is now; of anything else, nothing."""
    subject = review.subject
    return health_of(session, subject.task_version_id) if files.is_design(subject) else None


def _reviewed(session: Session, review: Review) -> files.Reviewed:
    subject = review.subject
    if files.is_design(subject):
        return session.get_one(TaskVersion, subject.task_version_id)
    return subject.submission


def _report_task_defect(session: Session, settings: Settings, viewer: Viewer, review: Review) -> None:
    """What keeps a submission from being judged is the task's: somebody looks at the task itself."""
    if files.is_design(review.subject) or not queries.says_defect(review):
        return
    version = session.get_one(TaskVersion, review.subject.task_version_id)
    health = health_of(session, version.id)
    task_designs.report_defect(session, settings, viewer, version, health, review_id=review.public_id)


def _evidence(session: Session, submission_id: int | None) -> Evaluation | None:
    return evaluation_queries.evidence_of(session, submission_id) if submission_id else None


def _rubric_for(session: Session, slot: ReviewSlot) -> RubricVersion:
    subject = slot.subject
    kind = "task_version" if subject.kind == "task_version" else "submission"
    version = rubrics.applicable(session, task_kind=subject.task_version.kind, subject=kind)
    if version is None:
        raise Conflict(
            f"no published rubric is for {subject.task_version.kind!r}",
            what_to_do="Ask an admin to publish one; the item stays in your hands.",
        )
    return version


def _must_be_apart(session: Session, viewer: Viewer, subject_id: int) -> None:
    """The rule of who may review holds for whoever settles, too."""
    if assignment_queries.is_too_close(session, viewer, subject_id):
        raise NotPermitted(
            "nobody decides on their own work, their team's, or where they declared a conflict",
            what_to_do="Ask another adjudicator.",
        )


def _must_be_own_draft(viewer: Viewer, review: Review, state: str = "") -> None:
    """`state`: as it is now, where that may be another than was read."""
    if review.reviewer_id != viewer.id:
        raise NotPermitted("this is another person's review")
    if (state or review.state) == ReviewState.WITHDRAWN:
        raise Conflict("this correction was withdrawn", what_to_do="Open the review, and correct it again.")
    if (state or review.state) != ReviewState.DRAFT:
        raise Conflict("this review is submitted already", what_to_do="It is never rewritten; correct it.")


def _close(review: Review, given: scoring.ReviewContent) -> None:
    now = utc_now()
    data = given.model_dump(mode="json")
    review.scores, review.comments, review.feedback = data["scores"], data["comments"], data["feedback"]
    review.links = data["links"]
    review.decision, review.confidence = data["decision"], data["confidence"]
    if review.supersedes_id is not None:
        review.what_changed = " ".join(given.what_changed.split())
    review.suggestions_shown = given.suggestions_shown
    review.wall_seconds = int((now - review.created_at).total_seconds())
    review.active_seconds = min(given.active_seconds, review.wall_seconds)
    review.state, review.submitted_at = ReviewState.SUBMITTED.value, now
