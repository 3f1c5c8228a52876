"""The admin's pages of webhooks: a secret once, what became of each message, and sending one again."""

from __future__ import annotations

import re

import pytest

from app.domain.events import Event
from app.webhooks import deliveries, outbox, queries
from app.webhooks.sending import Answer

PLACE = "/admin/webhooks"
TYPED = {"url": "https://hooks.example/in", "events": ["import.finished", "subject.completed"], "description": "CI"}


@pytest.fixture
def admin(house):
    browser = house.browser("max")
    browser.get(PLACE)
    return browser


def made(browser):
    """The page of a new webhook, and its address."""
    page = browser.post(PLACE, TYPED)
    assert page.status_code == 200, page.text[:300]
    return page, re.search(rf"{PLACE}/whe_\w+", page.text)[0]


def answered(house, answer, *, event=Event.IMPORT_FINISHED):
    """A message that was sent and answered so."""
    with house.database.write() as session:
        (endpoint,) = queries.list_endpoints(session)
        message = outbox.put(session, endpoint, event, path="/imports")
        parcel = deliveries.claim(session, house.settings, message.public_id)
        deliveries.record(session, house.settings, parcel, answer)
        return message.public_id


def test_its_secret_is_shown_once(admin):
    page, here = made(admin)
    secret = re.search(r"whsec_[\w+/=]+", page.text)[0]
    assert "never again" in page.text and "hooks.example" in admin.get(PLACE).text
    assert secret not in admin.get(here).text and secret not in admin.get(PLACE).text
    turned = admin.post(f"{here}/rotate").text
    assert re.search(r"whsec_[\w+/=]+", turned)[0] != secret and "the old one signs beside it" in turned


def test_what_is_refused_keeps_what_was_typed(admin):
    page = admin.post(PLACE, TYPED | {"url": "http://10.0.0.1/in"})
    assert page.status_code == 422 and "private address" in page.text
    assert 'value="http://10.0.0.1/in"' in page.text and 'value="subject.completed" checked' in page.text
    page, here = made(admin)
    page = admin.post(here, TYPED | {"events": []})
    assert page.status_code == 422 and "no event is chosen" in page.text


def test_a_message_is_shown_with_its_answer_and_sent_again(house, admin):
    _, here = made(admin)
    message = answered(house, Answer(500, "<b>no room</b>"))
    read = admin.get(here).text
    assert (
        "&lt;b&gt;no room&lt;/b&gt;" in read and "500" in read and "1 of 10 attempts" in read and "next try at" in read
    )
    house.database.sender.jobs.clear()
    page = admin.post(f"{PLACE}/messages/{message}/send")
    assert page.url.path == here and "0 of 10 attempts" in page.text
    assert house.database.sender.jobs == [("deliver_webhook", {"delivery_id": message})]


def test_messages_are_listed_by_state(house, admin):
    _, here = made(admin)
    answered(house, Answer(204, ""))
    assert "import.finished</span>" in admin.get(f"{here}?state=delivered").text
    assert "import.finished</span>" not in admin.get(f"{here}?state=failed").text


def test_a_test_is_sent_and_a_disabled_one_sends_none(house, admin):
    _, here = made(admin)
    assert "webhook.test" in admin.post(f"{here}/test").text
    assert "Nothing is sent" in admin.post(f"{here}/disable").text
    assert "Nothing is sent" not in admin.post(f"{here}/enable").text
    assert "Nobody is told yet" in admin.post(f"{here}/remove").text


def test_admins_are_told_of_one_that_was_given_up(house, admin):
    _, here = made(admin)
    assert "disabled because nobody answered" not in admin.get("/admin").text
    answered(house, Answer(410, ""))
    assert "1 webhook was disabled because nobody answered" in admin.get("/admin").text
    assert "gone for good" in admin.get(here).text
    admin.post(f"{here}/enable")
    assert "disabled because nobody answered" not in admin.get("/admin").text


def test_it_is_for_admins_alone(house, admin):
    _, here = made(admin)
    for login in ("sue", "rob", "ada"):
        browser = house.browser(login)
        browser.get("/account")
        answers = [browser.get(PLACE), browser.get(here), browser.post(PLACE, TYPED), browser.post(f"{here}/rotate")]
        assert [answer.status_code for answer in answers] == [403] * 4, login
