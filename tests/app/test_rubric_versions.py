"""Versions follow each other and never change: impact, moved drafts, rulings; old reviews stay as they were."""

from __future__ import annotations

import copy

import pytest

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.domain.review import Role
from app.errors import Conflict, Invalid, NotPermitted
from app.exports import queries as export_queries
from app.kit.db import Database
from app.models import AuditEntry, Review, ReviewDraft, RubricMove
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.reviews.service import ReviewIncomplete
from app.rubrics import content, moves, queries, rulings, service
from app.rubrics.impact import impact_of
from tests import factories

TYPED = {
    "scores": {
        "code": {"level": 1, "state": "scored", "rationale": "magic numbers", "evidence": ["finding.1"]},
        "spec": {"level": 2, "state": "scored", "rationale": "", "evidence": []},
        "build": {"level": 2, "state": "scored", "rationale": "one warning", "evidence": []},
    },
    "comments": [{"path": "solution.py", "line": 3, "body": "why 96?"}],
    "feedback": "Well made.",
}


@pytest.fixture
def house(each_database, each_settings):
    return House(each_database, each_settings)


class House:
    """Three submitted reviews and two drafts on version 1 of the generation rubric."""

    def __init__(self, database, settings):
        self.database, self.settings = database, settings
        self.submitted, self.drafts = [], []
        with database.write() as session:
            service.seed(session)
            self.admin = factories.make_viewer(session, Role.ADMIN)
            self.lead = factories.make_viewer(session, Role.ADJUDICATOR)
            self.reviewers = [factories.make_reviewer(session) for _ in range(5)]
            slots = [s for _ in range(3) for s in factories.make_evaluated(session, settings)[2]]
            for number, (viewer, slot) in enumerate(zip(self.reviewers, slots, strict=False)):
                found = assignment_queries.find_slot(session, slot.public_id)
                review = reviews.open_review(
                    session, viewer, assignments.claim_slot(session, settings, viewer, found).slot
                )
                if number < 3:
                    reviews.submit_review(session, settings, viewer, review, factories.full_content())
                    self.submitted.append(review.public_id)
                else:
                    reviews.save_draft(session, viewer, review, copy.deepcopy(TYPED), base_version=0)
                    self.drafts.append(review.public_id)

    def version(self, session, number=1):
        rubric = queries.rubric_by_key(session, "generation")
        return next(v for v in queries.list_versions(session, rubric_id=rubric.id) if v.version == number)

    def draft_version(self, change):
        """A draft of version 2: `code` renamed to `clarity`, build without its level 2."""
        with self.database.write() as session:
            data = copy.deepcopy(content.read(self.version(session).content).model_dump())
            change(data, {c["key"]: c for c in data["criteria"]})
            return service.create_draft(session, self.admin, data).public_id

    def second(self, change=None):
        public_id = self.draft_version(change or _structural)
        with self.database.write() as session:
            return service.publish(session, self.admin, queries.find_version(session, public_id)).public_id

    def text(self, session, review_id):
        review = review_queries.find(session, review_id)
        return review_queries.draft_of(session, review)

    def submit(self, viewer, review_id, **overrides):
        with self.database.write() as session:
            review = review_queries.find(session, review_id)
            return reviews.submit_review(session, self.settings, viewer, review, factories.full_content(**overrides))


def _structural(_data, by_key):
    by_key["code"].update(key="clarity", title="Clarity")
    by_key["build"].update(gate=True, still_asked=["explained"])
    del by_key["build"]["levels"][2]


def _wording(data, by_key):
    by_key["code"]["guidance"] = "Would you maintain it?"


class TestImpact:
    def test_says_what_is_touched_and_touches_nothing(self, house):
        draft = house.draft_version(_structural)
        with house.database.read() as session:
            impact = impact_of(session, queries.find_version(session, draft), {})
        assert (impact.change_class, impact.before.version, impact.faults) == ("structural", 1, [])
        assert [(t.version.version, t.submitted, t.drafts) for t in impact.touched] == [(1, 3, 2)]
        assert impact.supersedes["generation"].version == 1
        assert {one.review.public_id for one in impact.plan.moves} == set(house.drafts)
        with house.database.read() as session:
            assert [house.text(session, one).content for one in house.drafts] == [TYPED, TYPED]

    def test_publishing_notes_how_far_it_goes(self, house):
        second = house.second(_wording)
        with house.database.read() as session:
            assert queries.find_version(session, second).change_class == "wording"
            assert house.version(session).change_class is None

    def test_a_key_that_names_nothing_is_not_published(self, house):
        with pytest.raises(Invalid, match="faults"):
            house.second(lambda d, c: c["code"].update(informed_by=["diff"]))


