"""A task's record over all evaluations of it, and its design as an item of the queue."""

import dataclasses

import pytest

from app.assignments import designs
from app.assignments import queries as assignment_queries
from app.domain.report import Finding, Severity, StageName, StageStatus, Verdict, WorkloadResult
from app.domain.review import Decision, Role, SlotState
from app.domain.task_health import TaskHealth
from app.errors import Invalid, NotPermitted
from app.evaluations import service as evaluations
from app.evaluations.task_health import health_of
from app.models import AuditEntry
from app.reviews import service as reviews
from app.reviews.designs import design_of
from tests import factories

SHORTCUT = Finding("task.shortcut", Severity.ERROR, StageName.CORRECTNESS, "zeros pass", workload="secret-tail")
SLOW = Finding("runtime.memory_limit", Severity.ERROR, StageName.CORRECTNESS, "its own fault")


def evaluated(settings, session, task, verdict=Verdict.ACCEPTED, **overrides):
    return factories.make_evaluated(session, settings, task=task, report=factories.make_report(verdict, **overrides))


def test_it_counts_what_evaluations_say_of_the_task_and_not_of_a_submission(each_database, each_settings):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        failed = (
            WorkloadResult("small", "task", StageStatus.FAILED),
            WorkloadResult("small", "nan", StageStatus.FLAGGED, decides=False),
        )
        evaluated(each_settings, session, task, findings=(SHORTCUT, SHORTCUT, SLOW))
        evaluated(each_settings, session, task, findings=(SHORTCUT,))
        evaluated(each_settings, session, task, Verdict.WRONG_RESULT, workloads=failed)
        health = health_of(session, task.id)

    assert (health.evaluations, health.read) == (3, 3)
    assert health.verdicts == {"accepted": 2, "wrong_result": 1}
    assert [(f.code, f.evaluations, f.workloads) for f in health.faults] == [("task.shortcut", 2, ("secret-tail",))]
    assert {(w.name, w.run, w.failed, w.hidden) for w in health.workloads} == {
        ("small", 3, 1, False), ("secret-tail", 2, 0, True),
    }  # fmt: skip
    assert TaskHealth.from_json(health.to_json()) == health


def test_the_same_submission_with_another_verdict_is_told(each_database, each_settings):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        first, _, _ = evaluated(each_settings, session, task)
        second, _, _ = evaluated(each_settings, session, task)
        for submission, verdict in ((first, Verdict.WRONG_RESULT), (second, Verdict.ACCEPTED)):
            again = factories.make_report(verdict)
            evaluations.request_evaluation(session, submission.id, requested_by_id=submission.author_id, reason="again")
            factories.evaluate(session, each_settings, submission, again)
        health = health_of(session, task.id)

    assert (health.evaluations, health.repeated, health.changed) == (4, 2, 1)


def test_a_submitter_learns_nothing_of_hidden_workloads(each_database, each_settings):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        evaluated(
            each_settings, session, task, findings=(dataclasses.replace(SHORTCUT, message="zeros pass on secret-tail"),)
        )
        health = health_of(session, task.id).for_submitter(())

    assert "secret-tail" not in str(health.to_json())
    assert health.faults[0].evaluations == 1


def test_nor_of_one_that_never_ran(each_database, each_settings):
    raises = Finding(
        "task.reference_raises",
        Severity.ERROR,
        StageName.CORRECTNESS,
        "it raises on secret-tail",
        workload="secret-tail",
    )
    loose = Finding("task.tolerance_vacuous", Severity.WARNING, StageName.CORRECTNESS, "loose on `secret-tail`")
    ran = (WorkloadResult("small", "task", StageStatus.PASSED),)
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        evaluated(each_settings, session, task, Verdict.INVALID_TASK, findings=(raises, loose), workloads=ran)
        shown = design_of(task, health_of(session, task.id), sees_hidden=False)

    assert "secret-tail" not in str(shown.health.to_json())
    assert [row.finding.message for row in shown.findings] == ["on a hidden workload"] * 2


def test_nobody_decides_of_a_design_what_no_review_of_it_can_say(each_database, each_settings):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        admin = factories.make_viewer(session, Role.ADMIN)
        subject = designs.ask_for_review(session, each_settings, admin, task, health_of(session, task.id), reason="new")
        for decision in (Decision.REJECT_INTEGRITY, Decision.TASK_DEFECT):
            with pytest.raises(Invalid, match="of a task's design"):
                reviews.decide(session, admin, subject.id, decision=decision, confidence=3, reason="so")
        reviews.decide(session, admin, subject.id, decision=Decision.REVISE, confidence=3, reason="so")


def test_a_version_is_one_item_however_many_ask(each_database, each_settings):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        admin = factories.make_viewer(session, Role.ADMIN)
        health = health_of(session, task.id)
        first = designs.ask_for_review(session, each_settings, admin, task, health, reason="new task")
        again = designs.report_defect(session, each_settings, admin, task, health, review_id="rev_1")
        slots = assignment_queries.slots_of(session, first.id)
        notes = [entry.action for entry in session.query(AuditEntry).filter(AuditEntry.action.like("task.%_%"))]

        assert again.id == first.id
        assert len(slots) == each_settings.slots_per_subject
        assert first.is_open and first.priority > 20, "a reported defect is wanted sooner"
        assert {"task.ask_review", "task.report_defect"} <= set(notes)


def test_asked_for_again_when_all_reviews_are_in_it_wants_one_more(each_database, each_settings):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        admin = factories.make_viewer(session, Role.ADMIN)
        health = health_of(session, task.id)
        subject = designs.ask_for_review(session, each_settings, admin, task, health, reason="new task")
        for slot in assignment_queries.slots_of(session, subject.id):
            slot.state = SlotState.DONE.value
        designs.report_defect(session, each_settings, admin, task, health, review_id="rev_1")
        reported = [s.state for s in assignment_queries.slots_of(session, subject.id)]
        designs.ask_for_review(session, each_settings, admin, task, health, reason="the tolerance looks loose")
        asked = [s.state for s in assignment_queries.slots_of(session, subject.id)]

    assert reported == [SlotState.DONE] * each_settings.slots_per_subject
    assert asked == [*reported, SlotState.OPEN]


def test_its_author_is_kept_from_reviewing_it(each_database, each_settings):
    with each_database.write() as session:
        author = factories.make_viewer(session, Role.ADMIN, Role.REVIEWER)
        task = factories.make_task(session, each_settings)
        task.uploaded_by_id = author.id
        subject = designs.ask_for_review(
            session, each_settings, author, task, health_of(session, task.id), reason="please look"
        )

        assert assignment_queries.is_too_close(session, author, subject.id)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 241])
def test_without_a_reason_to_show_it_is_refused(each_database, each_settings, reason):
    with each_database.write() as session:
        task = factories.make_task(session, each_settings)
        admin, reviewer = factories.make_viewer(session, Role.ADMIN), factories.make_reviewer(session)
        health = health_of(session, task.id)

        with pytest.raises(Invalid):
            designs.ask_for_review(session, each_settings, admin, task, health, reason=reason)
        with pytest.raises(NotPermitted):
            designs.ask_for_review(session, each_settings, reviewer, task, health, reason="I would like to")
