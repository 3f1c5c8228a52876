"""Rankings: what is kept and what is refused, corrected as any review, and exported with what follows marked."""

from __future__ import annotations

import json

import pytest

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.review import Role
from app.errors import Invalid, WorkbenchError
from app.exports import queries as export_queries
from app.exports import service as exports
from app.models import SubjectAuthor
from app.reviews import agreement, corrections, progress, queries, ranking
from app.reviews import service as reviews
from app.reviews.service import ReviewIncomplete
from tests import factories
from workers.jobs import export as job


def begun(session, settings, subject, viewer):
    slot = next(s for s in assignment_queries.slots_of(session, subject.id) if s.state == "open")
    claim = assignments.claim_slot(session, settings, viewer, assignment_queries.find_slot(session, slot.public_id))
    return reviews.open_review(session, viewer, claim.slot)


@pytest.fixture
def draft(each_database, each_settings):
    """Its reviewer, the draft's id and the comparison's members."""
    with each_database.write() as session:
        subject, members = factories.make_comparison(session, each_settings)
        viewer = factories.make_reviewer(session)
        return viewer, begun(session, each_settings, subject, viewer).public_id, [m.public_id for m in members]


def submit(session, settings, viewer, review_id, **overrides):
    review = queries.find_to_close(session, review_id)
    return reviews.submit_review(session, settings, viewer, review, factories.full_ranking(**overrides))


def test_it_is_kept_in_letters_beside_the_members_as_they_were_seen(each_database, each_settings, draft):
    viewer, review_id, members = draft
    with each_database.write() as session:
        review = submit(session, each_settings, viewer, review_id, notes={"B": " Mask it. ", "A": " "})
        seen = ranking.members_of(session, review)

        assert review.ranking == {
            "places": [["A"], ["B"], ["C"]], "strengths": ["clearly", "clearly"], "reason": "A masks its tail.",
            "notes": {"B": "Mask it."},
        }  # fmt: skip
        assert [m.letter for m in seen] == ["A", "B", "C"] and {m.submission.public_id for m in seen} == set(members)
        assert all(m.evaluation.submission_id == m.submission_id for m in seen)
        assert (review.decision, review.is_extra, review.rubric_version_id) == (None, False, None)
        author = seen[1].submission
        assert queries.notes_to(session, factories.make_viewer(session, Role.ADJUDICATOR), author) == ["Mask it."]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"ranking": None}, "ranking"),
        ({"decision": "accept"}, "ranking"),
        ({"scores": {"correct": {"level": 3}}}, "ranking"),
        ({"comments": [{"body": "Here."}]}, "ranking"),
        ({"notes": {"D": "hello"}}, "notes"),
        ({"notes": {"sub_1": "hello"}}, "notes"),
        ({"confidence": None}, "confidence"),
        ({"decision": "cannot_judge", "ranking": {"reason": ""}}, "reason"),
    ],
)  # fmt: skip
def test_what_is_no_ranking_is_refused_with_its_place(database, settings, content, place):
    with database.write() as session:
        subject, _ = factories.make_comparison(session, settings)
        viewer = factories.make_reviewer(session)
        review = begun(session, settings, subject, viewer)
        with pytest.raises(ReviewIncomplete) as refused:
            reviews.submit_review(session, settings, viewer, review, factories.full_ranking(**content))
        assert place in refused.value.details["problems"]


def test_values_that_nothing_can_hold_are_refused_in_words(each_database, each_settings, draft):
    viewer, review_id, _ = draft
    whole = factories.full_ranking()["ranking"]
    for wrong in (
        {"ranks": {"A": 1, "B": 10**30, "C": 2}}, {"ranks": {"A": float("nan")}}, {"reason": "half \ud800"},
        {"reason": "nul \0"}, {"strengths": ["much"] * 1000}, {"places": []}, {"ranks": {"A": 1.5}},
    ):  # fmt: skip
        with pytest.raises(WorkbenchError), each_database.write() as session:
            submit(session, each_settings, viewer, review_id, ranking=whole | wrong)
    with pytest.raises(Invalid), each_database.write() as session:
        review = queries.find_draft(session, review_id)
        reviews.save_draft(session, viewer, review, {"ranking": {"ranks": ["A"]}}, base_version=0)


def test_a_scored_review_takes_no_ranking(database, settings):
    from app.rubrics import service as rubrics

    with database.write() as session:
        rubrics.seed(session)
        _, _, slots = factories.make_evaluated(session, settings)
        viewer = factories.make_reviewer(session)
        slot = assignment_queries.find_slot(session, slots[0].public_id)
        review = reviews.open_review(session, viewer, assignments.claim_slot(session, settings, viewer, slot).slot)
        with pytest.raises(ReviewIncomplete) as refused:
            content = factories.full_content() | {"ranking": {"reason": "x"}}
            reviews.submit_review(session, settings, viewer, review, content)
        assert "ranking" in refused.value.details["problems"]


