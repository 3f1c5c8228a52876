"""One submission through the real judge and sandbox, by the job: what the demo does, in a test."""

from __future__ import annotations

import pytest

from app.admin import demo
from app.assignments import queries as assignment_queries
from app.config import REPOSITORY
from app.evaluations import queries
from app.reviews import scoring
from app.rubrics.content import as_rubric, read_yaml
from app.submissions import service as submissions
from app.submissions.service import NewSubmission
from app.tasks import service as tasks
from tests import factories
from tests.conftest import make_settings
from workers.jobs import evaluate, resources

TORCH = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not TORCH.exists(), reason="the torch runtime is not installed")]


@pytest.fixture
def judged(database, settings, monkeypatch):
    """Evaluates a file of the demo for real; its submission's report, and the row."""
    real = make_settings(settings.data_dir, runtimes={"torch": TORCH}, warm=False)
    # The job reads the process's settings, which a test must not share with others.
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("WORKBENCH_WARM", "false")
    for cached in (resources.load_settings, resources._sandboxes):
        cached.cache_clear()

    def judge(path: str, **more):
        source = demo.SUBMISSIONS / path
        with database.write() as session:
            tasks.upload_folder(session, real, demo.TASKS / source.parent.name, actor_id=None)
            new = NewSubmission(files={source.name: source.read_bytes()}, task=source.parent.name, **more)
            done = submissions.submit(session, real, factories.make_viewer(session), new)
        evaluate.run(database, real, lambda: resources.engine_of(real), done.evaluation.public_id)
        with database.read() as session:
            return queries.find(session, done.evaluation.public_id), done.submission

    yield judge
    resources.cool_down()
    for cached in (resources.load_settings, resources._sandboxes):
        cached.cache_clear()


def test_a_good_kernel_with_claims_is_accepted_and_opens_slots(judged, database):
    speed = {"speedup": 2.0, "baseline": "torch.mul", "device": "H100"}
    evaluation, submission = judged("vector-scale/plain.py", claims=[speed, {"max_ulp": 1}])

    assert (evaluation.state, evaluation.verdict, evaluation.failure) == ("done", "accepted", None)
    assert evaluation.report["submission"]["sha256"] == submission.sha256
    assert evaluation.report["task"]["name"] == "vector-scale"
    assert [claim["status"] for claim in evaluation.report["claims"]] == ["not_measured", "confirmed"]
    assert "explained" not in scoring.caps(_generation(), evaluation.report)
    with database.read() as session:
        assert assignment_queries.count_states(session)["open"] == 2


def test_a_contradicted_claim_caps_what_is_said_of_the_explanation(judged):
    evaluation, _ = judged("row-softmax/forgets_the_tail.py", claims=[{"max_abs_error": 1e-6}, "no copies"])

    contradicted, for_a_person = evaluation.report["claims"]
    assert (contradicted["status"], for_a_person["checkable"]) == ("contradicted", False)
    assert contradicted["evidence"][0].startswith("numerics.")
    assert scoring.caps(_generation(), evaluation.report)["explained"] == (0, "claims.contradicted")


def _generation():
    return as_rubric(read_yaml((REPOSITORY / "app/rubrics/data/generation.yaml").read_text()))


def test_a_bad_kernel_is_a_verdict_and_no_failure(judged):
    evaluation, _ = judged("vector-scale/in_place.py")

    assert (evaluation.state, evaluation.verdict) == ("done", "wrong_result")
    assert any(f["code"] == "integrity.input_mutated" for f in evaluation.report["findings"])
