"""Exports: the same bytes each time, whole rows, and no names."""

from __future__ import annotations

import datetime as dt
import hashlib
import json

import pytest
from sqlalchemy import select

from app.accounts.policy import viewer_of
from app.assignments.queue import claim_next
from app.domain.review import Decision, Role
from app.errors import Invalid, NotPermitted
from app.experiments import service as experiments
from app.experiments.service import Asked
from app.exports import queries, service
from app.models import Review, SubjectDecision, utc_now
from app.reviews import corrections
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from tests import factories
from workers.jobs import experiment as experiment_job
from workers.jobs import export as job


@pytest.fixture
def judge(database, settings):
    """An adjudicator in a house with three reviews of two submissions, one of them decided."""
    with database.write() as session:
        rubrics.seed(session)
        judge = factories.make_viewer(session, Role.ADJUDICATOR)
        for _ in range(2):
            _, _, slots = factories.make_evaluated(
                session, settings, author=factories.make_viewer(session, team="secret team")
            )
        for _ in range(3):
            _review(session, settings)
        reviews.decide(session, judge, slots[0].subject_id, decision=Decision.REJECT, confidence=3, reason="slow")
        return judge


def _review(session, settings):
    reviewer = factories.make_reviewer(session)
    claim = claim_next(session, settings, reviewer)
    review = reviews.open_review(session, reviewer, claim.slot)
    return reviews.submit_review(session, settings, reviewer, review, factories.full_content())


def _export(database, settings, viewer, **filters):
    with database.write() as session:
        export_id = service.request_export(session, viewer, filters=filters).public_id
    return export_id, _write(database, settings, export_id)


def _write(database, settings, export_id):
    job.run(database, settings, export_id)
    with database.read() as session:
        export = queries.find(session, export_id)
    assert export.state == "done", export.failure
    return export.manifest, service.file_of(settings, export).read_bytes()


def test_a_row_holds_all_that_is_needed(database, settings, judge):
    _, (manifest, data) = _export(database, settings, judge)
    rows = [json.loads(line) for line in data.splitlines()]

    assert manifest["rows"] == len(rows) == 3
    assert manifest["sha256"] == hashlib.sha256(data).hexdigest()
    row = rows[0]
    assert row["submission"]["files"][0]["text"].startswith("import triton")
    assert row["rubric"]["sha256"] and row["rubric"]["version"] == 1 and row["task"]["sha256"]
    assert row["evaluation"]["verdict"] == "accepted" and row["evaluation"]["report"]["schema_version"] == 1
    assert row["review"]["total"] == pytest.approx(200 / 3, abs=5) and row["review"]["feedback"]
    assert {r["final_decision"]["decision"] for r in rows if r["final_decision"]} == {"reject"}


def test_a_row_holds_the_experiments_that_had_ended_when_the_review_was_submitted(database, settings, judge):
    with database.write() as session:
        factories.make_evaluated(session, settings, author=factories.make_viewer(session))
        reviewer = factories.make_reviewer(session)
        review = reviews.open_review(session, reviewer, claim_next(session, settings, reviewer).slot)
        asked = Asked({"rows": 4, "cols": 127}, seed=7, sources={"solution.py": "import triton\n# changed\n"})
        ended, late = (experiments.request_experiment(session, settings, reviewer, review, asked) for _ in range(2))
    experiment_job.run(database, settings, lambda: lambda *_: factories.make_report(), ended.public_id)
    with database.write() as session:
        reviews.submit_review(
            session, settings, reviewer, review_queries.find(session, review.public_id), factories.full_content()
        )
    experiment_job.run(database, settings, lambda: lambda *_: factories.make_report(), late.public_id)

    _, (_, data) = _export(database, settings, judge)
    row = next(r for r in map(json.loads, data.splitlines()) if r["review"]["id"] == review.public_id)
    (found,) = row["experiments"]
    assert (found["id"], found["label"], found["came_out_as"]) == (ended.public_id, "reviewer experiment", "accepted")
    assert (found["params"], found["seed"], found["report"]["verdict"]) == ({"rows": 4, "cols": 127}, 7, "accepted")
    assert [f["text"] for f in found["changed_files"]] == ["import triton\n# changed\n"]


