"""Comments: published with the review, placed by their lines, and followed to the next revision or called outdated."""

from __future__ import annotations

import json

import pytest

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.review import Role
from app.exports import queries as export_queries
from app.exports import service as exports
from app.reviews import comments, queries, service
from app.reviews.service import ReviewIncomplete
from app.rubrics import service as rubrics
from app.submissions import queries as submission_queries
from app.submissions import service as submissions
from app.submissions.service import NewSubmission
from tests import factories
from workers.jobs import export as export_job

FIRST = "import triton\n\ndef load(x):\n    return x\n\ndef store(y):\n    y[:] = 1\n    return y\n"
SECOND = "import triton\nimport torch\n\ndef load(x):\n    return x\n\ndef store(y):\n    return y\n"


def said(line, body="Mask it.", end_line=None, **more):
    return {"path": "solution.py", "line": line, "end_line": end_line, "body": body, **more}


class House:
    """An author's two revisions of one kernel, each with a slot for either of two reviewers."""

    def __init__(self, database, settings):
        self.database, self.settings = database, settings
        with database.write() as session:
            rubrics.seed(session)
            self.author = factories.make_viewer(session)
            self.first, self.second = factories.make_reviewer(session), factories.make_reviewer(session)
            task = factories.make_task(session, settings)
            old, _, slots = factories.make_evaluated(session, settings, author=self.author, task=task, source=FIRST)
            new, _, later = factories.make_evaluated(
                session, settings, author=self.author, task=task, source=SECOND, parent=old.public_id
            )
            self.old, self.new = old.public_id, new.public_id
            self.slots = {self.old: [s.public_id for s in slots], self.new: [s.public_id for s in later]}

    def open(self, viewer, submission, number=0):
        with self.database.write() as session:
            slot = assignment_queries.find_slot(session, self.slots[submission][number])
            claim = assignments.claim_slot(session, self.settings, viewer, slot)
            return service.open_review(session, viewer, claim.slot).public_id

    def submit(self, viewer, review_id, *typed):
        with self.database.write() as session:
            content = factories.full_content(comments=list(typed))
            return service.submit_review(session, self.settings, viewer, queries.find(session, review_id), content)

    def save(self, viewer, review_id, *typed):
        with self.database.write() as session:
            review = queries.find(session, review_id)
            service.save_draft(session, viewer, review, {"comments": list(typed)}, base_version=0)

    def earlier(self, viewer):
        with self.database.read() as session:
            return comments.earlier(session, self.settings, viewer, submission_queries.find(session, self.new))


@pytest.fixture
def house(each_database, each_settings):
    return House(each_database, each_settings)


