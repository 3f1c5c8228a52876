"""Evaluations end exactly once, whatever happens to messages and workers."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from sqlalchemy import select, update

from app.domain.report import Verdict
from app.domain.review import EvaluationState
from app.evaluations import queries, service
from app.evaluations.service import AttemptSuperseded
from app.models import Evaluation, utc_now
from tests import factories
from tests.pages import sample_reports


@pytest.fixture
def queued(each_database, each_settings, sender):
    with each_database.write() as session:
        submission = factories.make_submission(session, each_settings)
        found = queries.latest_of(session, submission.id).public_id
    sender.jobs.clear()
    return found


def _claim(database, settings, evaluation_id, worker="w"):
    with database.write() as session:
        return service.claim(session, settings, evaluation_id, worker)


def _record(database, settings, attempt, verdict=Verdict.ACCEPTED):
    with database.write() as session:
        return service.record(session, settings, attempt, factories.make_report(verdict))


def _age(database, **columns):
    """Move an evaluation's clocks into the past, as time would."""
    past = utc_now() - dt.timedelta(hours=1)
    with database.write() as session:
        session.execute(update(Evaluation).values(dict.fromkeys(columns, past)))


def _find(database, evaluation_id):
    with database.read() as session:
        return queries.find(session, evaluation_id)


