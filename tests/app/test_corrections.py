"""Complaints 28 and 38: a submitted review is corrected by a next revision that starts from a copy; the first stays."""

from __future__ import annotations

import copy

import pytest
from sqlalchemy import func, select

from app.accounts import queries as account_queries
from app.accounts import service as accounts
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.report import Finding, Severity, StageName, Verdict
from app.domain.review import Decision, ReviewState
from app.errors import Conflict, NotFound, NotPermitted
from app.evaluations import service as evaluations
from app.experiments import queries as experiment_queries
from app.experiments import service as experiments
from app.experiments.service import Asked
from app.kit import strict_json
from app.models import AuditEntry, Contest, Review, ReviewSubject, utc_now
from app.reviews import agreement, corrections, progress, queries, ranking, service
from app.reviews.service import ReviewIncomplete
from app.rubrics import queries as rubric_queries
from app.rubrics import service as rubrics
from app.submissions import queries as submission_queries
from tests import factories
from tests.app.test_reviews import House
from tests.conftest import migrate
from workers.jobs import experiment as experiment_job

COMMENT = {
    "path": "solution.py", "line": 1, "end_line": None, "body": "Why this?", "criterion": "code",
    "severity": "minor", "category": None, "evidence": ["finding.1"],
}  # fmt: skip


class Corrected(House):
    """The same two reviewers, and how one of them corrects what they have submitted."""

    def correct(self, viewer, review_id):
        with self.database.write() as session:
            return corrections.open_correction(session, viewer, queries.find(session, review_id)).public_id

    def copied(self, review_id):
        with self.database.read() as session:
            return copy.deepcopy(queries.draft_of(session, queries.find(session, review_id)).content)

    def first_review(self, viewer=None, number=0, **overrides):
        viewer = viewer or self.first
        return self.submit(viewer, self.open(viewer, number), comments=[COMMENT], **overrides).public_id

    def corrected(self, viewer, review_id, **changes):
        draft = self.correct(viewer, review_id)
        changes = {"what_changed": "I had misread the mask.", "decision": "reject"} | changes
        return self.submit(viewer, (draft, ""), **{**self.copied(draft), **changes}).public_id

    def bytes_of(self, review_id):
        with self.database.read() as session:
            review = queries.find(session, review_id)
            return strict_json.dump(
                {
                    column.key: value.isoformat()
                    if hasattr(value := getattr(review, column.key), "isoformat")
                    else value
                    for column in Review.__table__.columns
                }
            )

    def evaluated_again(self):
        with self.database.write() as session:
            submission = submission_queries.find(session, self.submission.public_id)
            evaluations.request_evaluation(session, submission.id, requested_by_id=self.judge.id, reason="again")
            report = factories.make_report(Verdict.WRONG_RESULT)
            return factories.evaluate(session, self.settings, submission, report).public_id


@pytest.fixture
def house(database, settings):
    return Corrected(database, settings)


@pytest.fixture
def each_house(each_database, each_settings):
    return Corrected(each_database, each_settings)


class TestBegin:
    def test_it_starts_from_a_copy_with_the_same_rubric_beside_the_evidence_as_it_is_now(self, each_house):
        house = each_house
        before = house.first_review()
        with house.database.write() as session:
            used = queries.find(session, before).rubric_version
            rubrics.publish(session, None, rubrics.create_draft(session, None, used.content | {"title": "Newer"}))
        newer = house.evaluated_again()

        draft_id = house.correct(house.first, before)

        with house.database.read() as session:
            old, draft = queries.find(session, before), queries.find(session, draft_id)
            assert corrections.content_of(old) == queries.draft_of(session, draft).content
            assert (draft.state, draft.revision, draft.supersedes.public_id) == (ReviewState.DRAFT, 2, before)
            assert draft.rubric_version_id == old.rubric_version_id == used.id
            assert service.newer_rubric(session, draft) is None
            newest = rubric_queries.published_after(session, used)
            assert rubric_queries.drafts_before(session, newest) == []
            assert (old.evaluation.public_id, draft.evaluation.public_id) == (house.evaluation.public_id, newer)

    def test_asked_for_again_it_is_the_same_draft_with_what_was_typed(self, each_house):
        house = each_house
        before = house.first_review()
        draft = house.correct(house.first, before)
        house.save(house.first, draft, {"feedback": "half a sentence"}, 0)

        assert house.correct(house.first, before) == draft
        assert house.copied(draft) == {"feedback": "half a sentence"}

    def test_a_draft_is_not_corrected(self, house):
        review_id, _ = house.open(house.first)
        with pytest.raises(Conflict, match="only a submitted review"):
            house.correct(house.first, review_id)

    def test_nor_by_anybody_else(self, house):
        before = house.first_review()
        for viewer in (house.second, house.judge, house.author):
            with pytest.raises(NotPermitted, match="another person's review"):
                house.correct(viewer, before)

    def test_nor_a_revision_that_is_corrected_already(self, house):
        before = house.first_review()
        house.corrected(house.first, before)
        with pytest.raises(Conflict, match="corrected already") as caught:
            house.correct(house.first, before)
        assert caught.value.what_to_do == "Correct revision 2 instead."

    def test_nor_once_an_adjudicator_has_decided(self, house):
        before = house.first_review()
        _decide(house)
        with pytest.raises(Conflict, match="an adjudicator decided on"):
            house.correct(house.first, before)

    def test_nor_by_who_came_too_close_to_the_author(self, house):
        before = house.first_review()
        with house.database.write() as session:
            me, other = (
                account_queries.user_by_public_id(session, one.public_id) for one in (house.first, house.author)
            )
            accounts.declare_conflict(session, me, other=other)
        with pytest.raises(NotPermitted, match="too close"):
            house.correct(house.first, before)


