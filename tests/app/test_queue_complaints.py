"""The queue against what users of other tools complained about; each test is named after its complaint."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, select

from app.assignments import oversight, queries, service
from app.assignments.filters import Filters
from app.assignments.queue import claim_next, list_queue
from app.assignments.service import SlotTaken
from app.assignments.shuffle import SPACE, Shuffle, shuffle_of
from app.assignments.walk import Asked, Sort
from app.domain.report import Verdict
from app.domain.review import Role, SkipKind
from app.errors import Conflict, Invalid
from app.models import Base, ReviewSubject, User, utc_now
from tests import factories


def _reviewer(database, **overrides):
    with database.write() as session:
        return factories.make_reviewer(session, **overrides)


def _fill(database, settings, count, **overrides):
    with database.write() as session:
        task = factories.make_task(session, settings)
        author = factories.make_viewer(session)
        for _ in range(count):
            factories.make_evaluated(session, settings, task=task, author=author, **overrides)


def _ids(queue):
    return [item.slot.subject_id for item in queue.items]


def _list(database, settings, viewer, asked=None):
    with database.read() as session:
        return list_queue(session, settings, viewer, asked)


class TestTwoPeopleGotTheSameTask:
    """label-studio#795, langfuse, opik PR#6973; acceptance (a)."""

    def test_twenty_people_at_once_get_twenty_slots_and_none_twice(self, each_database, each_settings):
        _fill(each_database, each_settings, 10)
        people = [_reviewer(each_database) for _ in range(20)]
        taken, start = [], threading.Barrier(20)

        def take(viewer):
            start.wait()
            with each_database.write() as session:
                taken.append(claim_next(session, each_settings, viewer))

        threads = [threading.Thread(target=take, args=(viewer,)) for viewer in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len({claim.slot.id for claim in taken}) == 20


class TestDeepPagesAreSlowOrSkipItems:
    """label-studio#9637; acceptance (l), without a clock."""

    @pytest.mark.parametrize("sort", [Sort.USUAL, Sort.OLDEST, Sort.NEWEST])
    def test_pages_hold_every_item_once_in_one_order(self, each_database, each_settings, sort):
        _fill(each_database, each_settings, 6)
        _fill(each_database, each_settings, 5, report=factories.make_report(Verdict.SUSPECT))
        viewer = _reviewer(each_database)
        whole = _ids(_list(each_database, each_settings, viewer, Asked(sort=sort)))
        found, cursor = [], None
        while True:
            page = _list(each_database, each_settings, viewer, Asked(sort=sort, cursor=cursor, limit=3))
            found, cursor = found + _ids(page), page.next_cursor
            if cursor is None:
                break

        assert found == whole and len(set(found)) == 11

    def test_a_page_asks_the_database_as_often_with_many_items_as_with_few(self, database, settings):
        viewer = _reviewer(database)
        _fill(database, settings, 20)
        few = self._statements(database, settings, viewer)
        _fill(database, settings, 60)

        assert self._statements(database, settings, viewer) == few

    def test_no_page_reads_the_whole_queue(self, database, settings):
        """Neither the page nor a claim scans subjects or slots, or goes through all slots of a state."""
        viewer, plans = _reviewer(database), []
        _fill(database, settings, 3)

        def explain(connection, _cursor, statement, parameters, _context, _many):
            if "review_s" in statement and statement.startswith(("SELECT", "UPDATE")):
                rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(row[3] for row in rows)

        event.listen(database.engine, "before_cursor_execute", explain, named=False)
        _list(database, settings, viewer)
        with database.write() as session:
            claim_next(session, settings, viewer)

        assert any("ix_review_subjects_is_open_rank_shuffle" in plan for plan in plans)
        by_state = "ix_review_slots_state_lease_until (state=?)"
        assert [plan for plan in plans if plan.startswith("SCAN review_s") or by_state in plan] == []

    def test_a_cursor_of_another_order_is_refused(self, database, settings):
        _fill(database, settings, 3)
        viewer = _reviewer(database)
        cursor = _list(database, settings, viewer, Asked(limit=1)).next_cursor
        with pytest.raises(Invalid):
            _list(database, settings, viewer, Asked(sort=Sort.OLDEST, cursor=cursor))

    def _statements(self, database, settings, viewer):
        seen = []
        listener = lambda *call: seen.append(call[2])  # noqa: E731
        event.listen(database.engine, "before_cursor_execute", listener)
        _list(database, settings, viewer, Asked(limit=10))
        event.remove(database.engine, "before_cursor_execute", listener)
        return len(seen)


class TestTheSameOrderForEverybody:
    """PrairieLearn's reason: whoever is always last is graded harder."""

    @given(
        st.sets(st.integers(0, SPACE - 1), max_size=40),
        st.sampled_from([3, 5, 7]),
        st.integers(0, SPACE - 1),
        st.integers(-1, SPACE - 1),
    )
    def test_stretches_hold_exactly_what_comes_after_in_growing_turns(self, drawn, step, start, after):
        shuffle = Shuffle(step, start)
        found = []
        for low, high in shuffle.stretches(after):
            turns = [shuffle.turn(s) for s in sorted(drawn) if low <= s < high]
            assert turns == sorted(turns)
            found += turns
        assert sorted(found) == sorted(t for s in drawn if (t := shuffle.turn(s)) > after)

    def test_each_person_keeps_an_order_of_their_own(self):
        assert shuffle_of("usr_a") == shuffle_of("usr_a") != shuffle_of("usr_b")


class TestLookingChangedAuthorship:
    """Submitty#12223; acceptance (d)."""

    def test_reading_the_queue_writes_nothing(self, database, settings):
        _fill(database, settings, 2)
        viewer = _reviewer(database)
        before = self._everything(database)
        _list(database, settings, viewer)

        assert self._everything(database) == before

    def _everything(self, database):
        with database.read() as session:
            return {t.name: session.execute(select(t)).all() for t in Base.metadata.sorted_tables}


class TestOnePersonHoardsItems:
    def test_no_more_than_the_limit_are_held_even_at_once(self, each_database, each_settings):
        _fill(each_database, each_settings, 6)
        viewer, won, start = _reviewer(each_database), [], threading.Barrier(6)
        slots = [item.slot.public_id for item in _list(each_database, each_settings, viewer).items]

        def take(slot_id):
            start.wait()
            with contextlib.suppress(Conflict), each_database.write() as session:
                won.append(service.claim_slot(session, each_settings, viewer, queries.find_slot(session, slot_id)))

        threads = [threading.Thread(target=take, args=(slot_id,)) for slot_id in slots]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(won) == each_settings.held_items_max

    def test_the_queue_says_what_the_limit_is(self, database, settings):
        _fill(database, settings, 4)
        viewer = _reviewer(database)
        with database.write() as session:
            while claim_next(session, settings, viewer):
                pass
        queue = _list(database, settings, viewer)

        assert "you hold 3 items" in queue.limit.said and len(queue.mine) == 3 and queue.items

    def test_a_daily_cap_counts_what_is_held_and_what_is_in(self, database, settings):
        _fill(database, settings, 4)
        viewer = _reviewer(database, reviews_per_day_max=1)
        with database.write() as session:
            assert claim_next(session, settings, viewer) is not None
            assert claim_next(session, settings, viewer) is None
        assert "your 1 reviews" in _list(database, settings, viewer).limit.said


class TestGiveDifferentItemsToDifferentPeople:
    """doccano#65 and five more: distribution and assignment in one project."""

    def test_a_given_item_is_for_that_person_alone(self, each_database, each_settings):
        settings = each_settings.model_copy(update={"slots_per_subject": 1})
        _fill(each_database, settings, 1)
        chosen, other = _reviewer(each_database), _reviewer(each_database)
        with each_database.write() as session:
            slot = _list(each_database, settings, chosen).items[0].slot
            admin = factories.make_viewer(session, Role.ADMIN)
            oversight.reassign(session, admin, queries.find_slot(session, slot.public_id), chosen)
        with each_database.write() as session:
            assert claim_next(session, settings, other) is None
            with pytest.raises(SlotTaken):
                service.claim_slot(session, settings, other, queries.find_slot(session, slot.public_id))
        assert len(_list(each_database, settings, chosen).given) == 1
        with each_database.write() as session:
            assert claim_next(session, settings, chosen).slot.public_id == slot.public_id

    def test_taking_it_from_its_holder_is_a_deed_of_its_own(self, database, settings):
        _fill(database, settings, 1)
        holder, next_one = _reviewer(database), _reviewer(database)
        with database.write() as session:
            slot = claim_next(session, settings, holder).slot
            oversight.reassign(session, factories.make_viewer(session, Role.ADMIN), slot, next_one)
        with database.write() as session:
            found = queries.find_slot(session, slot.public_id)
            assert (found.state, found.holder_id, found.reserved_for_id) == ("open", None, next_one.id)

    @pytest.mark.parametrize("who", ["author", "declined", "paused", "submitter"])
    def test_nobody_is_given_what_they_may_not_review(self, database, settings, who):
        with database.write() as session:
            admin, author = (
                factories.make_viewer(session, *roles) for roles in ([Role.ADMIN], [Role.REVIEWER, Role.SUBMITTER])
            )
            _, _, slots = factories.make_evaluated(session, settings, author=author)
            declined = factories.make_reviewer(session)
            service.skip_slot(session, declined, slots[0], SkipKind.NOT_ME, "no HIP")
            people = {
                "author": author, "declined": declined, "paused": factories.make_reviewer(session, is_paused=True),
                "submitter": factories.make_viewer(session),
            }  # fmt: skip
            with pytest.raises(Conflict):
                oversight.reassign(session, admin, slots[0], people[who])

    def test_declining_a_given_item_gives_it_to_others(self, database, settings):
        with database.write() as session:
            admin, chosen = factories.make_viewer(session, Role.ADMIN), factories.make_reviewer(session)
            _, _, slots = factories.make_evaluated(session, settings)
            for slot in slots[:1]:
                oversight.reassign(session, admin, slot, chosen)
            service.skip_slot(session, chosen, slots[0], SkipKind.NOT_ME, "no HIP")
            assert slots[0].reserved_for_id is None


class TestDueDates:
    def test_what_is_due_soon_comes_first_and_says_when(self, database, settings):
        _fill(database, settings, 3)
        viewer = _reviewer(database)
        last = _ids(_list(database, settings, viewer))[-1]
        with database.write() as session:
            admin = factories.make_viewer(session, Role.ADMIN)
            oversight.set_due(session, admin, session.get(ReviewSubject, last), utc_now() + dt.timedelta(hours=5))
        top = _list(database, settings, viewer).items[0]

        assert top.slot.subject_id == last and "it is due on" in top.why

    def test_the_sorted_list_shows_dated_items_by_date(self, each_database, each_settings):
        _fill(each_database, each_settings, 4)
        viewer = _reviewer(each_database)
        first, second, *_ = _ids(_list(each_database, each_settings, viewer))
        with each_database.write() as session:
            admin = factories.make_viewer(session, Role.ADMIN)
            for subject_id, days in ((first, 9), (second, 8)):
                due_at = utc_now() + dt.timedelta(days=days)
                oversight.set_due(session, admin, session.get(ReviewSubject, subject_id), due_at)
        one = _list(each_database, each_settings, viewer, Asked(sort=Sort.DUE, limit=1))
        two = _list(each_database, each_settings, viewer, Asked(sort=Sort.DUE, limit=1, cursor=one.next_cursor))

        assert (_ids(one), _ids(two), two.next_cursor) == ([second], [first], None)


def test_filters_keep_the_order_and_the_rest_away(each_database, each_settings):
    _fill(each_database, each_settings, 3)
    _fill(each_database, each_settings, 2, report=factories.make_report(Verdict.SUSPECT))
    viewer = _reviewer(each_database)
    with each_database.read() as session:
        name = session.scalars(select(ReviewSubject.verdict).limit(1)).one()
    assert name == "accepted"
    for filters, count in (
        (Filters(verdict="suspect"), 2), (Filters(framework="triton"), 5), (Filters(framework="torch"), 0),
        (Filters(kind="generation", task="row-softmax"), 5), (Filters(task="no-such-task"), 0),
    ):  # fmt: skip
        assert len(_list(each_database, each_settings, viewer, Asked(filters)).items) == count


def test_of_equal_items_those_one_knows_come_first(database, settings):
    with database.write() as session:
        for framework in ("torch", "triton", "torch", "triton"):
            factories.make_evaluated(session, settings, framework=framework)
        viewer = factories.make_reviewer(session)
        session.get(User, viewer.id).expertise = ["torch"]
    items = _list(database, settings, viewer).items

    assert [i.slot.subject.framework for i in items[:2]] == ["torch", "torch"]
    assert "you know torch" in items[0].why and "you know" not in items[2].why


def test_a_lease_that_just_ran_out_is_offered_before_any_sweep(database, settings):
    settings = settings.model_copy(update={"slots_per_subject": 1, "slot_lease_minutes": 0.0001})
    _fill(database, settings, 1)
    viewer = _reviewer(database)
    with database.write() as session:
        claim_next(session, settings, factories.make_reviewer(session))
    threading.Event().wait(0.02)

    assert len(_list(database, settings, viewer).items) == 1


@pytest.mark.parametrize(
    ("decisions", "first"), [(("accept", "reject"), True), (("accept", "accept_with_notes"), False)]
)
def test_where_reviews_disagree_the_next_is_wanted_first(database, settings, decisions, first):
    from app.reviews import service as reviews
    from app.rubrics import service as rubrics

    settings = settings.model_copy(update={"slots_per_subject": 3})
    with database.write() as session:
        rubrics.seed(session)
        _, _, slots = factories.make_evaluated(session, settings)
        subject_id = slots[0].subject_id
        for slot, decision in zip(slots, decisions, strict=False):
            viewer = factories.make_reviewer(session)
            claim = service.claim_slot(session, settings, viewer, queries.find_slot(session, slot.public_id))
            draft = reviews.open_review(session, viewer, claim.slot)
            reviews.submit_review(session, settings, viewer, draft, factories.full_content(decision=decision))
    (item,) = _list(database, settings, _reviewer(database)).items

    assert item.slot.subject_id == subject_id and "disagree" not in item.why
    assert ("one more review of it is wanted" in item.why) is first