class TestPublish:
    def test_all_comments_come_out_with_the_review(self, house):
        typed = [said(n, f"remark {n}") for n in range(1, 9)] * 4
        review = house.submit(house.first, house.open(house.first, house.old), *typed)
        assert [c["body"] for c in review.comments] == [c["body"] for c in typed]

    def test_a_refused_submit_publishes_none_of_them(self, house):
        review_id = house.open(house.first, house.old)
        house.save(house.first, review_id, said(1))
        with pytest.raises(ReviewIncomplete):
            house.submit(house.first, review_id, said(1), {**said(2), "path": "other.py"})
        with house.database.read() as session:
            review = queries.find(session, review_id)
            assert review.comments == [] and queries.draft_of(session, review).content["comments"] == [said(1)]

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            (said(1) | {"path": "other.py"}, "other.py, which is not in the submission"),
            (said(1) | {"path": None}, "names a line and no file"),
            (said(40), "comment 1 is on line 40 of solution.py, which has 8 lines"),
            (said(8, end_line=9), "comment 1 is on line 9 of solution.py, which has 8 lines"),
            (said(4, end_line=3), "comment 1 ends on line 3, before it starts on line 4"),
            (said(None, end_line=3), "comment 1 names a last line (3) and no first"),
            (said(1, criterion="beauty"), "beauty, which this rubric does not ask"),
        ],
    )
    def test_what_points_nowhere_is_listed(self, house, wrong, words):
        with pytest.raises(ReviewIncomplete) as caught:
            house.submit(house.first, house.open(house.first, house.old), wrong)
        assert words in caught.value.details["problems"]["comments"]

    def test_every_line_of_a_file_can_be_spoken_of(self, house):
        typed = [said(n) for n in range(1, 9)] + [said(1, end_line=8), said(8, end_line=8), said(None)]
        assert len(house.submit(house.first, house.open(house.first, house.old), *typed).comments) == len(typed)

    def test_a_line_of_what_is_no_text_is_refused_and_its_whole_is_not(self, house):
        files = {"solution.py": FIRST.encode(), "run.npz": b"PK\x03\x04\x00\xff"}
        with house.database.write() as session:
            task = factories.make_task(session, house.settings, name="packed")
            made = submissions.submit(session, house.settings, house.author, NewSubmission(files, task.public_id))
            submission = made.submission
            factories.evaluate(session, house.settings, submission, factories.make_report())
            subject = submission_queries.subject_of(session, submission.id)
            slots = assignments.open_slots(session, house.settings, subject, factories.make_report())
            house.slots[submission.public_id] = [slot.public_id for slot in slots]
        review_id = house.open(house.first, submission.public_id)
        packed = said(1) | {"path": "run.npz"}
        with pytest.raises(ReviewIncomplete) as caught:
            house.submit(house.first, review_id, packed)
        assert "comment 1 names a line of run.npz, which is not text" in caught.value.details["problems"]["comments"]
        assert house.submit(house.first, review_id, packed | {"line": None}).comments[0]["path"] == "run.npz"

    def test_an_export_names_lines_criterion_and_the_lines_themselves(self, house):
        whole = said(3, "All of it.", end_line=4, criterion="correct", severity="must_change", category="robustness",
                     evidence=["stage.correctness"])  # fmt: skip
        house.submit(house.first, house.open(house.first, house.old), whole, said(None, "Rename it."))
        with house.database.write() as session:
            judge = factories.make_viewer(session, Role.ADJUDICATOR)
            export_id = exports.request_export(session, judge).public_id
        export_job.run(house.database, house.settings, export_id)
        with house.database.read() as session:
            data = exports.file_of(house.settings, export_queries.find(session, export_id)).read_text()
        first, second = json.loads(data)["review"]["comments"]
        assert first == {
            "number": 1, "path": "solution.py", "start_line": 3, "end_line": 4, "body": "All of it.",
            "snippet": "def load(x):\n    return x", "criterion_id": "correct", "severity": "must_change",
            "category": "robustness", "evidence": ["stage.correctness"],
        }  # fmt: skip
        assert (second["path"], second["start_line"], second["snippet"]) == ("solution.py", None, "")


class TestEarlier:
    def test_a_comment_on_a_line_removed_in_v2_is_outdated_with_its_snippet(self, house):
        """Complaint 45 (reviewit#116, dodona#1852): comments vanished when lines moved."""
        house.submit(house.first, house.open(house.first, house.old), said(7, "This writes ones."))
        (one,) = house.earlier(house.first)
        assert one.is_outdated and one.before.snippet == "    y[:] = 1" and one.before.place == "solution.py:7"

    def test_a_comment_whose_lines_moved_stands_where_they_are_now(self, house):
        house.submit(house.first, house.open(house.first, house.old), said(3, "Which layout?", end_line=4))
        (one,) = house.earlier(house.first)
        assert (one.now.start, one.now.end, one.revision) == (4, 5, 1)

    def test_words_of_an_unfinished_review_of_the_old_revision_are_not_lost(self, house):
        house.save(house.first, house.open(house.first, house.old), said(3, "Half written."))
        assert [one.before.content.body for one in house.earlier(house.first)] == ["Half written."]

    def test_others_comments_stay_hidden_from_whoever_has_not_reviewed_that_revision(self, house):
        house.submit(house.first, house.open(house.first, house.old), said(3))
        assert house.earlier(house.second) == []
        house.submit(house.second, house.open(house.second, house.old, 1))
        assert [one.label for one in house.earlier(house.second)] == ["Reviewer 1"]

    def test_said_again_it_stands_at_its_lines_of_now(self, house):
        house.submit(house.first, house.open(house.first, house.old), said(3, evidence=["stage.correctness"]))
        (one,) = house.earlier(house.first)
        again = comments.carried(one)
        assert (again["path"], again["line"], again["body"]) == ("solution.py", 4, "Mask it.")
        assert again["evidence"] == []

    def test_said_again_though_outdated_it_quotes_what_is_gone(self, house):
        house.submit(house.first, house.open(house.first, house.old), said(7))
        again = comments.carried(house.earlier(house.first)[0])
        assert again["line"] is None and "    y[:] = 1" in again["body"] and again["body"].endswith("Mask it.")
        house.submit(house.first, house.open(house.first, house.new), again)


def test_a_long_range_says_how_much_of_it_is_left_out():
    lines = [str(n) for n in range(1000)]
    shown = comments.placed({"path": "a.py", "line": 1, "end_line": 1000, "body": "x"}, {"a.py": lines}).snippet
    assert shown.endswith("(900 more lines)") and shown.startswith("0\n1\n")
