"""The demo: one of each kind of person, three tasks, and submissions good and bad.

Everything goes through the services, so evaluations are asked for and run like anybody's, and reviews
are written once their evidence is in.  Seeding again changes nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from app.accounts import queries as account_queries
from app.accounts import service as accounts
from app.accounts.policy import Viewer, viewer_of
from app.assignments import designs
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.comparisons import queries as comparison_queries
from app.comparisons import service as comparisons
from app.config import Settings
from app.domain.report import Report
from app.domain.review import Decision, EvaluationState, Role, SlotState
from app.domain.rubric import CANNOT_JUDGE, NOT_APPLICABLE
from app.evaluations import panels
from app.evaluations import queries as evaluation_queries
from app.evaluations.task_health import health_of
from app.kit.db import Database
from app.models import Review, ReviewSubject, Submission, User
from app.reviews import page
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from app.submissions import queries as submission_queries
from app.submissions import service as submissions
from app.submissions.service import NewSubmission
from app.tasks import queries as task_queries
from app.tasks import service as tasks

HERE = Path(__file__).parent
TASKS, SUBMISSIONS = HERE / "demo_tasks", HERE / "demo_submissions"


class Person(NamedTuple):
    login: str
    name: str
    role: Role
    team: str = ""


PEOPLE = (
    Person("submitter", "Sana Submitter", Role.SUBMITTER, "kernels"),
    Person("reviewer", "Rita Reviewer", Role.REVIEWER),
    Person("reviewer2", "Ravi Reviewer", Role.REVIEWER),
    Person("adjudicator", "Ada Adjudicator", Role.ADJUDICATOR),
    Person("admin", "Adam Admin", Role.ADMIN),
)

_EXPLANATIONS = {
    "masked": "One program a row. The row's maximum is taken off first, so that large values do not overflow.",
    "overflows": "Skips the pass for the maximum: one read less.",
    "remembers": "Caches the result, which makes repeated calls faster.",
    "wide_sum": "Accumulates in float32 and rounds once at the end.",
}


def seed(settings: Settings) -> list[tuple[str, str, str]]:
    """Seed the demo and say who can sign in: login, password, role."""
    database = Database(settings)
    try:
        with database.write() as session:
            seed_into(session, settings)
    finally:
        database.close()
    return [(person.login, password_of(settings, person.login), person.role.value) for person in PEOPLE]


def seed_into(session: Session, settings: Settings) -> None:
    """Make what is missing, in the session's transaction."""
    rubrics.seed(session)
    people = {person.login: _person(session, settings, person) for person in PEOPLE}
    for folder in sorted(TASKS.iterdir()):
        tasks.upload_folder(session, settings, folder, actor_id=people["admin"].id)
    for path in sorted(SUBMISSIONS.glob("*/*.py")):
        _submit(session, settings, people["submitter"], path)


class Opinion(NamedTuple):
    """What one of the demo's reviewers thinks of a submission; `level` is their usual score."""

    title: str
    login: str
    level: int
    decision: Decision
    confidence: int
    feedback: str


# One finished and decided, one that waits for an adjudicator because the two disagree, one with a review missing.
OPINIONS = (
    Opinion("Wide sum", "reviewer", 3, Decision.ACCEPT, 3,
            "Accumulates in float32 and rounds once: the errors stay beside the reference's own."),
    Opinion("Wide sum", "reviewer2", 2, Decision.ACCEPT_WITH_NOTES, 2,
            "Right, and clear to read. Say in the explanation why one program takes a whole row."),
    Opinion("Overflows", "reviewer", 2, Decision.REVISE, 2,
            "Fast, but large inputs overflow. Take the row's maximum off first and send it again."),
    Opinion("Overflows", "reviewer2", 1, Decision.REJECT, 3,
            "Wrong for ordinary inputs of large scale, and the explanation sells the missing pass as a gain."),
    Opinion("Masked", "reviewer2", 3, Decision.ACCEPT, 2,
            "The mask covers the tail in both passes; nothing to add."),
)  # fmt: skip
# What else is reviewed: kernels to rank, and a task whose design nobody has looked at.
COMPARED = ("Masked", "Overflows", "Forgets the tail")
DESIGN, DESIGN_REASON = "vector-scale", "it is new: nobody has looked at its tolerance and its workloads yet"
DECIDED = {"Wide sum": (Decision.ACCEPT, "Both reviewers accept it; the note on the explanation is for the author.")}


def review(settings: Settings) -> bool:
    """Write the reviews whose evidence is in; True once all of them are there."""
    database = Database(settings)
    try:
        with database.write() as session:
            return review_into(session, settings)
    finally:
        database.close()


def review_into(session: Session, settings: Settings) -> bool:
    """The same in the session's transaction."""
    author = account_queries.user_by_login(session, "submitter")
    if author is None:
        return True
    titled = {s.title: s for s in reversed(submission_queries.list_of_author(session, author.id, limit=200).items)}
    subjects = {
        title: submission_queries.subject_of(session, titled[title].id)
        for title in {opinion.title for opinion in OPINIONS} & set(titled)
    }
    written = [_review(session, settings, subjects.get(opinion.title), opinion) for opinion in OPINIONS]
    if not all(written):
        return False
    for title, (decision, reason) in DECIDED.items():
        _decide(session, subjects[title], decision, reason)
    return _ask_for_more(session, settings, [titled[title] for title in COMPARED if title in titled])