class TestSubmit:
    def test_the_first_stays_byte_for_byte_and_both_are_seen(self, each_house):
        house = each_house
        before = house.first_review()
        house.first_review(house.second, 1)
        as_submitted = house.bytes_of(before)

        after = house.corrected(house.first, before, feedback="The mask is wrong.")

        assert house.bytes_of(before) == as_submitted
        for viewer, label in ((house.first, "you"), (house.second, "Reviewer 1"), (house.author, "Reviewer 1")):
            with house.database.read() as session:
                seen = queries.visible_reviews(session, viewer, house.subject_id)
                stands = queries.standing(seen)
            assert [s.review.public_id for s in seen if s.label == label] == [before, after]
            assert [s.review.public_id for s in stands if s.label == label] == [after]
            assert len(stands) == 2
        with house.database.read() as session:
            now = queries.find(session, after)
            assert (now.decision, now.feedback, now.revision) == ("reject", "The mask is wrong.", 2)
            assert now.comments == queries.find(session, before).comments
            assert now.what_changed == "I had misread the mask."

    def test_it_needs_a_line_on_what_changed(self, house):
        before = house.first_review()
        with pytest.raises(ReviewIncomplete) as caught:
            house.corrected(house.first, before, what_changed=" ")
        assert list(caught.value.details["problems"]) == ["what_changed"]

    def test_word_for_word_the_same_is_no_correction(self, house):
        before = house.first_review()
        with pytest.raises(ReviewIncomplete) as caught:
            house.corrected(house.first, before, decision="accept")
        assert "nothing is changed" in caught.value.details["problems"]["what_changed"]

    def test_the_same_on_newer_evidence_is_one(self, house):
        before = house.first_review()
        house.evaluated_again()
        after = house.corrected(house.first, before, decision="accept", what_changed="Holds on the newer run, too.")
        assert house.seen_by(house.first)["you"].public_id == after

    def test_a_line_break_makes_no_second_line(self, house):
        after = house.corrected(house.first, house.first_review(), what_changed=" The mask.\n\nAnd\tthe tail. ")
        with house.database.read() as session:
            assert queries.find(session, after).what_changed == "The mask. And the tail."

    def test_a_first_review_says_nothing_of_changes(self, house):
        review_id = house.first_review(what_changed="nothing was there before")
        with house.database.read() as session:
            assert queries.find(session, review_id).what_changed == ""

    def test_a_decision_made_meanwhile_refuses_it_and_keeps_the_draft(self, house):
        before = house.first_review()
        draft = house.correct(house.first, before)
        house.save(house.first, draft, {"feedback": "long thoughts"}, 0)
        _decide(house)
        with pytest.raises(Conflict, match="an adjudicator decided on"):
            house.submit(house.first, (draft, ""), **house.copied(draft), what_changed="x", decision="reject")
        assert house.copied(draft) == {"feedback": "long thoughts"}

    def test_a_correction_is_corrected_like_any_review(self, house):
        second = house.corrected(house.first, house.first_review())
        third = house.corrected(house.first, second, decision="revise")
        with house.database.read() as session:
            now = queries.find(session, third)
            assert (now.revision, now.supersedes.public_id) == (3, second)
            assert [r.public_id for r in queries.list_own(session, house.first).items] == [third]

    def test_the_books_say_who_began_and_submitted_it(self, house):
        before = house.first_review()
        after = house.corrected(house.first, before)
        with house.database.read() as session:
            query = select(AuditEntry).where(AuditEntry.target == after).order_by(AuditEntry.id)
            begun, submitted = session.scalars(query).all()
        assert (begun.action, begun.actor_id, begun.detail) == (
            "review.correct",
            house.first.id,
            {"supersedes": before},
        )
        assert submitted.action == "review.submit" and submitted.detail["supersedes"] == before
        assert submitted.detail["what_changed"] == "I had misread the mask."


