"""The page of one's imports: a file goes in by a plain form, and what became of each row is read without scripts."""

from __future__ import annotations

import json

import pytest

from app.imports import service
from tests import factories
from workers.jobs import import_submissions as job


@pytest.fixture
def house(house):
    with house.database.write() as session:
        factories.make_task(session, house.settings)
    return house


def send(house, browser, *rows, **form):
    lines = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in rows).encode()
    return browser.post("/imports", form, files={"file": ("many.jsonl", lines)})


def work(house):
    sender = house.database.sender
    for name, arguments in list(sender.jobs):
        if name == service.JOB:
            job.run(house.database, house.settings, arguments["import_id"])


def row(number=1, **more):
    return {"task": "row-softmax", "files": {"solution.py": f"import triton\n# {number}\n"}} | more


def test_it_is_reached_from_the_upload_page(house):
    browser = house.browser("sue")
    assert 'href="/imports"' in browser.get("/submissions/new").text
    assert "No imports yet" in browser.get("/imports").text


def test_a_file_is_sent_followed_and_read_row_by_row(house):
    browser = house.browser("sue")
    browser.get("/imports")
    page = send(house, browser, row(1, title="<b>First</b>", key="k/1"), "{", row(2, files={}))
    assert "No row is done yet" in page.text and "0 of 3 rows done" in page.text and "hx-get" in page.text

    work(house)
    read = browser.get(page.url.path).text
    assert "3 of 3 rows done" in read and "hx-get" not in read
    assert "&lt;b&gt;First&lt;/b&gt;" in read and "k/1" in read and "the row is not JSON" in read
    assert "no source was sent" in read
    refused = browser.get(f"{page.url.path}?status=refused").text
    assert "no source was sent" in refused and "First" not in refused


def test_every_result_is_downloaded_as_lines(house):
    browser = house.browser("sue")
    browser.get("/imports")
    page = send(house, browser, row(1), "{")
    work(house)
    answer = browser.get(f"{page.url.path}/results")
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [(one["row"], one["status"]) for one in found] == [(1, "created"), (2, "refused")]
    assert "attachment" in answer.headers["content-disposition"]


def test_a_dry_run_says_so(house):
    browser = house.browser("sue")
    browser.get("/imports")
    page = send(house, browser, row(1), dry_run="1")
    work(house)
    read = browser.get(page.url.path).text
    assert "nothing is submitted" in read and "would be submitted" in read


def test_what_cannot_be_taken_is_said_on_the_page(house):
    browser = house.browser("sue")
    browser.get("/imports")
    answer = send(house, browser)
    assert answer.status_code == 422 and "there is no row in it" in answer.text and "Send a file" in answer.text


def test_others_see_nothing_of_it(house):
    browser = house.browser("sue")
    browser.get("/imports")
    path = send(house, browser, row(1)).url.path
    for login in ("vera", "max"):
        other = house.browser(login)
        assert [other.get(address).status_code for address in (path, f"{path}/results")] == [404, 404], login
    assert house.browser("rob").get("/imports").status_code == 403
