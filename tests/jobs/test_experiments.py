"""Experiments by a real worker, and by the real judge: the time limit, the reference, a changed source."""

from __future__ import annotations

import pytest

from app.admin import demo
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.config import REPOSITORY
from app.domain.review import EvaluationState, ExperimentTarget
from app.experiments import queries, service
from app.experiments.service import Asked
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from app.tasks import service as tasks
from tests import factories
from tests.conftest import make_settings
from tests.jobs.conftest import wait_for
from workers.jobs import experiment as job
from workers.jobs import resources

pytestmark = pytest.mark.slow
TORCH = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
DEMO = "vector-scale"


def _review(session, settings, **submission):
    """A reviewer with a review open."""
    rubrics.seed(session)
    viewer = factories.make_reviewer(session)
    _, _, slots = factories.make_evaluated(session, settings, **submission)
    slot = assignment_queries.find_slot(session, slots[0].public_id)
    slot = assignments.claim_slot(session, settings, viewer, slot).slot
    return viewer, reviews.open_review(session, viewer, slot).public_id


def _ask(database, settings, viewer, review_id, **asked):
    with database.write() as session:
        review = review_queries.find(session, review_id)
        return service.request_experiment(session, settings, viewer, review, Asked(**asked)).public_id


def _find(database, experiment_id):
    with database.read() as session:
        return queries.find(session, experiment_id)


def test_one_that_takes_too_long_is_ended_and_the_next_runs(house):
    with house.database.write() as session:
        viewer, review_id = _review(session, house.settings)
    asked = {"params": {"rows": 4, "cols": 8}}
    long = _ask(house.database, house.settings, viewer, review_id, sources={"solution.py": "# sleep 60\n"}, **asked)
    short = _ask(house.database, house.settings, viewer, review_id, **asked)
    wait_for(lambda: _find(house.database, short).state == EvaluationState.DONE, 60)

    ended = _find(house.database, long)
    assert (ended.state, ended.failure, ended.attempts) == (EvaluationState.FAILED, "it took longer than 3 s", 1)


@pytest.fixture
def real(database, settings, monkeypatch):
    """Runs an experiment beside a wrong kernel of the demo, by the real judge."""
    if not TORCH.exists():
        pytest.skip("the torch runtime is not installed")
    real = make_settings(settings.data_dir, runtimes={"torch": TORCH}, experiments_in_flight_max=9)
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(settings.data_dir))
    for cached in (resources.load_settings, resources._sandboxes):
        cached.cache_clear()
    wrong = (demo.SUBMISSIONS / DEMO / "in_place.py").read_text()
    with database.write() as session:
        task = tasks.upload_folder(session, real, demo.TASKS / DEMO, actor_id=None)
        viewer, review_id = _review(session, real, task=task, source=wrong)

    def run(**asked):
        experiment_id = _ask(database, real, viewer, review_id, **asked)
        job.run(database, real, lambda: resources.engine_of(real), experiment_id)
        return _find(database, experiment_id)

    yield run
    resources.cool_down()
    for cached in (resources.load_settings, resources._sandboxes):
        cached.cache_clear()


def test_the_real_judge_answers_what_a_reviewer_asks(real):
    wrong = real(params={"n": 127}, seed=11)
    reference = real(params={"n": 127}, seed=11, target=ExperimentTarget.REFERENCE)
    good = (demo.SUBMISSIONS / DEMO / "plain.py").read_text()
    patched = real(params={"n": 127}, sources={"solution.py": good}, family="zeros")
    nothing = real(params={"n": -1})

    outcomes = [(e.state, e.verdict, e.failure) for e in (wrong, reference, patched, nothing)]
    assert outcomes == [
        ("done", "wrong_result", None), ("done", "accepted", None), ("done", "accepted", None),
        ("done", "invalid_task", None),
    ]  # fmt: skip
    assert wrong.report["replay"]["seeds"] == reference.report["replay"]["seeds"]
    assert [o["elements"] for run in reference.outcome["runs"] for o in run["outputs"]] == [127]
    assert [(run["values"], run["status"]) for run in patched.outcome["runs"]] == [
        ("", "passed"), ("zeros values", "passed"),
    ]  # fmt: skip
