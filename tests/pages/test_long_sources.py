"""Complaint 54 (inspect_ai#1375, #2249): viewers died of large logs and sources."""

from __future__ import annotations

import dataclasses
import gzip
import random

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.report import Finding, Location, Severity, StageName
from app.reviews import service as reviews
from tests import factories
from tests.pages import sample_reports

BYTES_MAX = 200 * 1024


def opened(house, source, report):
    with house.database.write() as session:
        made = factories.make_evaluated(
            session, house.settings, author=house.viewers["sue"], source=source, report=report
        )
        slot = assignment_queries.find_slot(session, made[2][0].public_id)
        claim = assignments.claim_slot(session, house.settings, house.viewers["rob"], slot)
        return reviews.open_review(session, house.viewers["rob"], claim.slot).public_id


def test_twenty_thousand_lines_and_a_full_log_load_under_200_kb_and_can_be_read_on(house):
    draw = random.Random(1)  # noqa: S311 - any text will do
    source = "import triton\n" + "".join(f"    value_{n} = {draw.random()}\n" for n in range(20_000))
    far = Finding(
        "numerics.wrong_values", Severity.ERROR, StageName.CORRECTNESS, "far", location=Location("solution.py", 15_000)
    )
    log = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz0123456789\n", k=64_000))
    report = dataclasses.replace(sample_reports.wrong_result(), log=log, findings=(far,))
    review_id = opened(house, source, report)
    browser = house.browser("rob")

    page = browser.get(f"/reviews/{review_id}")
    rows = browser.get(
        f"/reviews/{review_id}/source/lines?file=solution.py&start=1501&end=14989", headers={"HX-Request": "true"}
    )
    whole = browser.get(f"/reviews/{review_id}/source/lines?file=solution.py&start=1501&end=14989")

    assert len(gzip.compress(page.content)) < BYTES_MAX
    assert "of a longer log only the end is kept" in page.text
    assert 'id="solution-py-L15000"' in page.text and 'href="#solution-py-L15000"' in page.text
    assert "start=1501&amp;end=14989" in page.text
    assert "value_1499 " in rows.text and "<html" not in rows.text and "start=2501&amp;end=14989" in rows.text
    assert "value_1499 " in whole.text and "<html" in whole.text
    assert browser.get(f"/reviews/{review_id}/source/lines?file=no.py&start=1&end=2").status_code == 404