class TestMove:
    def test_publishing_alone_moves_nobody(self, house):
        house.second()
        with house.database.read() as session:
            for public_id in (*house.submitted, *house.drafts):
                assert review_queries.find(session, public_id).rubric_version.version == 1

    def test_what_is_typed_goes_along_or_becomes_a_comment(self, house):
        second = house.second()
        with house.database.write() as session:
            planned = moves.plan(session, queries.find_version(session, second))
            assert moves.move(session, house.admin, planned, seal=planned.seal) == 2
        with house.database.read() as session:
            draft = house.text(session, house.drafts[0])
            assert review_queries.find(session, house.drafts[0]).rubric_version.version == 2
        assert draft.version == 2 and draft.content["feedback"] == TYPED["feedback"]
        assert draft.content["scores"]["spec"] == TYPED["scores"]["spec"]
        # The level is gone, so it is chosen anew; the words stay.
        assert draft.content["scores"]["build"] == TYPED["scores"]["build"] | {"level": None}
        assert "code" not in draft.content["scores"]
        assert draft.content["comments"][0] == TYPED["comments"][0]
        assert draft.content["comments"][1]["body"] == (
            "Code, no longer asked (level 1).\n\nmagic numbers\n\nEvidence: finding.1"
        )

    def test_a_renamed_criterion_keeps_its_answers_when_told(self, house):
        second = house.second()
        with house.database.write() as session:
            planned = moves.plan(session, queries.find_version(session, second), {"code": "clarity"})
            moves.move(session, house.admin, planned, seal=planned.seal)
        with house.database.read() as session:
            moved = house.text(session, house.drafts[0]).content
        assert moved["scores"]["clarity"] == TYPED["scores"]["code"] and moved["comments"] == TYPED["comments"]

    def test_submitted_reviews_keep_their_version_and_their_words(self, house):
        with house.database.read() as session:
            before = [review_queries.find(session, one).scores for one in house.submitted]
        second = house.second()
        with house.database.write() as session:
            planned = moves.plan(session, queries.find_version(session, second))
            moves.move(session, house.admin, planned, seal=planned.seal)
        with house.database.read() as session:
            after = [review_queries.find(session, one) for one in house.submitted]
        assert [r.scores for r in after] == before and {r.rubric_version.version for r in after} == {1}

    def test_what_was_stands_in_the_books(self, house):
        second = house.second()
        with house.database.write() as session:
            planned = moves.plan(session, queries.find_version(session, second))
            moves.move(session, house.admin, planned, seal=planned.seal)
        with house.database.read() as session:
            (row,) = session.query(RubricMove).all()
            assert [one["draft"] for one in row.moved] == [TYPED, TYPED]
            assert session.query(AuditEntry).filter_by(action="rubric.move").count() == 1

    def test_a_save_in_between_stops_all_of_it(self, house):
        second = house.second()
        with house.database.read() as session:
            shown = moves.plan(session, queries.find_version(session, second))
        with house.database.write() as session:
            review = review_queries.find(session, house.drafts[1])
            reviews.save_draft(session, house.reviewers[4], review, {"feedback": "more"}, base_version=1)
        with pytest.raises(Conflict), house.database.write() as session:
            moves.move(session, house.admin, shown, seal=shown.seal)
        with pytest.raises(Conflict, match="changed since"), house.database.write() as session:
            now = moves.plan(session, queries.find_version(session, second))
            moves.move(session, house.admin, now, seal=shown.seal)
        with house.database.read() as session:
            assert house.text(session, house.drafts[0]).content == TYPED
            assert {r.rubric_version_id for r in session.query(Review)} == {house.version(session).id}
            assert session.query(ReviewDraft).count() == 5

    def test_a_submit_that_began_before_is_not_kept_under_the_new_version(self, postgres_settings, sender):
        """SQLite has one writer at a time; PostgreSQL would let the two cross."""
        house = House(Database(postgres_settings, sender), postgres_settings)
        second = house.second()
        with pytest.raises(Conflict, match="just moved"), house.database.write() as submitting:
            review = review_queries.find(submitting, house.drafts[0])
            with house.database.write() as session:
                planned = moves.plan(session, queries.find_version(session, second))
                moves.move(session, house.admin, planned, seal=planned.seal)
            reviews.submit_review(submitting, postgres_settings, house.reviewers[3], review, factories.full_content())
        house.database.close()

    def test_nobody_is_moved_to_a_draft(self, house):
        draft = house.draft_version(_wording)
        with pytest.raises(Conflict, match="published version"), house.database.write() as session:
            planned = moves.plan(session, queries.find_version(session, draft))
            moves.move(session, house.admin, planned, seal=planned.seal)

    def test_a_moved_draft_is_submitted_by_its_new_version(self, house):
        second = house.second(_wording)
        with house.database.write() as session:
            review = review_queries.find(session, house.drafts[0])
            planned = moves.plan(session, queries.find_version(session, second), review=review)
            assert moves.move(session, house.reviewers[3], planned, seal=planned.seal) == 1
        house.submit(house.reviewers[3], house.drafts[0])
        with house.database.read() as session:
            assert review_queries.find(session, house.drafts[0]).rubric_version.public_id == second
            assert review_queries.find(session, house.drafts[1]).rubric_version.version == 1