class TestCountsOnce:
    def test_in_slots_queue_progress_limits_rubrics_and_the_list(self, each_house):
        house = each_house

        def counts():
            with house.database.read() as session:
                subject = session.get_one(ReviewSubject, house.subject_id)
                version = queries.find(session, before).rubric_version
                return (
                    assignment_queries.count_states(session), subject.reviews_done, subject.rank, subject.is_open,
                    progress.own(session, house.first.id, utc_now()), progress.by_person(session, utc_now()),
                    assignment_queries.submitted_since(session, house.first, utc_now() - progress.WEEK),
                    rubric_queries.reviews_by_version(session, version.rubric_id),
                    len(queries.list_own(session, house.first).items),
                )  # fmt: skip

        before = house.first_review()
        was = counts()
        house.corrected(house.first, before, decision="revise")

        assert counts() == was

    def test_agreement_goes_by_first_answers(self, house):
        before = house.first_review()
        scores = factories.full_content()["scores"]
        house.corrected(house.first, before, scores=scores | {"code": {"level": 3}})
        with house.database.read() as session:
            rows = agreement.rows(session)
        assert rows and {row.agreement.units for row in rows} == {0}, "nobody agrees or disagrees with themselves"

    def test_ones_own_copied_words_are_no_words_to_another_author(self, house):
        before = house.first_review()
        draft = house.correct(house.first, before)
        with house.database.read() as session:
            assert queries.own_feedback(session, house.first, besides=queries.find(session, draft)) == []

    def test_disagreement_goes_by_reviews_as_they_stand(self, house):
        before = house.first_review(decision="accept")
        house.corrected(house.first, before, decision="reject")
        with house.database.read() as session:
            assert queries.decisions_in(session, house.subject_id) == ["reject"]
            assert "disagree" not in session.get_one(ReviewSubject, house.subject_id).why

    def test_one_doubt_is_contested_once(self, database, settings):
        wrong = Finding("numerics.wrong_values", Severity.ERROR, StageName.CORRECTNESS, "off by 1")
        house = Corrected(database, settings, factories.make_report(Verdict.WRONG_RESULT, findings=(wrong,)))
        scores = factories.full_content()["scores"]
        scores["correct"] = {"level": 2, "false_because": "it compares the wrong axis"}
        before = house.first_review(scores=scores)

        after = house.corrected(house.first, before)

        with database.read() as session:
            (contest,) = session.scalars(select(Contest)).all()
            assert contest.reason == "it compares the wrong axis"
            assert queries.contests_by(session, queries.find(session, after)) == [contest]

    def test_earlier_experiments_are_cited_by_the_correction_and_not_the_other_way_round(self, house):
        opened = house.open(house.first)
        first = self._experiment(house, opened[0])
        house.submit(house.first, opened)
        draft = house.correct(house.first, opened[0])
        second = self._experiment(house, draft)
        after = house.submit(house.first, (draft, ""), **self._changed(house, draft)).public_id
        with house.database.read() as session:
            cited = [
                [e.public_id for e in experiment_queries.seen_when_submitted(session, queries.find(session, one))]
                for one in (opened[0], after)
            ]
        assert cited == [[first], [first, second]]

    @staticmethod
    def _changed(house, draft):
        return {**house.copied(draft), "decision": "reject", "what_changed": "Tried the tail."}

    @staticmethod
    def _experiment(house, review_id):
        with house.database.write() as session:
            review = queries.find(session, review_id)
            asked = Asked({"rows": 4, "cols": 127})
            made = experiments.request_experiment(session, house.settings, house.first, review, asked).public_id
        experiment_job.run(house.database, house.settings, lambda: lambda *_: factories.make_report(), made)
        return made


