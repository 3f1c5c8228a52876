"""The queue's page: its address carries everything, and looking at it changes nothing."""

from __future__ import annotations

from sqlalchemy import select

from app.assignments import oversight, queries
from app.assignments.queue import claim_next, list_queue
from app.models import Base, UserSession


def test_looking_at_the_queue_changes_nothing(full_house):
    """Submitty#12223: opening and closing a component took its credit over."""
    browser = full_house.browser("rob")
    before = _everything(full_house)
    for path in ("/queue", "/queue?sort=oldest", "/queue?verdict=suspect", "/"):
        assert browser.get(path).status_code == 200

    assert _everything(full_house) == before


def test_the_address_carries_filters_and_order(full_house):
    page = full_house.browser("rob").get("/queue?verdict=suspect&sort=oldest").text

    assert '<option value="suspect" selected>' in page and '<option value="oldest" selected>' in page
    assert 0 < page.count("Why this item:") < len(full_house.submissions)


def test_a_view_can_be_named_found_and_forgotten(full_house):
    browser = full_house.browser("rob")
    browser.get("/queue?verdict=suspect")
    named = browser.post("/queue/views?verdict=suspect", {"name": "Tricks <b>"}).text
    assert 'href="/queue?verdict=suspect" aria-current="page">Tricks &lt;b&gt;</a>' in named
    assert "Tricks" not in full_house.browser("ria").get("/queue").text

    assert "Tricks" not in browser.post("/queue/views", {"name": "Tricks <b>", "forget": "true"}).text


def test_a_filter_without_a_match_is_not_all_done(full_house):
    page = full_house.browser("rob").get("/queue?framework=cuda").text

    assert "Nothing matches these filters" in page and "All done" not in page


def test_a_full_hand_is_said_and_takes_nothing_more(full_house):
    with full_house.database.write() as session:
        while claim_next(session, full_house.settings, full_house.viewers["rob"]):
            pass
    page = full_house.browser("rob").get("/queue").text

    assert "You hold 3 items, and 3 is the limit" in page and "Take the next one" not in page


def test_what_an_admin_gave_stands_first(full_house):
    with full_house.database.write() as session:
        slot = list_queue(session, full_house.settings, full_house.viewers["rob"]).items[-1].slot
        found = queries.find_slot(session, slot.public_id)
        oversight.reassign(session, full_house.viewers["max"], found, full_house.viewers["rob"])
    page = full_house.browser("rob").get("/queue").text

    assert page.index("Given to you") < page.index(f"/queue/{slot.public_id}/claim")


def _everything(house):
    with house.database.read() as session:
        tables = [t for t in Base.metadata.sorted_tables if t is not UserSession.__table__]
        return {t.name: session.execute(select(t)).all() for t in tables}


def test_the_admin_sees_what_is_stuck_and_sets_caps(full_house):
    browser = full_house.browser("max")
    assert "Reviewers" in browser.get("/admin/queue").text
    rob = full_house.viewers["rob"].public_id
    page = browser.post(f"/admin/people/{rob}/queue", {"cap": "7", "expertise": "triton, fusion"}).text
    assert 'value="7"' in page and "triton, fusion" in page
    assert browser.post(f"/admin/people/{rob}/queue", {"expertise": "cooking"}).status_code == 422
    due = {"submission": full_house.submissions["suspect"], "due": "2027-01-31T12:00"}
    assert browser.post("/admin/submissions/due", due).status_code == 200
    assert "due " in full_house.browser("rob").get("/queue?sort=due").text
    assert full_house.browser("rob").get("/admin/queue").status_code == 403