class TestEdit:
    def test_a_draft_saved_by_another_is_not_overwritten(self, house):
        public_id = house.draft_version(_wording)
        with house.database.write() as session:
            version = queries.find_version(session, public_id)
            base, mine = service.draft_sha256(version), version.content | {"title": "Mine"}
            service.update_draft(session, house.admin, version, version.content | {"title": "Theirs"}, base=base)
            with pytest.raises(Conflict, match="somebody saved"):
                service.update_draft(session, house.admin, version, mine, base=base)
            assert version.content["title"] == "Theirs"


class TestSeed:
    def test_a_new_edition_supersedes_an_untouched_one(self, database, monkeypatch):
        with database.write() as session:
            service.seed(session)
        (shipped,) = (one for one in service._shipped() if one.key == "generation")
        monkeypatch.setattr(service, "_shipped", lambda: (shipped.model_copy(update={"title": "Second edition"}),))
        with database.write() as session:
            assert service.seed(session) == 1 and service.seed(session) == 0
            assert service.applicable(session, task_kind="generation").version == 2

    def test_but_never_what_people_made_of_it(self, house, monkeypatch):
        house.second(_wording)
        (shipped,) = (one for one in service._shipped() if one.key == "generation")
        monkeypatch.setattr(service, "_shipped", lambda: (shipped.model_copy(update={"title": "Second edition"}),))
        with house.database.write() as session:
            assert service.seed(session) == 0


class TestRulings:
    @pytest.fixture
    def ruling(self, house):
        with house.database.write() as session:
            return rulings.make_ruling(
                session, house.lead, house.version(session), criterion="code", body="Plan caches are fine.",
                example="A dict keyed by shape.",
            ).public_id  # fmt: skip

    def test_is_read_before_the_next_submit(self, house, ruling):
        with pytest.raises(ReviewIncomplete) as caught:
            house.submit(house.reviewers[3], house.drafts[0])
        assert list(caught.value.details["problems"]) == [f"ruling-{ruling}"]
        house.submit(house.reviewers[3], house.drafts[0], acknowledged=[ruling])
        with house.database.read() as session:
            assert rulings.unread(session, house.reviewers[3], house.version(session)) == []
            assert len(rulings.unread(session, house.reviewers[4], house.version(session))) == 1

    def test_goes_out_with_the_reviews_after_it_only(self, house, ruling):
        after = house.submit(house.reviewers[3], house.drafts[0], acknowledged=[ruling])
        with house.database.read() as session:
            before = review_queries.find(session, house.submitted[0])
            assert export_queries.rulings_at_submit(session, before) == []
            ((found, read_at),) = export_queries.rulings_at_submit(session, after)
        assert (found.public_id, read_at) == (ruling, after.submitted_at)

    def test_withdrawn_it_asks_nobody_and_still_goes_out_with_what_was_written_under_it(self, house, ruling):
        under = house.submit(house.reviewers[3], house.drafts[0], acknowledged=[ruling])
        with house.database.write() as session:
            rulings.withdraw_ruling(session, house.lead, queries.find_ruling(session, ruling))
        later = house.submit(house.reviewers[4], house.drafts[1])
        with house.database.read() as session:
            assert len(export_queries.rulings_at_submit(session, under)) == 1
            assert export_queries.rulings_at_submit(session, later) == []

    def test_holds_for_the_next_version_that_has_its_criterion(self, house, ruling):
        with house.database.read() as session:
            assert len(queries.rulings_of(session, house.version(session))) == 1
        second = house.second(_structural)
        with house.database.read() as session:
            assert queries.rulings_of(session, queries.find_version(session, second)) == []

    def test_reviewers_make_none(self, house):
        with house.database.write() as session, pytest.raises(NotPermitted):
            rulings.make_ruling(
                session, house.reviewers[0], house.version(session), criterion="code", body="x", example="y"
            )

    @pytest.mark.parametrize("wrong", [{"criterion": "colour"}, {"body": " "}, {"example": ""}])
    def test_names_a_criterion_a_meaning_and_an_example(self, house, wrong):
        with house.database.write() as session, pytest.raises(Invalid):
            rulings.make_ruling(
                session,
                house.lead,
                house.version(session),
                **{"criterion": "code", "body": "b", "example": "e"} | wrong,
            )