class TestBlind:
    def test_an_open_correction_hides_nothing_from_its_writer_and_nothing_of_it_shows(self, each_house):
        house = each_house
        before = house.first_review()
        other = house.first_review(house.second, 1)
        draft = house.correct(house.first, before)
        house.save(house.first, draft, {"feedback": "only mine to read"}, 0)

        mine, theirs, author = (
            {r.review.public_id for r in self._seen(house, viewer)}
            for viewer in (house.first, house.second, house.author)
        )
        assert mine == {before, other, draft}
        assert theirs == author == {before, other}
        with house.database.read() as session, pytest.raises(NotFound):
            queries.find_visible(session, house.judge, draft)

    def test_who_has_yet_to_review_sees_neither(self, house):
        house.corrected(house.first, house.first_review())
        house.open(house.second, 1)
        assert set(house.seen_by(house.second)) == {"you"}
        assert house.seen_by(house.author) == house.seen_by(house.third) == {}

    @staticmethod
    def _seen(house, viewer):
        with house.database.read() as session:
            return queries.visible_reviews(session, viewer, house.subject_id)


class TestWithdraw:
    def test_the_first_stands_as_it_was(self, house):
        before = house.first_review()
        was = house.bytes_of(before)
        draft = house.correct(house.first, before)
        assert self._withdraw(house, house.first, draft) == before
        assert house.bytes_of(before) == was
        assert {one.public_id for one in house.seen_by(house.first).values()} == {before}
        with pytest.raises(Conflict, match="was withdrawn"):
            house.save(house.first, draft, {"feedback": "from an old page"}, 0)

    def test_it_may_be_begun_again_from_the_copy_and_an_old_page_saves_over_nothing(self, house):
        before = house.first_review()
        draft = house.correct(house.first, before)
        house.save(house.first, draft, {"feedback": "on the wrong track"}, 0)
        self._withdraw(house, house.first, draft)

        assert house.correct(house.first, before) == draft
        assert house.copied(draft)["feedback"] == "Well made."
        assert house.save(house.first, draft, {"feedback": "from an old page"}, 1).conflict["feedback"] == "Well made."

    def test_only_ones_own_and_only_a_correction(self, house):
        review_id, _ = house.open(house.second, 1)
        draft = house.correct(house.first, house.first_review())
        with pytest.raises(NotPermitted):
            self._withdraw(house, house.second, draft)
        with pytest.raises(Conflict, match="no correction"):
            self._withdraw(house, house.second, review_id)

    @staticmethod
    def _withdraw(house, viewer, draft):
        with house.database.write() as session:
            return corrections.withdraw(session, viewer, queries.find(session, draft)).public_id


def test_a_ranking_is_corrected_under_the_same_letters(database, settings):
    with database.write() as session:
        subject, _ = factories.make_comparison(session, settings)
        viewer = factories.make_reviewer(session)
        free = assignment_queries.slots_of(session, subject.id)[0].public_id
        slot = assignment_queries.find_slot(session, free)
        review = service.open_review(session, viewer, assignments.claim_slot(session, settings, viewer, slot).slot)
        service.submit_review(session, settings, viewer, review, factories.full_ranking())
        first = strict_json.dump(review.ranking)

        draft = corrections.open_correction(session, viewer, review)
        content = dict(queries.draft_of(session, draft).content)
        with pytest.raises(ReviewIncomplete, match="lacks 1 thing"):
            service.submit_review(session, settings, viewer, draft, content | {"what_changed": "x"})
        content["ranking"] = content["ranking"] | {"reason": "A masks the tail."}
        after = service.submit_review(session, settings, viewer, draft, content | {"what_changed": "Said why."})

        letters = [[(m.letter, m.submission_id) for m in ranking.members_of(session, one)] for one in (review, after)]
        assert letters[0] == letters[1]
        assert strict_json.dump(review.ranking) == first and after.ranking["reason"] == "A masks the tail."


def test_going_back_a_migration_keeps_the_first_answers_and_what_hangs_on_later_ones(each_house):
    house = each_house
    before = house.first_review()
    after = house.corrected(house.first, before)
    with house.database.write() as session:
        review = queries.find(session, after)
        service.contest_finding(session, house.first, review, code="verdict", reason="it is right")
    try:
        migrate(house.settings, "d4a7c2e9b1f6")
    finally:
        migrate(house.settings)
    with house.database.read() as session:
        assert session.scalars(select(Review.public_id)).all() == [before]
        assert session.scalar(select(func.count()).where(Contest.review_id == Review.id)) == 1


def _decide(house):
    with house.database.write() as session:
        service.decide(
            session, house.judge, house.subject_id, decision=Decision.ACCEPT, confidence=3, reason="Both agree."
        )
