"""Agreement is for staff, says how much it rests on, and leaks to nobody else."""

from __future__ import annotations

from app.models import Review, ReviewSubject, TaskVersion, utc_now
from app.rubrics import service as rubrics
from tests.pages.test_reviewing import FULL, claimed


def test_only_staff_see_it(full_house):
    for login in ("rob", "sue"):
        assert full_house.browser(login).get("/admin/agreement").status_code == 403
    assert "No two reviews of one subject yet" in full_house.browser("ada").get("/admin/agreement").text


def test_few_reviews_are_not_enough_and_name_nobody(full_house):
    for login in ("rob", "ria"):
        browser, page = claimed(full_house, login)
        browser.post(f"{page.url.path}/submit", FULL)
    text = full_house.browser("ada").get("/admin/agreement").text
    assert "not enough data" in text and ">Rob<" not in text and "Ria" not in text


def test_many_reviews_get_a_number_with_its_interval(full_house):
    with full_house.database.write() as session:
        version = rubrics.applicable(session, task_kind="generation")
        task = session.query(TaskVersion).first()
        people = [full_house.viewers[login].id for login in ("rob", "ria")]
        for n in range(12):
            subject = ReviewSubject(kind="submission", task_version_id=task.id)
            session.add(subject)
            session.flush()
            for person, level in zip(people, (n % 4, min(3, n % 4 + (n % 5 == 0))), strict=True):
                scores = {"correct": {"level": level, "state": "scored"}}
                session.add(
                    Review(subject_id=subject.id, reviewer_id=person, rubric_version_id=version.id, scores=scores,
                           state="submitted", submitted_at=utc_now())
                )  # fmt: skip
    row = full_house.browser("ada").get("/admin/agreement").text.split('<th scope="row">Correct')[1].split("</tr>")[0]
    assert ">12<" in row and " to " in row and "<svg" in row and ">reliable<" in row
