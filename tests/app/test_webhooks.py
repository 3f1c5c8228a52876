"""Webhooks: signed after the standard, kept with what they tell of, tried again, and sent again when asked."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
import socket
import threading

import pytest
from sqlalchemy import select, update

from app.domain.events import Event
from app.errors import Conflict, NotPermitted
from app.models import AuditEntry, WebhookDelivery, WebhookEndpoint, utc_now
from app.webhooks import deliveries, outbox, queries, sending, service, signing
from tests import factories
from tests.post import Post
from tests.receiver import open_receiver
from workers.jobs import sweep


@pytest.fixture
def receiver():
    with open_receiver() as receiver:
        yield receiver


@pytest.fixture
def post(database, settings, sender, receiver):
    return Post(database, settings, sender, receiver)


def is_signed_by(secret, headers, body):
    """As a receiver checks it, written anew."""
    key = base64.b64decode(secret.split("_", 1)[1])
    content = headers["webhook-id"].encode() + b"." + headers["webhook-timestamp"].encode() + b"." + body
    wanted = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return f"v1,{wanted}" in headers["webhook-signature"].split(" ")


class TestSignature:
    def test_is_the_standards_published_example(self):
        secret, message = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
        found = signing.signature(secret, message, 1614265330, b'{"test": 2432232314}')
        assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    def test_secrets_are_new_and_as_long_as_the_standard_asks(self):
        first, second = signing.new_secret(), signing.new_secret()
        assert first != second and first.startswith("whsec_")
        assert 24 <= len(base64.b64decode(first.removeprefix("whsec_"))) <= 64


class TestMessage:
    def test_is_thin_signed_and_names_its_event(self, post):
        endpoint = post.endpoint()
        post.tell(submission="sub_1", evaluation="evl_1")
        post.work()

        ((path, headers, body),) = post.receiver.got
        assert path == "/hook?for=us" and headers["content-type"] == "application/json"
        said = json.loads(body)
        assert said["type"] == "submission.evaluated" and dt.datetime.fromisoformat(said["timestamp"]).tzinfo
        assert said["data"] == {
            "submission": "sub_1", "evaluation": "evl_1", "url": "https://workbench.example/submissions/sub_1",
        }  # fmt: skip
        assert is_signed_by(endpoint.secret, headers, body)
        assert not is_signed_by(endpoint.secret, headers, body + b" ")
        assert abs(int(headers["webhook-timestamp"]) - utc_now().timestamp()) < 60
        (message,) = post.messages()
        assert (message.state, message.last_status, message.public_id) == ("delivered", 204, headers["webhook-id"])

    def test_goes_to_whom_asked_for_its_type_and_to_nobody_else(self, post):
        post.endpoint(Event.REVIEW_SUBMITTED)
        post.tell(Event.SUBMISSION_EVALUATED)
        assert post.messages() == []
        post.tell(Event.REVIEW_SUBMITTED)
        assert [m.event for m in post.messages()] == ["review.submitted"]

    def test_is_kept_or_not_with_what_it_tells_of(self, post):
        post.endpoint()
        with pytest.raises(RuntimeError), post.database.write() as session:
            outbox.emit(session, Event.IMPORT_FINISHED, path="/imports")
            raise RuntimeError
        assert post.messages() == [] and post.sender.jobs == []

    def test_a_broker_that_is_away_loses_nothing(self, post):
        post.endpoint()
        post.sender.is_down = True
        post.tell()
        post.sender.is_down = False
        with post.database.write() as session:
            session.execute(update(WebhookDelivery).values(sent_at=utc_now() - dt.timedelta(hours=1)))
        post.later()
        assert [m.state for m in post.messages()] == ["delivered"]

    def test_two_workers_at_once_send_it_once(self, each_database, each_settings, sender, receiver):
        post = Post(each_database, each_settings, sender, receiver)
        post.endpoint()
        post.tell()
        (message,) = post.messages()
        taken, together = [], threading.Barrier(4)

        def take():
            together.wait()
            with each_database.write() as session:
                taken.append(deliveries.claim(session, post.settings, message.public_id))

        threads = [threading.Thread(target=take) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len([parcel for parcel in taken if parcel is not None]) == 1


class TestFailure:
    def test_it_is_tried_again_later_and_later_under_the_same_id(self, post):
        endpoint = post.endpoint()
        post.receiver.status, post.receiver.body = 500, b"no <b>room</b>\0"
        post.tell()
        pauses = []
        post.work()
        for _ in range(deliveries.ATTEMPTS_MAX - 1):
            (message,) = post.messages()
            assert (message.state, message.last_status, message.last_answer) == ("waiting", 500, "no <b>room</b>␀")
            pauses.append((message.next_at - message.last_at).total_seconds())
            post.later()
        (message,) = post.messages()
        assert (message.state, message.attempts) == ("failed", 10)
        for pause, wanted in zip(pauses, deliveries.RETRY_AFTER_SECONDS, strict=True):
            assert wanted <= pause <= wanted * 1.1 + 30
        assert len({headers["webhook-id"] for _, headers, _ in post.receiver.got}) == 1
        assert len({body for _, _, body in post.receiver.got}) == 1 and len(post.receiver.got) == 10
        post.later()
        assert len(post.receiver.got) == 10 and post.found(endpoint).failing_since is not None

    def test_a_success_ends_it(self, post):
        endpoint = post.endpoint()
        post.receiver.status = 503
        post.tell()
        post.work()
        assert post.found(endpoint).failing_since
        post.receiver.status = 200
        post.later()
        assert post.found(endpoint).failing_since is None and post.messages()[0].attempts == 2

    def test_a_redirect_is_not_followed(self, post):
        post.endpoint()
        post.receiver.status = 302
        post.receiver.headers = {"Location": f"http://127.0.0.1:{post.receiver.port}/elsewhere"}
        post.tell()
        post.work()
        assert [path for path, _, _ in post.receiver.got] == ["/hook?for=us"]
        assert (post.messages()[0].state, post.messages()[0].last_status) == ("waiting", 302)

    def test_an_answer_is_read_only_so_far(self, post):
        post.endpoint()
        post.receiver.status, post.receiver.body = 200, b"x" * 5_000_000
        post.tell()
        post.work()
        assert post.messages()[0].last_answer == "x" * sending.ANSWER_BYTES_MAX

    def test_one_that_drips_is_cut_off(self, post):
        post.endpoint()
        post.receiver.drips = True
        post.tell()
        post.work()
        (message,) = post.messages()
        assert (message.state, message.last_status) == ("waiting", None)
        assert message.last_answer == "no whole answer within 1 s"

    def test_nobody_there_and_no_such_name_are_said(self, post):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            post.endpoint(url=f"http://127.0.0.1:{closed.getsockname()[1]}/")
        post.endpoint(url="http://nobody.invalid/")
        post.tell()
        post.work()
        assert [m.last_status for m in post.messages()] == [None, None]
        assert "refused" in post.messages()[0].last_answer and "not known" in post.messages()[1].last_answer

    def test_after_days_it_is_disabled_and_noted(self, post):
        endpoint = post.endpoint()
        post.receiver.status = 500
        post.tell()
        with post.database.write() as session:
            session.execute(update(WebhookEndpoint).values(failing_since=utc_now() - dt.timedelta(days=4.9)))
        post.work()
        assert post.found(endpoint).is_active
        with post.database.write() as session:
            session.execute(update(WebhookEndpoint).values(failing_since=utc_now() - dt.timedelta(days=5.1)))
        post.later()
        found = post.found(endpoint)
        assert not found.is_active and "5 days" in found.disabled_because
        with post.database.read() as session:
            assert session.scalar(select(AuditEntry.target).where(AuditEntry.action == "webhook.give_up"))
            assert queries.disabled(session) == 1
        post.tell()
        post.later()
        assert len(post.messages()) == 1 and len(post.receiver.got) == 2

    def test_gone_for_good_disables_it_at_once(self, post):
        endpoint = post.endpoint()
        post.receiver.status = 410
        post.tell()
        post.work()
        assert not post.found(endpoint).is_active and post.messages()[0].state == "failed"

    def test_one_that_fails_holds_one_worker_and_no_more(self, post):
        post.endpoint()
        post.receiver.status = 500
        post.tell()
        post.work()
        post.tell()
        post.tell()
        ids = [m.public_id for m in post.messages()][1:]
        with post.database.write() as session:
            assert deliveries.claim(session, post.settings, ids[0]) is not None
            assert deliveries.claim(session, post.settings, ids[1]) is None

    def test_a_worker_that_died_is_replaced_and_its_late_answer_ignored(self, post):
        post.endpoint()
        post.tell()
        (message,) = post.messages()
        with post.database.write() as session:
            late = deliveries.claim(session, post.settings, message.public_id)
            past = utc_now() - dt.timedelta(minutes=10)
            session.execute(update(WebhookDelivery).values(lease_until=past, sent_at=past))
        sweep.run(post.database, post.settings)
        post.work()
        with post.database.write() as session:
            deliveries.record(session, post.settings, late, sending.Answer(500, "late"))
        assert [(m.state, m.last_status) for m in post.messages()] == [("delivered", 204)]


class TestAgain:
    def test_a_message_is_sent_again_as_the_same(self, post):
        post.endpoint()
        post.tell()
        post.work()
        with post.database.write() as session:
            deliveries.send_again(session, post.admin, queries.find_delivery(session, post.messages()[0].public_id))
        post.work()
        first, again = post.receiver.got
        assert first[1]["webhook-id"] == again[1]["webhook-id"] and first[2] == again[2]

    def test_only_by_admins_and_not_to_a_disabled_one(self, post):
        endpoint = post.endpoint()
        post.tell()
        with post.database.write() as session:
            found = queries.find_delivery(session, post.messages()[0].public_id)
            with pytest.raises(NotPermitted):
                deliveries.send_again(session, factories.make_reviewer(session), found)
            service.disable(session, post.admin, queries.find(session, endpoint.public_id))
            with pytest.raises(Conflict):
                deliveries.send_again(session, post.admin, found)


class TestSecret:
    def test_after_a_rotation_both_sign_for_a_day(self, post):
        old = post.endpoint().secret
        with post.database.write() as session:
            endpoint = session.scalars(select(WebhookEndpoint)).one()
            service.rotate(session, post.admin, endpoint)
            new = endpoint.secret
        post.tell()
        post.work()
        _, headers, body = post.receiver.got[0]
        assert is_signed_by(old, headers, body) and is_signed_by(new, headers, body) and old != new
        with post.database.write() as session:
            session.execute(update(WebhookEndpoint).values(old_secret_until=utc_now() - dt.timedelta(seconds=1)))
        post.tell()
        post.work()
        _, headers, body = post.receiver.got[1]
        assert not is_signed_by(old, headers, body) and is_signed_by(new, headers, body)

    def test_the_audit_log_holds_neither_secret_nor_path(self, post):
        endpoint = post.endpoint()
        with post.database.read() as session:
            entries = session.scalars(select(AuditEntry).where(AuditEntry.target == endpoint.public_id)).all()
        text = json.dumps([entry.detail for entry in entries])
        assert "127.0.0.1" in text and "/hook" not in text and endpoint.secret not in text


class TestKeeping:
    def test_old_messages_that_are_over_are_forgotten(self, post):
        post.endpoint()
        post.tell()
        post.work()
        post.receiver.status = 500
        post.tell()
        post.work()
        with post.database.write() as session:
            session.execute(update(WebhookDelivery).values(next_at=utc_now() - dt.timedelta(days=31)))
        sweep.run(post.database, post.settings)
        assert [m.state for m in post.messages()] == ["waiting"]

    def test_a_removed_one_takes_its_messages_along(self, post):
        endpoint = post.endpoint()
        post.tell()
        with post.database.write() as session:
            service.remove(session, post.admin, queries.find(session, endpoint.public_id))
        post.work()
        assert post.messages() == [] and post.receiver.got == []
