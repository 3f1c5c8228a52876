"""Slots: claimed by one, never by somebody too close, given back when time is up."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading

import pytest
from sqlalchemy import update

from app.accounts import queries as account_queries
from app.accounts import service as accounts
from app.accounts.policy import viewer_of
from app.assignments import oversight, queries, service
from app.assignments.filters import Filters
from app.assignments.queue import QueueState, claim_next, list_queue
from app.assignments.service import SlotTaken
from app.assignments.walk import Asked
from app.config import Settings
from app.domain.report import Verdict
from app.domain.review import Role, SkipKind, SlotState
from app.errors import Conflict, Gone, Invalid, NotPermitted
from app.models import ReviewSlot, utc_now
from tests import factories


@pytest.fixture
def item(each_database, each_settings):
    """An evaluated submission: its author, and its slots' ids."""
    with each_database.write() as session:
        author = factories.make_viewer(session, team="red")
        _, _, slots = factories.make_evaluated(session, each_settings, author=author)
        return author, [slot.public_id for slot in slots]


def _reviewer(database, **overrides):
    with database.write() as session:
        return factories.make_reviewer(session, **overrides)


def _claim(database, settings, viewer, slot_id):
    with database.write() as session:
        return service.claim_slot(session, settings, viewer, queries.find_slot(session, slot_id))


def _queue(database, viewer, **asked):
    """`asked`: filters by name, `sort`, `cursor`, `limit`, and `settings` for other limits."""
    settings = asked.pop("settings", None) or Settings(_env_file=None)
    page = {name: asked.pop(name) for name in ("sort", "cursor", "limit") if name in asked}
    with database.read() as session:
        return list_queue(session, settings, viewer, Asked(Filters(**asked), **page))


def _expire(database):
    with database.write() as session:
        past = utc_now() - dt.timedelta(minutes=1)
        session.execute(update(ReviewSlot).where(ReviewSlot.state == "claimed").values(lease_until=past))