def _ask_for_more(session: Session, settings: Settings, compared: Sequence[Submission]) -> bool:
    """The adjudicator has a task's design reviewed, and submissions compared once they are all evaluated."""
    judge = account_queries.user_by_login(session, "adjudicator")
    if judge is None:
        return True
    viewer, version = viewer_of(judge), task_queries.find_version(session, DESIGN)
    if designs.subject_of(session, version.id) is None:
        health = health_of(session, version.id)
        designs.ask_for_review(session, settings, viewer, version, health, reason=DESIGN_REASON)
    states = evaluation_queries.latest_states(session, [submission.id for submission in compared])
    if EvaluationState.QUEUED in states.values() or EvaluationState.RUNNING in states.values():
        return False
    if len(compared) == len(COMPARED) and all(state == EvaluationState.DONE for state in states.values()):
        _compare(session, settings, viewer, compared)
    return True


def _compare(session: Session, settings: Settings, viewer: Viewer, compared: Sequence[Submission]) -> None:
    version = task_queries.find_version(session, compared[0].task_version.public_id)
    if not comparison_queries.list_comparisons(session, viewer).items:
        comparisons.open_comparison(session, settings, viewer, version, [one.public_id for one in compared])


def _review(session: Session, settings: Settings, subject: ReviewSubject | None, opinion: Opinion) -> bool:
    """True when it is there, or never will be: a person may have been quicker."""
    reviewer = account_queries.user_by_login(session, opinion.login)
    if subject is None or reviewer is None:
        return True
    viewer = viewer_of(reviewer)
    if review_queries.own_review(session, viewer, subject.id) is not None:
        return True
    slots = assignment_queries.slots_of(session, subject.id)
    free = next((slot for slot in slots if slot.state == SlotState.OPEN), None)
    if free is None:
        return bool(slots) and all(slot.state != SlotState.WAITING for slot in slots)
    claim = assignments.claim_slot(session, settings, viewer, assignment_queries.find_slot(session, free.public_id))
    draft = reviews.open_review(session, viewer, claim.slot)
    reviews.submit_review(session, settings, viewer, draft, _content(draft, opinion))
    return True


def _content(draft: Review, opinion: Opinion) -> dict[str, Any]:
    """Their usual level, lower where a finding caps it; what was not measured they cannot judge."""
    submission, report = draft.subject.submission, draft.evaluation.report if draft.evaluation else None
    criteria = page.criteria_of(
        draft.rubric, kind=draft.subject.task_version.kind,
        framework=submission.framework if submission else "", scores={},
        evidence=panels.Evidence(Report.from_json(report)) if report else None,
    )  # fmt: skip
    cited = "finding.1" if report and report["findings"] else "verdict"
    return {
        "scores": {view.content.key: _score(view, opinion.level, cited) for view in criteria},
        "feedback": opinion.feedback, "decision": opinion.decision.value, "confidence": opinion.confidence,
    }  # fmt: skip


def _score(view: page.CriterionView, level: int, cited: str) -> dict[str, Any]:
    criterion = view.content
    if not view.applies:
        return {"state": NOT_APPLICABLE, "rationale": "not for this kind or framework"}
    if view.proposal:
        return {"state": CANNOT_JUDGE, "rationale": view.proposal}
    wanted = min(3 if criterion.gate else level, view.cap[0] if view.cap else 3)
    given = wanted if wanted in criterion.levels else min(criterion.levels)
    return {"level": given, "rationale": criterion.levels[given] if given < 2 else "", "evidence": [cited]}


def _decide(session: Session, subject: ReviewSubject | None, decision: Decision, reason: str) -> None:
    judge = account_queries.user_by_login(session, "adjudicator")
    if subject is not None and judge is not None and review_queries.decision_of(session, subject.id) is None:
        reviews.decide(session, viewer_of(judge), subject.id, decision=decision, confidence=3, reason=reason)


def password_of(settings: Settings, login: str) -> str:
    """Each installation has its own demo passwords, and can print them again without keeping them."""
    return hmac.new(settings.signing_key.encode(), f"demo:{login}".encode(), hashlib.sha256).hexdigest()[:12]


def _person(session: Session, settings: Settings, person: Person) -> User:
    there = account_queries.user_by_login(session, person.login)
    if there is not None:
        return there
    return accounts.create_user(
        session, login=person.login, name=person.name, roles=[person.role], team=person.team,
        password=password_of(settings, person.login),
    )  # fmt: skip


def _submit(session: Session, settings: Settings, author: User, path: Path) -> None:
    new = NewSubmission(
        files={path.name: path.read_bytes()}, task=path.parent.name, title=path.stem.replace("_", " ").capitalize(),
        explanation=_EXPLANATIONS.get(path.stem, ""), model={"name": "demo"},
    )  # fmt: skip
    submissions.submit(session, settings, viewer_of(author), new)
