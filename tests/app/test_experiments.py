"""The bench: refused early, few at a time, run once, as blind as its review, and never a verdict."""

from __future__ import annotations

import dataclasses
import datetime as dt
import tomllib

import pytest
from sqlalchemy import update

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.review import EvaluationState, ExperimentTarget, ReviewState, Role
from app.errors import Conflict, Invalid, NotFound, NotPermitted, TooManyRequests
from app.experiments import derived, queries, service
from app.experiments.service import Asked, AttemptSuperseded
from app.models import Experiment, Review, utc_now
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from tests import factories
from workers.jobs import experiment as job

PARAMS = {"rows": 4, "cols": 127}


@pytest.fixture
def bench(each_database, each_settings):
    return Bench(each_database, each_settings)


class Bench:
    """A submission under review by `first`; `second` reviews it too."""

    def __init__(self, database, settings, **submission):
        self.database, self.settings = database, settings
        with database.write() as session:
            rubrics.seed(session)
            self.author = factories.make_viewer(session, Role.SUBMITTER, Role.ADJUDICATOR)
            self.first, self.second = factories.make_reviewer(session), factories.make_reviewer(session)
            self.judge = factories.make_viewer(session, Role.ADJUDICATOR)
            self.submission, self.evaluation, self.slots = factories.make_evaluated(
                session, settings, author=self.author, **submission
            )
        self.reviews = {viewer.id: self._open(viewer, n) for n, viewer in enumerate((self.first, self.second))}

    def _open(self, viewer, number):
        with self.database.write() as session:
            slot = assignment_queries.find_slot(session, self.slots[number].public_id)
            return reviews.open_review(
                session, viewer, assignments.claim_slot(session, self.settings, viewer, slot).slot
            ).public_id

    def ask(self, viewer=None, *, of=None, **asked):
        viewer = viewer or self.first
        with self.database.write() as session:
            review = review_queries.find(session, self.reviews[(of or viewer).id])
            made = service.request_experiment(
                session, self.settings, viewer, review, Asked(**{"params": PARAMS} | asked)
            )
            return made.public_id

    def find(self, experiment_id):
        with self.database.read() as session:
            return queries.find(session, experiment_id)

    def run(self, experiment_id, report=None):
        """The job, with a judge that has made up its mind; what it was asked is kept."""
        seen = []

        def engine(request, _progress):
            seen.append(tomllib.loads((request.task_folder / "task.toml").read_text()))
            path = request.submission
            files = [path] if path.is_file() else sorted(path.rglob("*.py"))
            seen.append({f.name: f.read_text() for f in files} | {"framework": request.framework})
            return report or factories.make_report()

        job.run(self.database, self.settings, lambda: engine, experiment_id)
        return seen

    def submit(self, viewer):
        with self.database.write() as session:
            review = review_queries.find(session, self.reviews[viewer.id])
            reviews.submit_review(session, self.settings, viewer, review, factories.full_content())

    def sees(self, viewer, experiment_id):
        with self.database.read() as session:
            try:
                queries.find_visible(session, viewer, experiment_id)
            except NotFound:
                return False
            return True


class TestRun:
    def test_a_result_is_evidence_and_the_verdict_stays(self, bench, sender):
        asked = bench.ask(seed=7)
        bench.run(asked, factories.make_report(factories.Verdict.WRONG_RESULT))
        made = bench.find(asked)

        assert (made.state, made.verdict, made.seed) == (EvaluationState.DONE, "wrong_result", 7)
        assert ("experiment", {"experiment_id": asked}) in sender.jobs
        with bench.database.read() as session:
            review = review_queries.find(session, bench.reviews[bench.first.id])
        assert review.evaluation.verdict == "accepted"

    def test_the_judge_is_given_the_task_with_this_workload_alone(self, bench):
        task, given = bench.run(bench.ask(tolerance={"rtol": 0.5}, family="huge"))

        assert task["workloads"] == [{"name": "experiment", "params": PARAMS}]
        assert task["tolerance"] == {"rtol": 0.5} and task["contract"] == {"values": ["huge"]}
        assert given["framework"] == "triton" and "import triton" in given["solution.py"]

    def test_the_reference_runs_as_if_submitted(self, bench):
        task, given = bench.run(bench.ask(target=ExperimentTarget.REFERENCE))

        assert (task["entry"], task["frameworks"]) == ("reference", ["torch"])
        assert given["reference.py"] == factories.REFERENCE and given["framework"] == "torch"

    def test_a_changed_source_is_kept_and_run_and_the_submission_stays(self, bench):
        asked = bench.ask(sources={"solution.py": "import triton\r\n# mine\r\n"})
        _, given = bench.run(asked)

        assert given["solution.py"] == "import triton\n# mine\n"
        assert "+# mine" in service.differences(bench.settings, bench.find(asked))[0]
        again = bench.run(bench.ask())[1]
        assert "# mine" not in again["solution.py"]

    def test_a_source_sent_back_as_a_form_sends_it_is_no_change(self, each_database, each_settings):
        bench = Bench(each_database, each_settings, source="import triton\r\n# mixed\n# line ends\r")

        assert bench.find(bench.ask(sources={"solution.py": "import triton\r\n# mixed\r\n# line ends\r\n"})).patch == []

    def test_a_second_message_does_nothing(self, bench):
        asked = bench.ask()
        bench.run(asked)

        assert bench.run(asked) == [] and bench.find(asked).attempts == 1

    def test_a_late_worker_is_refused(self, bench):
        asked = bench.ask()
        with bench.database.write() as session:
            first = service.claim(session, bench.settings, asked)
            service.fail(session, bench.settings, first, "lost")
            second = service.claim(session, bench.settings, asked)
        with bench.database.write() as session, pytest.raises(AttemptSuperseded):
            service.record(session, bench.settings, first, factories.make_report())
        with bench.database.write() as session:
            service.record(session, bench.settings, second, factories.make_report())

    def test_a_worker_that_died_is_tried_again_and_then_given_up(self, bench):
        asked = bench.ask()
        for _ in range(bench.settings.attempts_max):
            with bench.database.write() as session:
                service.claim(session, bench.settings, asked)
                session.execute(update(Experiment).values(lease_until=utc_now() - dt.timedelta(seconds=1)))
                assert service.sweep(session, bench.settings) == 1

        made = bench.find(asked)
        assert (made.state, made.failure) == (EvaluationState.FAILED, "its worker stopped answering")

    def test_what_no_worker_took_is_sent_again(self, bench, sender):
        asked = bench.ask()
        sender.jobs.clear()
        with bench.database.write() as session:
            session.execute(update(Experiment).values(sent_at=utc_now() - dt.timedelta(hours=1)))
            service.sweep(session, bench.settings)

        assert sender.jobs == [("experiment", {"experiment_id": asked})]


