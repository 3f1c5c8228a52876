"""Progress: one's own by day and week, everybody's for staff alone, and no median of a few."""

from __future__ import annotations

import datetime as dt

import pytest

from app.models import Review, ReviewSlot, utc_now
from app.reviews import progress
from tests.pages.test_reviewing import FULL, claimed


@pytest.fixture
def reviewed(full_house):
    """Rob has handed in one review and holds another item."""
    rob, page = claimed(full_house)
    rob.post(f"{page.url.path}/submit", FULL)
    claimed(full_house)
    return full_house


def test_ones_own_day_and_week(reviewed):
    now, rob = utc_now(), reviewed.viewers["rob"].id
    with reviewed.database.write() as session:
        assert progress.own(session, rob, now) == progress.Own(1, 1)
        [review] = session.query(Review).filter_by(state="submitted", reviewer_id=rob)
        review.submitted_at = now - dt.timedelta(days=3)
        session.flush()
        assert progress.own(session, rob, now) == progress.Own(0, 1)
        assert progress.own(session, rob, now + dt.timedelta(days=5)) == progress.Own(0, 0)
        assert progress.own(session, reviewed.viewers["ria"].id, now) == progress.Own(0, 0)


def test_everybodys_week_for_staff(reviewed):
    with reviewed.database.read() as session:
        rows = {person.name: person for person in progress.by_person(session, utc_now())}
    assert (rows["Rob"].submitted, rows["Rob"].held, rows["Rob"].minutes) == (1, 1, None)
    assert rows["Ria"].submitted == 0 and "Sue" not in rows


def test_a_median_needs_five(reviewed):
    with reviewed.database.write() as session:
        [first] = session.query(Review).filter_by(state="submitted")
        subjects = {slot.subject_id for slot in session.query(ReviewSlot)} - {first.subject_id}
        taken = {review.subject_id for review in session.query(Review).filter_by(reviewer_id=first.reviewer_id)}
        for minutes, subject in zip((4, 6, 8, 30), sorted(subjects - taken), strict=False):
            session.add(
                Review(subject_id=subject, reviewer_id=first.reviewer_id, rubric_version_id=first.rubric_version_id,
                       state="submitted", submitted_at=utc_now(), active_seconds=60 * minutes)
            )  # fmt: skip
        session.flush()
        rows = {person.name: person for person in progress.by_person(session, utc_now())}
        assert (rows["Rob"].submitted, rows["Rob"].minutes) == (5, 6)


def test_who_sees_what(reviewed):
    assert "Reviewed today" in reviewed.browser("rob").get("/").text
    assert "Reviewed today" not in reviewed.browser("ria").get("/").text
    admin = reviewed.browser("max").get("/admin").text
    table = admin.split('id="people"')[1].split("</section>")[0]
    assert "Rob" in table and "not enough data" in table
    assert reviewed.browser("rob").get("/admin").status_code == 403
