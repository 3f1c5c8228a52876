"""Comparisons over REST and from a shell: opened, ranked by letter, and nobody told whose is which."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from app import cli_admin, config
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.review import Role
from app.models import ReviewSubject
from app.reviews import service as reviews
from tests import factories
from tests.app.test_api import Api, api, problem  # noqa: F401 - a fixture


@pytest.fixture
def compared(api: Api):  # noqa: F811
    """The interface, and three evaluated submissions that could be compared."""
    with api.database.write() as session:
        task = factories.make_task(session, api.settings, name="compared")
        api.members = [
            factories.make_evaluated(session, api.settings, task=task, title=f"by-gpt-{n}")[0].public_id
            for n in range(3)
        ]
    return api


def opened(api, headers, **overrides):  # noqa: F811
    body = {"task": "compared", "submissions": api.members} | overrides
    return api.client.post("/api/v1/comparisons", json=body, headers=headers)


def test_one_is_opened_listed_and_refused_twice(compared):
    _, staff = compared.person(Role.ADJUDICATOR)
    made = opened(compared, staff)

    assert made.status_code == 201 and made.json()["submissions"] == compared.members
    assert (made.json()["reviews_done"], made.json()["is_open"]) == (0, True)
    assert problem(opened(compared, staff), 409)["detail"].startswith("these are compared already")
    listed = compared.client.get("/api/v1/comparisons", headers=staff).json()
    assert [item["id"] for item in listed["items"]] == [made.json()["id"]]
    assert compared.client.get(f"/api/v1/comparisons/{made.json()['id']}", headers=staff).json() == made.json()
    for wrong, status in (({"submissions": ["x", "y"]}, 404), ({"submissions": []}, 422), ({"task": "no"}, 404)):
        problem(opened(compared, staff, **wrong), status)


def test_reviewers_may_neither_open_nor_look(compared):
    _, staff = compared.person(Role.ADJUDICATOR)
    made = opened(compared, staff).json()["id"]
    _, reviewer = compared.person(Role.REVIEWER)

    problem(opened(compared, reviewer), 403)
    for path in ("", f"/{made}"):
        problem(compared.client.get(f"/api/v1/comparisons{path}", headers=reviewer), 403)


def test_a_reviewer_gets_letters_all_the_way_and_nothing_behind_them(compared):
    _, staff = compared.person(Role.ADJUDICATOR)
    opened(compared, staff)
    _, reviewer = compared.person(Role.REVIEWER)
    get = lambda path: compared.client.get(f"/api/v1{path}", headers=reviewer)  # noqa: E731
    item = get("/queue?subject=comparison").json()["items"][0]
    claim = compared.client.post(f"/api/v1/queue/{item['slot']}/claim", headers=reviewer).json()
    review = compared.client.post("/api/v1/reviews", json={"slot": claim["slot"]}, headers=reviewer).json()
    path = f"/reviews/{review['id']}"
    members = get(f"{path}/members").json()
    content = {"content": factories.full_ranking(notes={"A": "Mask it."})}
    done = compared.client.post(f"/api/v1{path}/submit", json=content, headers=reviewer)

    assert [m["letter"] for m in members] == ["A", "B", "C"]
    assert all(m["verdict"] == "accepted" and "import triton" in m["files"]["solution.py"] for m in members)
    assert done.status_code == 200 and done.json()["ranking"]["places"] == [["A"], ["B"], ["C"]]
    assert (done.json()["rubric"], done.json()["evaluation"]) == (None, None)
    said = json.dumps([item, claim, review, members, done.json(), get(path).json(), get("/reviews").json()])
    for word in (*compared.members, "by-gpt", "author-", "evl_"):
        assert word not in said, word


def test_the_author_of_a_member_finds_no_review_of_it_and_cannot_take_one(compared):
    rival, hers = compared.person(Role.SUBMITTER, Role.REVIEWER)
    with compared.database.write() as session:
        subject, _ = factories.make_comparison(session, compared.settings, authors=[rival])
        slots = assignment_queries.slots_of(session, subject.id)
        viewer = factories.make_reviewer(session)
        slot = assignment_queries.find_slot(session, slots[0].public_id)
        claim = assignments.claim_slot(session, compared.settings, viewer, slot)
        review = reviews.open_review(session, viewer, claim.slot)
        reviews.submit_review(session, compared.settings, viewer, review, factories.full_ranking())

    for path in (f"/reviews/{review.public_id}", f"/reviews/{review.public_id}/members"):
        problem(compared.client.get(f"/api/v1{path}", headers=hers), 404)
    problem(compared.client.post(f"/api/v1/queue/{slots[1].public_id}/claim", headers=hers), 409)
    assert compared.client.get("/api/v1/queue?subject=comparison", headers=hers).json()["items"] == []


def test_one_is_opened_from_a_shell(compared, monkeypatch):
    with compared.database.write() as session:
        login = factories.make_viewer(session, Role.ADMIN).login
    monkeypatch.setattr(config, "load_settings", lambda: compared.settings)
    command = ["compare", "compared", *compared.members, "--by", login]

    done = CliRunner().invoke(cli_admin.admin, command)

    assert done.exit_code == 0, done.output
    with compared.database.read() as session:
        assert done.output.split()[-1] == session.query(ReviewSubject).filter_by(kind="comparison").one().public_id
