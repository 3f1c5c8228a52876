"""Reviews: pinned to rubric and evidence, saved as typed, submitted once, blind until then."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from sqlalchemy import update

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.report import Claim, Finding, Severity, StageName, Tier, Verdict
from app.domain.review import Decision, ReviewState, Role, SlotState
from app.errors import Conflict, Gone, Invalid, NotFound, NotPermitted
from app.models import ReviewSlot, utc_now
from app.reviews import queries, service
from app.reviews.service import ReviewIncomplete
from app.rubrics import service as rubrics
from tests import factories


@pytest.fixture
def house(each_database, each_settings):
    """A submission under review by two people."""
    return House(each_database, each_settings)


class House:
    def __init__(self, database, settings, report=None):
        self.database, self.settings = database, settings
        with database.write() as session:
            rubrics.seed(session)
            self.author = factories.make_viewer(session, login="author-of-it")
            self.first, self.second = factories.make_reviewer(session), factories.make_reviewer(session)
            self.third = factories.make_reviewer(session)
            self.judge = factories.make_viewer(session, Role.ADJUDICATOR)
            self.submission, self.evaluation, slots = factories.make_evaluated(
                session, settings, author=self.author, report=report
            )
            self.slots = [s.public_id for s in slots]
            self.subject_id = slots[0].subject_id

    def open(self, viewer, number=0):
        with self.database.write() as session:
            slot = assignment_queries.find_slot(session, self.slots[number])
            claim = assignments.claim_slot(session, self.settings, viewer, slot)
            return service.open_review(session, viewer, claim.slot).public_id, claim.token

    def submit(self, viewer, opened, **overrides):
        review_id, _ = opened
        with self.database.write() as session:
            review = queries.find(session, review_id)
            return service.submit_review(session, self.settings, viewer, review, factories.full_content(**overrides))

    def save(self, viewer, review_id, content, base_version):
        with self.database.write() as session:
            return service.save_draft(
                session, viewer, queries.find(session, review_id), content, base_version=base_version
            )

    def seen_by(self, viewer):
        with self.database.read() as session:
            return {s.label: s.review for s in queries.visible_reviews(session, viewer, self.subject_id)}

    def expire(self):
        past = utc_now() - dt.timedelta(minutes=1)
        with self.database.write() as session:
            session.execute(update(ReviewSlot).where(ReviewSlot.state == "claimed").values(lease_until=past))


class TestOpen:
    def test_pins_the_rubric_and_the_evidence(self, house):
        review_id, _ = house.open(house.first)
        with house.database.read() as session:
            review = queries.find(session, review_id)
        assert review.rubric_version.rubric.key == "generation"
        assert review.evaluation.public_id == house.evaluation.public_id

    def test_opening_again_gives_the_same_draft(self, house):
        assert house.open(house.first)[0] == house.open(house.first)[0]

    def test_only_who_holds_the_slot_opens(self, house):
        house.open(house.first)
        with house.database.write() as session, pytest.raises(NotPermitted):
            service.open_review(session, house.second, assignment_queries.find_slot(session, house.slots[0]))


class TestDraft:
    def test_a_save_on_top_of_the_last_one_counts_up(self, house):
        review_id, _ = house.open(house.first)
        assert house.save(house.first, review_id, {"feedback": "a"}, 0).version == 1
        assert house.save(house.first, review_id, {"feedback": "ab"}, 1).version == 2

    def test_an_edit_from_another_page_gives_both_texts(self, house):
        review_id, _ = house.open(house.first)
        house.save(house.first, review_id, {"feedback": "from the desk"}, 0)
        saved = house.save(house.first, review_id, {"feedback": "from the phone"}, 0)

        assert saved.conflict == {"feedback": "from the desk"} and saved.version == 1

    def test_a_draft_outlives_its_lease(self, house):
        review_id, _ = house.open(house.first)
        house.save(house.first, review_id, {"feedback": "kept"}, 0)
        house.expire()
        with house.database.write() as session:
            assignments.expire(session)
        assert house.save(house.first, review_id, {"feedback": "kept on"}, 1).version == 2

    def test_of_another_is_not_mine_to_save(self, house):
        review_id, _ = house.open(house.first)
        with pytest.raises(NotPermitted):
            house.save(house.second, review_id, {}, 0)


class TestSubmit:
    def test_closes_review_and_slot(self, house):
        review = house.submit(house.first, house.open(house.first))
        assert (review.state, review.decision, review.is_extra) == (ReviewState.SUBMITTED, "accept", False)
        with house.database.read() as session:
            assert assignment_queries.find_slot(session, house.slots[0]).state == SlotState.DONE

    def test_lists_all_that_is_missing(self, house):
        content = factories.full_content(decision=None, feedback=" ")
        content["scores"]["code"] = {"level": 1}
        content["scores"]["correct"] = {"level": 3}
        del content["scores"]["robust"]
        with pytest.raises(ReviewIncomplete) as caught:
            house.submit(house.first, house.open(house.first), **content)

        assert set(caught.value.details["problems"]) == {"robust", "code", "correct", "decision", "feedback"}

    def test_a_second_submit_is_refused(self, house):
        opened = house.open(house.first)
        house.submit(house.first, opened)
        with pytest.raises(Conflict, match="submitted already"):
            house.submit(house.first, opened)

    def test_late_but_nobody_took_it(self, house):
        opened = house.open(house.first)
        house.expire()
        with house.database.write() as session:
            assignments.expire(session)
        assert not house.submit(house.first, opened).is_extra

    def test_late_and_both_slots_are_gone_is_kept_as_extra(self, house):
        opened = house.open(house.first)
        house.expire()
        house.submit(house.second, house.open(house.second, 0))
        assert house.submit(house.first, opened).is_extra

    def test_a_conflict_declared_meanwhile_makes_it_an_extra(self, house):
        from app.accounts import queries as account_queries
        from app.accounts import service as accounts

        opened = house.open(house.first)
        with house.database.write() as session:
            me = account_queries.user_by_public_id(session, house.first.public_id)
            other = account_queries.user_by_public_id(session, house.author.public_id)
            accounts.declare_conflict(session, me, other=other)
        assert house.submit(house.first, opened).is_extra

    def test_active_time_is_never_longer_than_wall_time(self, house):
        review = house.submit(house.first, house.open(house.first), active_seconds=10_000)
        assert review.active_seconds <= review.wall_seconds

    @pytest.mark.parametrize(
        "bad", [{"scores": {"code": {"level": "best"}}}, {"confidence": 7}, {"decision": "maybe"}, {"x": 1}]
    )
    def test_what_is_no_review_is_refused(self, house, bad):
        with pytest.raises(Invalid):
            house.submit(house.first, house.open(house.first), **bad)


class TestCaps:
    WRONG = Finding("numerics.wrong_values", Severity.ERROR, StageName.CORRECTNESS, "off by 1")

    @pytest.fixture
    def capped(self, database, settings):
        return House(database, settings, factories.make_report(Verdict.WRONG_RESULT, findings=(self.WRONG,)))

    def test_an_error_finding_caps_whatever_the_rationale(self, capped):
        content = factories.full_content()
        content["scores"]["correct"] = {"level": 2, "rationale": "fine by me"}
        with pytest.raises(ReviewIncomplete, match="lacks 1 thing") as caught:
            capped.submit(capped.first, capped.open(capped.first), **content)
        assert "numerics.wrong_values caps this at 0" in caught.value.details["problems"]["correct"]

    def test_going_above_says_why_the_finding_is_false_and_contests_it(self, capped):
        content = factories.full_content()
        content["scores"]["correct"] = {"level": 2, "false_because": "the finding compares the wrong axis"}
        capped.submit(capped.first, capped.open(capped.first), **content)
        with capped.database.read() as session:
            (contest,) = queries.list_contests(session, capped.judge, state="open").items
        assert (contest.finding_code, contest.reason) == (
            "numerics.wrong_values",
            "the finding compares the wrong axis",
        )

    def test_what_was_contested_by_hand_is_not_contested_again(self, capped):
        opened, content = capped.open(capped.first), factories.full_content()
        with capped.database.write() as session:
            review = queries.find(session, opened[0])
            service.contest_finding(session, capped.first, review, code="numerics.wrong_values", reason="wrong axis")
        content["scores"]["correct"] = {"level": 2, "false_because": "as contested"}
        capped.submit(capped.first, opened, **content)
        with capped.database.read() as session:
            waiting = queries.list_contests(session, capped.judge, state="open").items
        assert [contest.reason for contest in waiting] == ["wrong axis"]

    def test_a_level_within_the_cap_contests_nothing(self, capped):
        content = factories.full_content()
        content["scores"]["correct"] = {"level": 0, "rationale": "off by one", "evidence": ["finding.1"]}
        capped.submit(capped.first, capped.open(capped.first), **content)
        with capped.database.read() as session:
            assert queries.list_contests(session, capped.judge, state="open").items == []

    def test_a_contradicted_claim_caps_what_explains(self, database, settings):
        report = factories.make_report(claims=(Claim("3x faster", "contradicted", ("benchmark.1",)),))
        house = House(database, settings, report)
        with pytest.raises(ReviewIncomplete) as caught:
            house.submit(house.first, house.open(house.first))
        assert list(caught.value.details["problems"]) == ["explained"]

    def test_a_soft_integrity_finding_caps_nothing(self, database, settings):
        finding = Finding("integrity.scans_memory", Severity.ERROR, StageName.INSPECT, "gc", tier=Tier.SUPPORT)
        house = House(database, settings, factories.make_report(findings=(finding,)))
        house.submit(house.first, house.open(house.first))


class TestBlind:
    def test_others_reviews_show_after_ones_own_is_in(self, house):
        mine, theirs = house.open(house.first, 0), house.open(house.second, 1)
        house.submit(house.second, theirs)
        assert set(house.seen_by(house.first)) == {"you"}
        with house.database.read() as session, pytest.raises(NotFound):
            queries.find_visible(session, house.first, theirs[0])

        house.submit(house.first, mine)
        assert set(house.seen_by(house.first)) == {"you", "Reviewer 1"}
        assert house.second.name not in json.dumps(list(house.seen_by(house.first)))

    def test_bystanders_see_nothing(self, house):
        house.submit(house.first, house.open(house.first))
        assert house.seen_by(house.third) == {}

    def test_the_author_sees_reviews_once_all_are_in(self, house):
        house.submit(house.first, house.open(house.first, 0))
        assert house.seen_by(house.author) == {}
        house.submit(house.second, house.open(house.second, 1))
        assert set(house.seen_by(house.author)) == {"Reviewer 1", "Reviewer 2"}

    def test_adjudicators_see_names_but_no_drafts(self, house):
        house.open(house.second, 1)
        house.submit(house.first, house.open(house.first, 0))
        assert set(house.seen_by(house.judge)) == {house.first.name}


class TestDecide:
    def test_stands_beside_the_verdict_and_the_newest_counts(self, house):
        for decision in (Decision.REVISE, Decision.REJECT):
            with house.database.write() as session:
                service.decide(
                    session, house.judge, house.subject_id, decision=decision, confidence=3, reason="see above"
                )
        with house.database.read() as session:
            assert queries.decision_of(session, house.subject_id).decision == "reject"

    def test_reviewers_do_not_decide(self, house):
        with house.database.write() as session, pytest.raises(NotPermitted):
            service.decide(session, house.first, house.subject_id, decision=Decision.ACCEPT, confidence=3, reason="x")


class TestContest:
    def test_runs_the_evaluation_again_and_waits_for_an_adjudicator(self, house, sender):
        review_id, _ = house.open(house.first)
        with house.database.write() as session:
            review = queries.find(session, review_id)
            contest = service.contest_finding(
                session, house.first, review, code="verdict", reason="it is wrong for n=1"
            )
        assert sender.jobs[-1][0] == "evaluate"
        with house.database.write() as session:
            (waiting,) = queries.list_contests(session, house.judge, state="open").items
            assert waiting.id == contest.id
            service.settle_contest(session, house.judge, waiting, upheld=True, because="It is.")
        with house.database.read() as session:
            assert queries.list_contests(session, house.judge, state="open").items == []

    def test_only_what_is_in_the_report_is_contested(self, house):
        review_id, _ = house.open(house.first)
        with house.database.write() as session, pytest.raises(Invalid):
            service.contest_finding(
                session, house.first, queries.find(session, review_id), code="numerics.x", reason="x"
            )


def test_a_heartbeat_after_submitting_says_that_it_is_over(house):
    opened = house.open(house.first)
    house.submit(house.first, opened)
    with house.database.write() as session, pytest.raises(Gone):
        slot = assignment_queries.find_slot(session, house.slots[0])
        assignments.heartbeat_slot(session, house.settings, house.first, slot, opened[1])