class TestRefused:
    def test_more_than_a_few_at_a_time(self, bench):
        first = bench.ask()
        bench.ask()
        with pytest.raises(TooManyRequests):
            bench.ask()
        bench.ask(bench.second)
        bench.run(first)
        bench.ask()

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"target": ExperimentTarget.PARENT}, "no revision"),
            ({"target": ExperimentTarget.BASELINE}, "no baseline"),
            ({"seed": 1 << 31}, "a seed is"),
            ({"tolerance": {"atol": -1.0}}, "tolerance.atol"),
            ({"sources": {"other.py": ""}}, "not in the submission"),
            ({"target": ExperimentTarget.REFERENCE, "sources": {"solution.py": ""}}, "only the submission's"),
        ],
    )
    def test_what_cannot_be_run(self, bench, asked, said):
        with pytest.raises(Invalid, match=said):
            bench.ask(**asked)

    def test_in_the_review_of_another(self, bench):
        for viewer in (bench.second, bench.judge, bench.author):
            with pytest.raises(NotPermitted):
                bench.ask(viewer, of=bench.first)

    def test_once_the_review_is_in(self, bench):
        bench.submit(bench.first)
        with pytest.raises(NotPermitted):
            bench.ask()

    def test_a_proposal_of_another_or_without_a_result(self, bench):
        asked = bench.ask()
        with bench.database.write() as session, pytest.raises(Conflict):
            service.propose(session, bench.first, queries.find(session, asked), reason="")
        bench.run(asked)
        with bench.database.write() as session, pytest.raises(NotPermitted):
            service.propose(session, bench.second, queries.find(session, asked), reason="")


class TestBlind:
    def test_until_the_own_review_is_in_only_its_maker_and_staff_see_it(self, bench):
        asked = bench.ask()
        assert [bench.sees(v, asked) for v in (bench.first, bench.second, bench.judge, bench.author)] == [
            True, False, True, False,
        ]  # fmt: skip

        bench.submit(bench.first)
        assert not bench.sees(bench.second, asked)
        bench.submit(bench.second)
        assert bench.sees(bench.second, asked)
        assert not bench.sees(bench.author, asked)

    def test_who_could_submit_never_sees_those_of_others(self, bench):
        asked = bench.ask()
        bench.submit(bench.first)
        bench.submit(bench.second)

        assert not bench.sees(
            dataclasses.replace(bench.second, roles=frozenset({Role.REVIEWER, Role.SUBMITTER})), asked
        )


def test_a_proposal_waits_for_who_keeps_the_task(bench):
    asked = bench.ask()
    bench.run(asked)
    with bench.database.write() as session:
        service.propose(session, bench.first, queries.find(session, asked), reason="the tail")
    with bench.database.read() as session:
        (proposed,) = queries.proposed(session)

    assert (proposed.public_id, proposed.proposal) == (asked, "the tail")
    workload = tomllib.loads(derived.workload_toml(proposed, "odd"))["workloads"]
    assert workload == [{"name": "odd", "params": PARAMS, "hidden": True}]


def test_a_submitted_review_rests_on_what_had_ended_by_then(bench):
    ended, running = bench.ask(), bench.ask()
    bench.run(ended)
    bench.submit(bench.first)
    bench.run(running)
    with bench.database.read() as session:
        review = session.get_one(Review, review_queries.find(session, bench.reviews[bench.first.id]).id)
        assert review.state == ReviewState.SUBMITTED
        assert [e.public_id for e in queries.seen_when_submitted(session, review)] == [ended]