def test_a_correction_keeps_the_letters_and_says_what_changed(each_database, each_settings, draft):
    viewer, review_id, _ = draft
    with each_database.write() as session:
        first = submit(session, each_settings, viewer, review_id, notes={"A": "Good."})
        before = [m.submission_id for m in ranking.members_of(session, first)]
        again = corrections.open_correction(session, viewer, queries.find(session, review_id))
        content = dict(queries.draft_of(session, again).content)

        assert content["ranking"]["ranks"] == {"A": 1, "B": 2, "C": 3} and content["notes"] == {"A": "Good."}
        assert [m.submission_id for m in ranking.members_of(session, again)] == before
        with pytest.raises(ReviewIncomplete, match="lacks"):
            reviews.submit_review(session, each_settings, viewer, again, content)
        content |= {"ranking": content["ranking"] | {"reason": "B's tail is right too."}, "what_changed": "the reason"}
        done = reviews.submit_review(session, each_settings, viewer, again, content)
        assert (done.revision, done.ranking["reason"], first.ranking["reason"]) == (
            2, "B's tail is right too.", "A masks its tail.",
        )  # fmt: skip


class TestExport:
    @pytest.fixture
    def rows(self, each_database, each_settings, draft):
        """Shape -> the rows of an export of one ranking, two of whose members are tied."""
        viewer, review_id, _ = draft
        ranks = {"ranks": {"B": 1, "A": 2, "C": 2}, "strengths": ["much"], "reason": "B alone masks."}
        with each_database.write() as session:
            submit(session, each_settings, viewer, review_id, ranking=ranks, notes={"C": "Mask."})
            judge = factories.make_viewer(session, Role.ADJUDICATOR)
            asked = {s: exports.request_export(session, judge, shape=s).public_id for s in exports.SHAPES}
        found = {}
        for shape, export_id in asked.items():
            job.run(each_database, each_settings, export_id)
            with each_database.read() as session:
                export = export_queries.find(session, export_id)
            assert export.state == "done", export.failure
            found[shape] = exports.file_of(each_settings, export).read_text().splitlines()
        return found

    def test_a_ranking_is_a_row_of_its_own_and_of_no_other_shape(self, rows, draft):
        _, review_id, members = draft
        (line,), row = rows["ranking"], json.loads(rows["ranking"][0])
        assert rows["review"] == []
        ids = {m["shown_as"]: m["submission"]["id"] for m in row["members"]}

        assert list(ids) == ["A", "B", "C"] and set(ids.values()) == set(members)
        assert row["review"]["id"] == review_id and row["review"]["reviewer"].startswith("reviewer-")
        assert row["ranking"]["places"] == [[ids["B"]], [ids["A"], ids["C"]]]
        assert row["ranking"]["strengths"] == ["much"] and row["ranking"]["notes"] == {ids["C"]: "Mask."}
        assert row["rubric"] is None and row["task"]["sha256"]
        assert all(m["evaluation"]["report"]["schema_version"] == 1 for m in row["members"])
        assert all(m["submission"]["files"][0]["text"].startswith("import triton") for m in row["members"])
        assert "User" not in line and "user" not in line

    def test_pairs_are_marked_as_derived(self, rows):
        row = json.loads(rows["ranking"][0])
        ids = {m["shown_as"]: m["submission"]["id"] for m in row["members"]}
        said = {(p["better"], p["worse"]): (p["is_tie"], p["strength"]) for p in row["pairs"]}

        assert said == {
            (ids["B"], ids["A"]): (False, "much"), (ids["B"], ids["C"]): (False, "much"),
            (ids["A"], ids["C"]): (True, None),
        }  # fmt: skip
        assert {p["derived_from"] for p in row["pairs"]} == {"ranking"}


def test_pages_of_agreement_and_progress_do_without_scores(each_database, each_settings, draft):
    viewer, review_id, _ = draft
    with each_database.write() as session:
        review = submit(session, each_settings, viewer, review_id)
        assert agreement.rows(session) == []
        assert progress.own(session, viewer.id, review.submitted_at).week == 1


def test_an_author_who_judges_sees_no_ranking_of_their_own_work(each_database, each_settings, draft):
    viewer, review_id, _ = draft
    with each_database.write() as session:
        review = submit(session, each_settings, viewer, review_id)
        judge = factories.make_viewer(session, Role.ADJUDICATOR)
        assert [s.review.id for s in queries.visible_reviews(session, judge, review.subject_id)] == [review.id]
        session.add(SubjectAuthor(subject_id=review.subject_id, user_id=judge.id))
        session.flush()
        assert queries.visible_reviews(session, judge, review.subject_id) == []
