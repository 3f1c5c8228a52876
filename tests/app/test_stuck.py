"""nbgrader#1682: "needs grading" for ever, and nobody can tell why."""

from __future__ import annotations

from app.assignments import oversight, service
from app.assignments.stuck import find_stuck
from app.domain.review import Role, SkipKind
from app.evaluations import queries as evaluation_queries
from app.evaluations import service as evaluations
from app.models import User
from app.rubrics import service as rubrics
from tests import factories


def _why(database):
    with database.read() as session:
        return [(s.subject.id, s.why) for s in find_stuck(session)]


def test_an_item_that_somebody_can_take_is_not_stuck(each_database, each_settings):
    with each_database.write() as session:
        rubrics.seed(session)
        factories.make_reviewer(session)
        factories.make_evaluated(session, each_settings)
    assert _why(each_database) == []


def test_no_reviewer_is_left_until_refusals_are_forgotten(each_database, each_settings):
    with each_database.write() as session:
        rubrics.seed(session)
        declines, close = factories.make_reviewer(session), factories.make_reviewer(session, team="red")
        author = factories.make_viewer(session, team="red")
        _, _, slots = factories.make_evaluated(session, each_settings, author=author)
        service.skip_slot(session, declines, slots[0], SkipKind.NOT_ME, "no HIP")
        subject = slots[0].subject_id
    (found,) = _why(each_database)
    assert found[0] == subject and "no reviewer is left" in found[1] and close.team == "red"

    with each_database.write() as session:
        (stuck,) = find_stuck(session)
        assert oversight.forget_refusals(session, factories.make_viewer(session, Role.ADMIN), stuck.subject) == 1
    assert _why(each_database) == []


def test_given_to_somebody_who_was_paused(database, settings):
    with database.write() as session:
        rubrics.seed(session)
        chosen, _ = factories.make_reviewer(session), factories.make_reviewer(session)
        _, _, slots = factories.make_evaluated(session, settings)
        oversight.reassign(session, factories.make_viewer(session, Role.ADMIN), slots[0], chosen)
        session.get(User, chosen.id).is_paused = True
    assert "who is paused or gone" in _why(database)[0][1]


def test_no_rubric_for_the_kind(database, settings):
    with database.write() as session:
        factories.make_reviewer(session)
        factories.make_evaluated(session, settings)
    assert "no published rubric is for 'generation'" in _why(database)[0][1]


def test_the_machine_gave_up(database, settings):
    with database.write() as session:
        rubrics.seed(session)
        submission = factories.make_submission(session, settings)
        queued = evaluation_queries.latest_of(session, submission.id)
        attempt = evaluations.claim(session, settings, queued.public_id, "w")
        evaluations.fail(session, settings, attempt, "disk full", is_final=True)
    assert "failed on our side" in _why(database)[0][1]
