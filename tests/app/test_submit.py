"""Submitting: the row, its source, its subject and its evaluation, in one transaction."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, select

from app.domain.review import Role
from app.errors import Gone, Invalid, NotFound, NotPermitted
from app.models import Evaluation, ReviewSubject, Submission
from app.submissions import service
from app.submissions.service import NewSubmission
from app.tasks import service as tasks
from tests import factories


def _new(**overrides):
    return NewSubmission(**({"files": {"solution.py": b"import triton\n"}, "task": "row-softmax"} | overrides))


@pytest.fixture
def author(database, settings):
    with database.write() as session:
        factories.make_task(session, settings)
        return factories.make_viewer(session)


class TestSubmit:
    def test_keeps_the_source_and_queues_an_evaluation_after_commit(self, database, settings, author, sender):
        with database.write() as session:
            done = service.submit(session, settings, author, _new())
            assert sender.jobs == []

        assert done.is_new
        assert sender.jobs == [("evaluate", {"evaluation_id": done.evaluation.public_id})]
        with database.read() as session:
            kept = session.scalars(select(Submission)).one()
            assert kept.framework == "triton"
            assert [f.text for f in service.source_files(settings, kept)] == ["import triton\n"]
            assert session.scalars(select(ReviewSubject)).one().submission_id == kept.id

    def test_claims_become_part_of_the_source(self, database, settings, author):
        with database.write() as session:
            plain = service.submit(session, settings, author, _new()).submission
            bold = service.submit(session, settings, author, _new(claims=[{"max_ulp": 2.0}])).submission

        assert bold.id != plain.id and bold.claims == [{"max_ulp": 2.0}]
        assert [f["path"] for f in bold.files] == ["claims.json", "solution.py"]

    def test_the_same_bytes_sent_at_once_are_one_submission(self, each_database, each_settings):
        with each_database.write() as session:
            factories.make_task(session, each_settings)
            viewer = factories.make_viewer(session)
        done, start = [], threading.Barrier(4)

        def send():
            start.wait()
            with each_database.write() as session:
                done.append(service.submit(session, each_settings, viewer, _new()))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(d.is_new for d in done) == [False, False, False, True]
        assert len({d.submission.id for d in done}) == 1

    def test_the_same_bytes_again_return_the_same_submission(self, database, settings, author, sender):
        with database.write() as session:
            first = service.submit(session, settings, author, _new())
        with database.write() as session:
            again = service.submit(session, settings, author, _new())

        assert not again.is_new and again.submission.id == first.submission.id
        assert len(sender.jobs) == 1

    def test_another_author_gets_a_submission_of_their_own(self, database, settings, author):
        with database.write() as session:
            first = service.submit(session, settings, author, _new())
            second = service.submit(session, settings, factories.make_viewer(session), _new())

        assert first.submission.id != second.submission.id
        assert first.submission.pseudonym != second.submission.pseudonym

    def test_a_revision_counts_on_from_its_parent(self, database, settings, author):
        with database.write() as session:
            first = service.submit(session, settings, author, _new()).submission
            new = _new(files={"solution.py": b"import triton  # better\n"}, parent=first.public_id)
            second = service.submit(session, settings, author, new).submission

        assert (second.revision, second.parent_id) == (2, first.id)

    def test_nobody_revises_anothers_work(self, database, settings, author):
        with database.write() as session, pytest.raises(NotFound):
            other = service.submit(session, settings, author, _new()).submission
            service.submit(session, settings, factories.make_viewer(session), _new(parent=other.public_id))

    def test_a_rolled_back_submission_sends_nothing(self, database, settings, author, sender):
        with pytest.raises(RuntimeError), database.write() as session:
            service.submit(session, settings, author, _new())
            raise RuntimeError

        assert sender.jobs == []
        with database.read() as session:
            assert session.scalar(select(func.count()).select_from(Evaluation)) == 0

    @pytest.mark.parametrize(
        ("files", "says"),
        [
            ({"solution.py": b"\x7fELF\x00\x01"}, "`solution.py` is not text"),
            ({"../solution.py": b"x"}, "'../solution.py' is refused"),
            ({"/etc/passwd": b"x"}, "'/etc/passwd' is refused"),
            ({"claims.json": b"[]"}, "no source file"),
            ({"solution.py": b"x", "claims.json": b"{"}, "claims.json is not JSON"),
            ({"solution.py": b"x", "claims.json": b'[{"max_ulp": "low"}]'}, "claims.json: claim 1: max_ulp: must be"),
        ],
    )
    def test_bad_sources_are_named(self, database, settings, author, files, says):
        with database.write() as session, pytest.raises(Invalid) as caught:
            service.submit(session, settings, author, _new(files=files))

        assert says in caught.value.message
        assert caught.value.what_to_do

    def test_a_framework_that_the_task_does_not_take_is_refused(self, database, settings, author):
        with database.write() as session, pytest.raises(Invalid, match="does not take nki"):
            service.submit(session, settings, author, _new(framework="nki"))

    def test_an_unknown_task_is_not_found(self, database, settings, author):
        with database.write() as session, pytest.raises(NotFound, match="'nope'"):
            service.submit(session, settings, author, _new(task="nope"))

    def test_a_retired_task_is_gone(self, database, settings, author):
        with database.write() as session, pytest.raises(Gone):
            tasks.retire(session, factories.make_task(session, settings).task, actor_id=None)
            service.submit(session, settings, author, _new())

    def test_only_submitters_submit(self, database, settings, author):
        with database.write() as session, pytest.raises(NotPermitted):
            service.submit(session, settings, factories.make_viewer(session, Role.REVIEWER), _new())


@pytest.mark.parametrize(
    ("source", "framework"),
    [
        ("import triton\nimport torch\n", "triton"),
        ("import torch\n", "torch"),
        ("import torch\nfrom torch.utils.cpp_extension import load_inline\n", "cuda"),
        ("__global__ void k() {}", "cuda"),
        ("from jax.experimental import pallas as pl\n", "pallas"),
    ],
)
def test_the_framework_is_guessed_from_the_source(source, framework):
    from app.submissions.sources import guess_framework

    assert guess_framework({"a": source.encode()}, ["torch"]) == framework