def test_names_nobody(database, settings, judge):
    _, (_, data) = _export(database, settings, judge)
    with database.read() as session:
        from app.accounts import queries as account_queries

        for user in account_queries.list_users(session):
            for private in (user.name, user.public_id, f'"{user.login}"'):
                assert private.encode() not in data
    assert b"secret team" not in data


def test_is_made_again_byte_for_byte(database, settings, judge):
    export_id, (manifest, data) = _export(database, settings, judge)
    with database.write() as session:
        _review(session, settings)  # after the cutoff
        export = queries.find(session, export_id)
        export.state, export.manifest = "queued", None
    assert _write(database, settings, export_id) == (manifest, data)

    _, (later, _) = _export(database, settings, judge)
    assert later["rows"] == 4


def test_is_filtered_by_time_and_task(database, settings, judge):
    since = (utc_now() + dt.timedelta(seconds=1)).isoformat()
    assert _export(database, settings, judge, since=since)[1][0]["rows"] == 0
    assert _export(database, settings, judge, task="row-softmax")[1][0]["rows"] == 3
    assert _export(database, settings, judge, task="another")[1][0]["rows"] == 0


def _corrected(database, settings, review_id):
    with database.write() as session:
        review = review_queries.find(session, review_id)
        viewer = viewer_of(review.reviewer)
        draft = corrections.open_correction(session, viewer, review)
        content = {**factories.full_content(), "feedback": "Not so.", "what_changed": "Misread the mask."}
        return reviews.submit_review(session, settings, viewer, draft, content).public_id


def test_a_corrected_review_is_one_row_as_it_stands_and_every_revision_when_asked_for(database, settings, judge):
    with database.read() as session:
        undecided = Review.subject_id.not_in(select(SubjectDecision.subject_id))
        before = session.scalars(select(Review.public_id).where(undecided)).first()
    earlier_id, earlier = _export(database, settings, judge)
    after = _corrected(database, settings, before)

    def rows(**filters):
        _, (_, data) = _export(database, settings, judge, **filters)
        return {row["review"]["id"]: row["review"] for row in map(json.loads, data.splitlines())}

    assert len(rows()) == 3 and before not in rows()
    now = rows()[after]
    assert (now["revision"], now["supersedes"], now["is_first_answer"]) == (2, before, False)
    assert (now["feedback"], now["what_changed"]) == ("Not so.", "Misread the mask.")
    first = rows(revisions="first")
    assert len(first) == 3 and (first[before]["is_first_answer"], first[before]["supersedes"]) == (True, None)
    assert set(rows(revisions="all")) == {*first, after}
    with database.write() as session:
        export = queries.find(session, earlier_id)
        export.state, export.manifest = "queued", None
    assert _write(database, settings, earlier_id) == earlier


@pytest.mark.parametrize(
    "filters", [{"revisions": "some"}, {"since": "yesterday"}, {"since": "2026-01-01"}, {"colour": "red"}]
)
def test_odd_filters_are_refused(database, judge, filters):
    with database.write() as session, pytest.raises(Invalid):
        service.request_export(session, judge, filters=filters)


def test_is_for_adjudicators(database):
    with database.write() as session, pytest.raises(NotPermitted):
        service.request_export(session, factories.make_reviewer(session))


def test_a_lost_source_is_our_fault_and_tried_again(database, settings, judge, sender):
    for blob in (settings.blobs_dir).rglob("*"):
        if blob.is_file():
            blob.unlink()
    with database.write() as session:
        export_id = service.request_export(session, judge).public_id
    for _ in range(settings.attempts_max):
        job.run(database, settings, export_id)
    with database.read() as session:
        export = queries.find(session, export_id)
    assert export.state == "failed" and "missing from the blob store" in export.failure
    assert sum(name == "export" for name, _ in sender.jobs) == settings.attempts_max


def test_one_worker_writes_it(database, judge):
    with database.write() as session:
        export_id = service.request_export(session, judge).public_id
    with database.write() as session:
        assert service.claim(session, export_id) is not None
    with database.write() as session:
        assert service.claim(session, export_id) is None
