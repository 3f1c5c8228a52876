"""Contested findings: who sees which, how they are settled over REST, and how precise a rule is then said to be."""

from __future__ import annotations

import pytest

from app.domain.review import Role
from app.errors import NotFound
from app.evaluations import precision
from app.models import Contest
from app.reviews import queries
from tests import factories
from tests.app.test_api import api
from tests.pages import sample_reports

__all__ = ["api"]

CONTESTS = "/api/v1/contests"
CODE = "numerics.wrong_values"


@pytest.fixture
def contested(api):
    """Two contests of one finding by a reviewer, the newer one last, and the author who adjudicates elsewhere."""
    author, headers = api.person(Role.SUBMITTER, Role.ADJUDICATOR)
    reviewer, _ = api.person(Role.REVIEWER)
    with api.database.write() as session:
        task = factories.make_task(session, api.settings)
        _, evaluation, _ = factories.make_evaluated(
            session, api.settings, report=sample_reports.wrong_result(), author=author, task=task
        )
        made = [_contest(session, evaluation, reviewer, code) for code in (CODE, "verdict")]
        return made, headers, author, reviewer


def _contest(session, evaluation, reviewer, code):
    contest = Contest(evaluation_id=evaluation.id, raised_by_id=reviewer.id, finding_code=code, reason="look again")
    session.add(contest)
    session.flush()
    return contest.public_id


class TestOverRest:
    def test_an_adjudicator_lists_filters_and_pages(self, api, contested):
        made, _, _, reviewer = contested
        _, headers = api.person(Role.ADJUDICATOR)
        newest = api.client.get(CONTESTS, headers=headers, params={"limit": 1}).json()
        older = api.client.get(CONTESTS, headers=headers, params={"cursor": newest["next_cursor"]}).json()
        assert [one["id"] for one in (*newest["items"], *older["items"])] == made[::-1]
        only = api.client.get(CONTESTS, headers=headers, params={"code": CODE}).json()["items"]
        assert [(one["id"], one["raised_by"], one["again"]) for one in only] == [
            (made[0], reviewer.pseudonym, "it was not run again")
        ]

    def test_settling_needs_a_reason_and_happens_once(self, api, contested):
        (first, _), *_ = contested
        _, headers = api.person(Role.ADJUDICATOR)

        def settle(because):
            return api.client.post(
                f"{CONTESTS}/{first}/settle", headers=headers, json={"upheld": True, "because": because}
            )

        assert settle(" ").status_code == 422
        settled = settle("the mask is there")
        assert (settled.status_code, settled.json()["upheld"]) == (200, True)
        assert settled.json()["settled_because"] == "the mask is there"
        assert settle("again").status_code == 409
        waiting = api.client.get(CONTESTS, headers=headers).json()["items"]
        assert first not in [one["id"] for one in waiting]
        assert api.client.get(f"{CONTESTS}/{first}", headers=headers).json()["upheld"] is True

    def test_it_is_for_adjudicators(self, api, contested):
        _, headers = api.person(Role.REVIEWER)
        assert api.client.get(CONTESTS, headers=headers).status_code == 403

    def test_whoever_is_too_close_to_the_author_sees_none(self, api, contested):
        made, headers, author, _ = contested
        assert api.client.get(CONTESTS, headers=headers).json()["items"] == []
        assert api.client.get(f"{CONTESTS}/{made[0]}", headers=headers).status_code == 404
        settle = {"upheld": True, "because": "mine"}
        assert api.client.post(f"{CONTESTS}/{made[0]}/settle", headers=headers, json=settle).status_code == 404
        with api.database.read() as session:
            assert (queries.count_open_contests(session, author), queries.count_open_contests(session)) == (0, 2)
            with pytest.raises(NotFound):
                queries.find_contest(session, author, made[0])


class TestRecord:
    def test_open_contests_count_for_nothing_and_few_say_nothing(self, api, contested):
        (first, _), *_ = contested
        _, headers = api.person(Role.ADJUDICATOR)
        with api.database.read() as session:
            assert precision.records(session) == {}
        api.client.post(
            f"{CONTESTS}/{first}/settle", headers=headers, json={"upheld": True, "because": "the mask is there"}
        )
        with api.database.read() as session:
            record = precision.records(session)[CODE]
        assert (record.settled, record.false) == (1, 1) and "not enough" in record.said