class TestClaim:
    def test_a_second_claim_is_refused(self, each_database, each_settings, queued):
        assert _claim(each_database, each_settings, queued).number == 1
        assert _claim(each_database, each_settings, queued) is None

    def test_of_many_claims_at_once_one_wins(self, each_database, each_settings, queued):
        won, start = [], threading.Barrier(6)

        def claim():
            start.wait()
            won.append(_claim(each_database, each_settings, queued))

        threads = [threading.Thread(target=claim) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sum(attempt is not None for attempt in won) == 1

    def test_an_unknown_evaluation_is_nothing_to_claim(self, each_database, each_settings):
        assert _claim(each_database, each_settings, "evl_nothing") is None


class TestRecord:
    def test_ends_the_evaluation_with_its_verdict(self, each_database, each_settings, queued):
        attempt = _claim(each_database, each_settings, queued)
        _record(each_database, each_settings, attempt, Verdict.WRONG_RESULT)

        done = _find(each_database, queued)
        assert (done.state, done.verdict) == (EvaluationState.DONE, "wrong_result")
        assert done.report["verdict"] == "wrong_result" and done.ended_at is not None

    def test_a_second_record_is_refused(self, each_database, each_settings, queued):
        attempt = _claim(each_database, each_settings, queued)
        _record(each_database, each_settings, attempt)

        with pytest.raises(AttemptSuperseded):
            _record(each_database, each_settings, attempt, Verdict.SUSPECT)
        assert _find(each_database, queued).verdict == "accepted"

    def test_a_late_record_of_a_superseded_attempt_is_refused(self, each_database, each_settings, queued):
        late = _claim(each_database, each_settings, queued)
        _age(each_database, lease_until=1)
        with each_database.write() as session:
            assert service.sweep(session, each_settings, broker_depth=0).recovered == 1
        second = _claim(each_database, each_settings, queued)

        with pytest.raises(AttemptSuperseded):
            _record(each_database, each_settings, late, Verdict.SUSPECT)
        _record(each_database, each_settings, second)
        assert _find(each_database, queued).verdict == "accepted"


class TestHeartbeat:
    def test_extends_the_lease_and_shows_the_stages(self, each_database, each_settings, queued):
        attempt = _claim(each_database, each_settings, queued)
        _age(each_database, lease_until=1)
        with each_database.write() as session:
            assert service.heartbeat(session, each_settings, attempt, [{"name": "inspect", "status": "passed"}])
        with each_database.write() as session:
            assert service.sweep(session, each_settings, broker_depth=0).recovered == 0

        assert _find(each_database, queued).progress == [{"name": "inspect", "status": "passed"}]

    def test_tells_a_superseded_worker_that_it_lost(self, each_database, each_settings, queued):
        attempt = _claim(each_database, each_settings, queued)
        with each_database.write() as session:
            service.fail(session, each_settings, attempt, "gone")
        with each_database.write() as session:
            assert not service.heartbeat(session, each_settings, attempt)


class TestFail:
    def test_queues_again_until_the_attempts_are_spent(self, each_database, each_settings, queued, sender):
        for number in range(1, each_settings.attempts_max + 1):
            attempt = _claim(each_database, each_settings, queued)
            assert attempt.number == number
            with each_database.write() as session:
                service.fail(session, each_settings, attempt, f"fault {number}")

        ended = _find(each_database, queued)
        assert (ended.state, ended.verdict, ended.failure) == (EvaluationState.FAILED, None, "fault 3")
        assert len(sender.jobs) == each_settings.attempts_max - 1
        assert _claim(each_database, each_settings, queued) is None

    def test_an_admin_gives_the_attempts_back(self, each_database, each_settings, queued):
        attempt = _claim(each_database, each_settings, queued)
        with each_database.write() as session:
            service.fail(session, each_settings, attempt, "fault", is_final=True)
        with each_database.write() as session:
            user = factories.make_user(session)
            service.retry(session, queries.find(session, queued), requested_by_id=user.id)

        assert _claim(each_database, each_settings, queued).number == 1


class TestSweep:
    def test_sends_again_what_was_committed_and_never_sent(self, each_database, each_settings, queued, sender):
        with each_database.write() as session:
            assert service.sweep(session, each_settings, broker_depth=0).resent == 0  # it may be on its way still
        _age(each_database, sent_at=1)
        with each_database.write() as session:
            assert service.sweep(session, each_settings, broker_depth=0).resent == 1

        assert sender.jobs == [("evaluate", {"evaluation_id": queued})]

    def test_waits_while_the_broker_holds_a_message_for_each(self, each_database, each_settings, queued, sender):
        recently = utc_now() - dt.timedelta(seconds=each_settings.resend_after_seconds * 2)
        with each_database.write() as session:
            session.execute(update(Evaluation).values(sent_at=recently))
        with each_database.write() as session:
            assert service.sweep(session, each_settings, broker_depth=1).resent == 0
        with each_database.write() as session:
            assert service.sweep(session, each_settings, broker_depth=None).resent == 1

    def test_a_worker_that_always_dies_is_given_up(self, each_database, each_settings, queued):
        for _ in range(each_settings.attempts_max):
            _claim(each_database, each_settings, queued, "w7")
            _age(each_database, lease_until=1)
            with each_database.write() as session:
                service.sweep(session, each_settings, broker_depth=0)

        ended = _find(each_database, queued)
        assert ended.state == EvaluationState.FAILED and "w7 stopped answering" in ended.failure
        with each_database.read() as session:
            kinds = [event.kind for event in queries.events_of(session, ended.id)]
        assert kinds[-1] == "given_up" and kinds.count("claimed") == each_settings.attempts_max


def test_the_database_itself_refuses_a_done_evaluation_without_a_report(each_database, queued):
    from sqlalchemy.exc import IntegrityError

    with pytest.raises(IntegrityError), each_database.write() as session:
        session.scalars(select(Evaluation)).one().state = "done"


class TestNewestJudged:
    def test_names_each_submission_once_with_the_codes_of_its_newest_report(self, each_database, each_settings):
        with each_database.write() as session:
            submission, _, _ = factories.make_evaluated(
                session, each_settings, report=sample_reports.wrong_result(), title="tail"
            )
            service.request_evaluation(session, submission.id, reason="again")
            factories.evaluate(session, each_settings, submission, sample_reports.accepted())
            author = submission.author_id

        with each_database.read() as session:
            found = queries.newest_judged(session, author_id=author, limit=5)
            others = queries.newest_judged(session, author_id=author + 1, limit=5)

        assert [one.title for one in found] == ["tail"] and others == []
        assert "numerics.wrong_values" not in found[0].codes
