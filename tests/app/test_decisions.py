"""A decision is made from the reviews as they are: a correction is in before it, or refused."""

from __future__ import annotations

import threading

import pytest

from app.domain.review import Decision
from app.errors import Conflict
from app.reviews import corrections, queries, service
from tests.app.test_reviews import House
from tests.factories import full_content


@pytest.fixture
def house(each_database, each_settings):
    return House(each_database, each_settings)


def test_a_correction_submitted_while_an_adjudicator_decides_is_refused(house):
    before = house.submit(house.first, house.open(house.first)).public_id
    with house.database.write() as session:
        draft = corrections.open_correction(session, house.first, queries.find(session, before)).public_id
    refused = []

    def correct():
        with pytest.raises(Conflict, match="an adjudicator decided") as caught:
            house.submit(house.first, (draft, ""), **full_content(decision="reject", what_changed="Misread."))
        refused.append(caught)

    other = threading.Thread(target=correct)
    with house.database.write() as session:
        service.decide(
            session, house.judge, house.subject_id, decision=Decision.ACCEPT, confidence=3, reason="as they say"
        )
        other.start()
        other.join(1)
    other.join()

    assert refused
    with house.database.read() as session:
        assert queries.correction_of(session, queries.find(session, before)) is None
