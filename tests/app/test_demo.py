"""The demo's reviews: written once their evidence is in, through the services, and never twice."""

from __future__ import annotations

from sqlalchemy import func, select

from app.accounts import queries as account_queries
from app.accounts.policy import viewer_of
from app.admin import demo
from app.assignments import service as assignments
from app.domain.report import Finding, Severity, Verdict
from app.models import Review, ReviewSubject, SubjectDecision
from app.submissions import queries as submission_queries
from tests import factories


def _evaluate_everything(session, settings):
    author = account_queries.user_by_login(session, "submitter")
    for submission in submission_queries.list_of_author(session, author.id).items:
        wrong = Finding("numerics.wrong_values", Severity.ERROR, "correctness", "it differs")
        is_right = submission.title in ("Wide sum", "Masked", "Plain")
        report = factories.make_report(
            Verdict.ACCEPTED if is_right else Verdict.WRONG_RESULT, findings=() if is_right else (wrong,)
        )
        factories.evaluate(session, settings, submission, report)
        subject = submission_queries.subject_of(session, submission.id)
        assignments.open_slots(session, settings, subject, report)


def test_reviews_wait_for_their_evidence_and_are_written_once(database, settings):
    with database.write() as session:
        demo.seed_into(session, settings)
    with database.write() as session:
        assert not demo.review_into(session, settings)
        assert session.scalar(select(func.count()).select_from(Review)) == 0
    with database.write() as session:
        _evaluate_everything(session, settings)
    for _ in range(2):
        with database.write() as session:
            assert demo.review_into(session, settings)

    with database.read() as session:
        reviews = session.scalars(select(Review)).all()
        assert len(reviews) == len(demo.OPINIONS) and all(r.submitted_at and not r.is_extra for r in reviews)
        assert session.scalar(select(func.count()).select_from(SubjectDecision)) == len(demo.DECIDED)
        others = select(ReviewSubject.kind).where(ReviewSubject.submission_id.is_(None), ReviewSubject.is_open)
        assert sorted(session.scalars(others)) == ["comparison", "task_version"]


def test_a_person_who_was_quicker_is_left_alone(database, settings):
    """All places taken: the demo's own review is not forced in."""
    with database.write() as session:
        demo.seed_into(session, settings)
        _evaluate_everything(session, settings)
        author = account_queries.user_by_login(session, "submitter")
        masked = next(s for s in submission_queries.list_of_author(session, author.id).items if s.title == "Masked")
        subject = submission_queries.subject_of(session, masked.id)
        for slot in demo.assignment_queries.slots_of(session, subject.id):
            other = viewer_of(factories.make_user(session, demo.Role.REVIEWER))
            assignments.claim_slot(session, settings, other, demo.assignment_queries.find_slot(session, slot.public_id))
        assert demo.review_into(session, settings)
        assert session.scalar(select(func.count()).select_from(Review)) == len(demo.OPINIONS) - 1