class TestClaim:
    def test_of_many_reviewers_at_once_one_gets_the_slot(self, each_database, each_settings, item):
        viewers, won, start = [_reviewer(each_database) for _ in range(6)], [], threading.Barrier(6)

        def claim(viewer):
            start.wait()
            with contextlib.suppress(SlotTaken):
                won.append(_claim(each_database, each_settings, viewer, item[1][0]))

        threads = [threading.Thread(target=claim, args=(viewer,)) for viewer in viewers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(won) == 1

    def test_one_person_gets_one_slot_of_a_subject_even_at_once(self, each_database, each_settings, item):
        viewer, won, start = _reviewer(each_database), [], threading.Barrier(2)

        def claim(slot_id):
            start.wait()
            with contextlib.suppress(SlotTaken):
                won.append(_claim(each_database, each_settings, viewer, slot_id))

        threads = [threading.Thread(target=claim, args=(slot_id,)) for slot_id in item[1]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(won) == 1

    def test_claiming_again_keeps_the_token(self, each_database, each_settings, item):
        viewer = _reviewer(each_database)
        first = _claim(each_database, each_settings, viewer, item[1][0])

        assert _claim(each_database, each_settings, viewer, item[1][0]).token == first.token

    def test_an_expired_claim_is_free_before_any_sweep(self, each_database, each_settings, item):
        _claim(each_database, each_settings, _reviewer(each_database), item[1][0])
        _expire(each_database)

        assert _claim(each_database, each_settings, _reviewer(each_database), item[1][0]).token

    def test_submitters_cannot_claim(self, each_database, each_settings, item):
        with pytest.raises(NotPermitted):
            _claim(each_database, each_settings, item[0], item[1][0])

    def test_the_paused_cannot_claim(self, each_database, each_settings, item):
        with pytest.raises(Conflict, match="paused"):
            _claim(each_database, each_settings, _reviewer(each_database, is_paused=True), item[1][0])


class TestExclusion:
    """The same rule hides an item from the queue and refuses its claim."""

    def _refused(self, database, settings, viewer, item):
        assert _queue(database, viewer).items == []
        with pytest.raises(SlotTaken):
            _claim(database, settings, viewer, item[1][0])

    def test_the_author(self, each_database, each_settings, item):
        author = item[0]
        with each_database.write() as session:
            user = account_queries.user_by_public_id(session, author.public_id)
            user.roles = ["reviewer", "submitter"]
            viewer = viewer_of(user)
        self._refused(each_database, each_settings, viewer, item)

    def test_the_authors_team(self, each_database, each_settings, item):
        self._refused(each_database, each_settings, _reviewer(each_database, team="red"), item)

    @pytest.mark.parametrize("side", ["reviewer", "author"])
    @pytest.mark.parametrize("with_team", [False, True])
    def test_a_declared_conflict(self, each_database, each_settings, item, side, with_team):
        viewer = _reviewer(each_database, team="blue")
        with each_database.write() as session:
            me = account_queries.user_by_public_id(session, viewer.public_id)
            author = account_queries.user_by_public_id(session, item[0].public_id)
            mine, other = (me, author) if side == "reviewer" else (author, me)
            accounts.declare_conflict(session, mine, **({"team": other.team} if with_team else {"other": other}))
        self._refused(each_database, each_settings, viewer, item)

    def test_who_said_not_me(self, each_database, each_settings, item):
        viewer = _reviewer(each_database)
        with each_database.write() as session:
            service.skip_slot(session, viewer, queries.find_slot(session, item[1][0]), SkipKind.NOT_ME, "no HIP")
        self._refused(each_database, each_settings, viewer, item)

    def test_people_without_a_team_are_no_team(self, each_database, each_settings):
        with each_database.write() as session:
            factories.make_evaluated(session, each_settings, author=factories.make_viewer(session, team=""))
        assert len(_queue(each_database, _reviewer(each_database, team="")).items) == 1


class TestLease:
    def test_a_heartbeat_extends_it(self, each_database, each_settings, item):
        viewer = _reviewer(each_database)
        claim = _claim(each_database, each_settings, viewer, item[1][0])
        _expire(each_database)
        with each_database.write() as session:
            slot = queries.find_slot(session, item[1][0])
            until = service.heartbeat_slot(session, each_settings, viewer, slot, claim.token)
        with each_database.write() as session:
            assert service.expire(session) == 0
        assert until > utc_now()

    @pytest.mark.parametrize("token", ["", "wrong"])
    def test_a_wrong_token_is_refused(self, each_database, each_settings, item, token):
        viewer = _reviewer(each_database)
        _claim(each_database, each_settings, viewer, item[1][0])
        with each_database.write() as session, pytest.raises(Gone):
            service.heartbeat_slot(session, each_settings, viewer, queries.find_slot(session, item[1][0]), token)

    def test_the_sweep_gives_back_what_ran_out(self, each_database, each_settings, item):
        _claim(each_database, each_settings, _reviewer(each_database), item[1][0])
        _expire(each_database)
        with each_database.write() as session:
            assert service.expire(session) == 1
        with each_database.read() as session:
            slot = queries.find_slot(session, item[1][0])
        assert (slot.state, slot.holder_id, slot.token) == (SlotState.OPEN, None, None)

    def test_release_puts_it_back(self, each_database, each_settings, item):
        viewer = _reviewer(each_database)
        claim = _claim(each_database, each_settings, viewer, item[1][0])
        with each_database.write() as session:
            service.release_slot(session, viewer, queries.find_slot(session, item[1][0]), claim.token)
        assert len(_queue(each_database, viewer).items) == 1


class TestSkip:
    def test_later_moves_it_to_my_end_only(self, database, settings):
        viewer, other = _reviewer(database), _reviewer(database)
        with database.write() as session:
            for _ in range(3):
                factories.make_evaluated(session, settings)
        first = _queue(database, viewer).items[0].slot.public_id
        with database.write() as session:
            service.skip_slot(session, viewer, queries.find_slot(session, first), SkipKind.LATER)

        mine = _queue(database, viewer).items
        assert mine[-1].slot.public_id == first and mine[-1].is_put_off
        assert not any(i.is_put_off for i in _queue(database, other).items)

    def test_a_broken_item_leaves_the_queue_for_an_admin(self, database, settings):
        viewer = _reviewer(database)
        with database.write() as session:
            _, _, slots = factories.make_evaluated(session, settings)
            service.skip_slot(session, viewer, slots[0], SkipKind.BROKEN_ITEM, "the source is empty")
        assert _queue(database, viewer).items == []
        with database.write() as session:
            broken = queries.broken(session)
            assert len(broken) == 2 and "the source is empty" in broken[0].why
            admin = factories.make_viewer(session, Role.ADMIN)
            for slot in broken:
                oversight.force_release(session, admin, slot)
        assert len(_queue(database, viewer).items) == 1

    def test_not_me_needs_a_reason(self, database, settings):
        with database.write() as session, pytest.raises(Invalid):
            _, _, slots = factories.make_evaluated(session, settings)
            service.skip_slot(session, factories.make_reviewer(session), slots[0], SkipKind.NOT_ME, " ")


class TestOrder:
    def test_evidence_comes_first_and_says_why(self, database, settings):
        viewer = _reviewer(database)
        with database.write() as session:
            for verdict in (Verdict.ACCEPTED, Verdict.SUSPECT, Verdict.INCONCLUSIVE):
                factories.make_evaluated(session, settings, report=factories.make_report(verdict))
        items = _queue(database, viewer).items

        assert [i.slot.subject.verdict for i in items] == ["suspect", "inconclusive", "accepted"]
        assert "suspects a trick" in items[0].why

    def test_a_started_item_comes_before_an_untouched_one(self, database, settings):
        first, second = _reviewer(database), _reviewer(database)
        with database.write() as session:
            for _ in range(4):
                factories.make_evaluated(session, settings)
            claim = claim_next(session, settings, first)
            assert service.finish_slot(session, first, claim.slot)
            started = claim.slot.subject_id

        top = _queue(database, second).items[0]
        assert top.slot.subject_id == started and "1 review is in" in top.why

    def test_the_shuffle_is_stable_and_differs_by_person(self, database, settings):
        with database.write() as session:
            for _ in range(8):
                factories.make_evaluated(session, settings)
        viewers = [_reviewer(database) for _ in range(4)]
        orders = [[i.slot.subject_id for i in _queue(database, v).items] for v in viewers]

        assert orders == [[i.slot.subject_id for i in _queue(database, v).items] for v in viewers]
        assert len({tuple(order) for order in orders}) > 1


class TestEmptyStates:
    def test_all_locked_is_not_all_done(self, database, settings):
        viewer = _reviewer(database)
        with database.write() as session:
            factories.make_evaluated(session, settings)
            for _ in range(2):
                claim = claim_next(session, settings, factories.make_reviewer(session))
        queue = _queue(database, viewer)

        assert queue.state == QueueState.ALL_LOCKED and queue.locked_by_others == 1
        assert queue.earliest_frees_at <= claim.lease_until

    def test_waiting_for_evidence(self, database, settings):
        with database.write() as session:
            factories.make_submission(session, settings)
        assert _queue(database, _reviewer(database)).state == QueueState.AWAITING_EVIDENCE

    def test_none_for_you(self, database, settings):
        with database.write() as session:
            factories.make_evaluated(session, settings, author=factories.make_viewer(session, team="red"))
        assert _queue(database, _reviewer(database, team="red")).state == QueueState.NONE_FOR_YOU

    def test_all_done(self, database):
        assert _queue(database, _reviewer(database)).state == QueueState.ALL_DONE
