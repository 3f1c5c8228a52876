"""What happens in the house, what is told of it, and who may ask for it by REST."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from app.accounts import service as accounts
from app.assignments.queue import claim_next
from app.domain.review import Decision, Role, SubjectKind
from app.evaluations import service as evaluations
from app.exports import service as exports
from app.imports import service as imports
from app.kit.db import Database
from app.main import create_app
from app.models import ReviewSlot, ReviewSubject
from app.reviews import news
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from tests import factories
from tests.post import Post
from tests.receiver import open_receiver
from workers.jobs import export as export_job
from workers.jobs import import_submissions as import_job


@pytest.fixture
def receiver():
    with open_receiver() as receiver:
        yield receiver


@pytest.fixture
def post(database, settings, sender, receiver):
    return Post(database, settings, sender, receiver)


class TestEvents:
    """What happens in the house, and what is told of it."""

    @pytest.fixture
    def told(self, post):
        post.endpoint()
        with post.database.write() as session:
            rubrics.seed(session)

        def told():
            return [(m.event, m.data) for m in post.messages()]

        return told

    def test_an_item_is_complete_with_the_last_review_that_was_wanted(self, post, told):
        """label-studio#9557, #4831."""
        names = self._review(post, 1)
        assert [event for event, _ in told()] == ["submission.evaluated", "review.submitted"]
        names += self._review(post, 1, is_new=False)
        events = told()
        assert [event for event, _ in events] == [
            "submission.evaluated", "review.submitted", "review.submitted", "subject.completed",
        ]  # fmt: skip
        data = events[-1][1]
        assert set(data) == {"path", "subject", "submission"}
        assert data["path"] == f"/submissions/{data['submission']}/reviews"
        text = json.dumps(events)
        assert not any(name in text for name in names)

    def test_a_decision_is_told_without_what_it_is(self, post, told):
        self._review(post, 1)
        with post.database.write() as session:
            judge = factories.make_viewer(session, Role.ADJUDICATOR)
            subject_id = session.scalar(select(func.max(ReviewSlot.subject_id)))
            reviews.decide(session, judge, subject_id, decision=Decision.REJECT, confidence=3, reason="slow")
        event, data = told()[-1]
        assert event == "subject.decided" and "reject" not in json.dumps(data) and "slow" not in json.dumps(data)

    def test_other_subjects_than_submissions_lead_to_their_own_pages(self, post, told):
        with post.database.write() as session:
            version = factories.make_task(session, post.settings)
            for kind in (SubjectKind.TASK_VERSION, SubjectKind.COMPARISON):
                subject = ReviewSubject(kind=kind.value, task_version_id=version.id)
                session.add(subject)
                session.flush()
                news.tell_of_decision(session, subject.id)
        (_, design), (_, comparison) = told()
        assert design == {"path": "/tasks/row-softmax/reviews", "subject": design["subject"], "task": "row-softmax"}
        assert comparison == {"path": f"/comparisons/{comparison['subject']}", "subject": comparison["subject"]}

    def test_an_evaluation_that_is_given_up_is_no_verdict(self, post, told):
        with post.database.write() as session:
            submission = factories.make_submission(session, post.settings)
            evaluation = evaluations.request_evaluation(session, submission.id)
            attempt = evaluations.claim(session, post.settings, evaluation.public_id, "w")
            evaluations.fail(session, post.settings, attempt, "broken", is_final=True)
        assert [event for event, _ in told()] == ["evaluation.failed"]

    def test_imports_and_exports_say_when_they_are_done(self, post, told):
        with post.database.write() as session:
            upload = imports.keep_upload(post.settings, b"{}\n")
            sent = imports.request_import(session, factories.make_viewer(session), upload)
            asked = exports.request_export(session, post.admin)
        import_job.run(post.database, post.settings, sent.public_id)
        export_job.run(post.database, post.settings, asked.public_id)
        assert told() == [
            ("import.finished", {"path": f"/imports/{sent.public_id}", "import": sent.public_id}),
            ("export.finished", {"path": "/exports", "export": asked.public_id}),
        ]

    def _review(self, post, count, *, is_new=True):
        """So many reviews of an item; everybody's names and words, which no message may hold."""
        with post.database.write() as session:
            author = factories.make_viewer(session, team="secret team")
            if is_new:
                factories.make_evaluated(session, post.settings, author=author)
            names = [author.login, author.name, author.pseudonym, author.public_id, "secret team"]
            for _ in range(count):
                reviewer = factories.make_reviewer(session)
                slot = claim_next(session, post.settings, reviewer).slot
                review = reviews.open_review(session, reviewer, slot)
                reviews.submit_review(session, post.settings, reviewer, review, factories.full_content())
                names += [reviewer.login, reviewer.name, reviewer.public_id, review.feedback]
        return names


class TestApi:
    @pytest.fixture
    def call(self, post):
        app = create_app(post.settings)
        app.state.database.close()
        app.state.database = Database(post.settings, post.sender)
        with TestClient(app) as client:
            secrets = {}
            with post.database.write() as session:
                for name, viewer, scopes in (
                    ("admin", post.admin, ["webhooks"]), ("other", post.admin, ["read", "admin"]),
                ):  # fmt: skip
                    secrets[name] = accounts.create_token(session, post.settings, viewer, name=name, scopes=scopes)[1]

            def call(method, path, bearer="admin", **options):
                headers = {"Authorization": f"Bearer {secrets[bearer]}"}
                return client.request(method, f"/api/v1/webhooks{path}", headers=headers, **options)

            yield call

    def test_from_making_it_to_sending_again(self, post, call):
        body = {"url": post.receiver.url, "events": ["import.finished"]}
        made = call("POST", "", json=body).json()
        assert made["secret"].startswith("whsec_") and made["is_active"]
        one = f"/{made['id']}"
        assert "secret" not in call("GET", one).json() and "secret" not in call("GET", "").json()[0]
        changed = call("PUT", one, json=body | {"events": ["export.finished", "import.finished"]}).json()
        assert changed["events"] == ["import.finished", "export.finished"]
        assert call("POST", f"{one}/rotate").json()["secret"] not in (made["secret"], "")
        message = call("POST", f"{one}/test").json()
        post.work()
        found = call("GET", f"{one}/messages").json()["items"]
        assert [(m["id"], m["state"], m["event"]) for m in found] == [(message["id"], "delivered", "webhook.test")]
        assert call("POST", f"/messages/{message['id']}/send").status_code == 202
        assert (
            not call("POST", f"{one}/disable").json()["is_active"] and call("POST", f"{one}/enable").json()["is_active"]
        )
        assert call("DELETE", one).status_code == 204 and call("GET", "").json() == []

    def test_it_needs_the_scope(self, call):
        assert call("GET", "", bearer="other").status_code == 403

    def test_what_is_wrong_is_said(self, call):
        bad = [{"url": "ftp://x/", "events": ["import.finished"]}, {"url": "https://x.example/", "events": ["no.such"]}]
        bad += [{"url": "https://x.example/", "events": []}]
        answers = [call("POST", "", json=body) for body in bad]
        assert [a.status_code for a in answers] == [422] * 3 and all(a.json()["what_to_do"] for a in answers)

    def test_only_an_admin_may_ask_for_the_scope(self, post):
        for role in (Role.SUBMITTER, Role.REVIEWER, Role.ADJUDICATOR):
            assert "webhooks" not in accounts.scopes_allowed(frozenset({role}))
