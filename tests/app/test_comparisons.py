"""Comparisons: opened of what can be compared, once while open, and kept from everybody too close to a member."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import select

from app.accounts import service as accounts
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.assignments.filters import Filters
from app.assignments.queue import list_queue
from app.assignments.service import SlotTaken
from app.assignments.stuck import find_stuck
from app.assignments.walk import Asked
from app.comparisons import queries, service
from app.domain.review import Role, SlotState
from app.errors import Conflict, Invalid, NotFound, NotPermitted
from app.models import AuditEntry, SubjectAuthor, utc_now
from tests import factories


def _ready(session, settings, task, **overrides):
    return factories.make_evaluated(session, settings, task=task, **overrides)[0].public_id


@pytest.fixture
def staff(each_database):
    with each_database.write() as session:
        return factories.make_viewer(session, Role.ADJUDICATOR)


@pytest.fixture
def judge(database):
    with database.write() as session:
        return factories.make_viewer(session, Role.ADJUDICATOR)


def test_places_open_under_every_members_authors(each_database, each_settings, staff):
    with each_database.write() as session:
        authors = [factories.make_viewer(session) for _ in range(2)]
        subject, members = factories.make_comparison(session, each_settings, authors=[*authors, authors[0]])
        known = set(session.scalars(select(SubjectAuthor.user_id).where(SubjectAuthor.subject_id == subject.id)))
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "comparison.open")).one()
        slots = assignment_queries.slots_of(session, subject.id)

        assert known == {a.id for a in authors}
        assert entry.target == subject.public_id and entry.detail["members"] == [m.public_id for m in members]
        assert [s.state for s in slots] == ["open"] * each_settings.slots_per_subject
        assert subject.is_open and subject.framework == "triton" and subject.submission_id is None
        assert queries.members_of(session, [subject.id]) == {subject.id: members}


def test_it_is_found_in_the_queue_by_its_kind_and_needs_no_rubric(each_database, each_settings, staff):
    with each_database.write() as session:
        subject, _ = factories.make_comparison(session, each_settings)
        viewer = factories.make_reviewer(session)
    with each_database.read() as session:
        queue = list_queue(session, each_settings, viewer, Asked(Filters(subject="comparison")))

        assert [item.slot.subject.public_id for item in queue.items] == [subject.public_id]
        assert queue.items[0].why == service.WANTED.why
        assert subject.public_id not in {stuck.subject.public_id for stuck in find_stuck(session)}


@pytest.mark.parametrize("close", ["author", "team", "conflict"])
def test_whoever_is_too_close_to_any_member_gets_none_of_it(each_database, each_settings, staff, close):
    with each_database.write() as session:
        rival = factories.make_viewer(session, Role.SUBMITTER, Role.REVIEWER, team="red")
        subject, _ = factories.make_comparison(session, each_settings, authors=[factories.make_viewer(session), rival])
        viewer = rival if close == "author" else factories.make_reviewer(session, team="red" if close == "team" else "")
        if close == "conflict":
            accounts.declare_conflict(session, viewer, team="red")
        slot = assignment_queries.slots_of(session, subject.id)[0]
        with pytest.raises(SlotTaken):
            assignments.claim_slot(session, each_settings, viewer, slot)
        found = list_queue(session, each_settings, viewer, Asked(Filters(subject="comparison")))
        assert not found.items


class TestWhatIsRefused:
    def test_a_number_that_is_none(self, database, settings, judge):
        with database.write() as session:
            task = factories.make_task(session, settings)
            names = [_ready(session, settings, task) for _ in range(5)]
            for some in ([], names[:1], names):
                with pytest.raises(Invalid, match=f"and here are {len(some)}"):
                    service.open_comparison(session, settings, judge, task, some)
            with pytest.raises(Invalid, match="named twice"):
                service.open_comparison(session, settings, judge, task, [names[0], names[1], names[0]])

    def test_another_task_or_version_by_name(self, database, settings, judge):
        with database.write() as session:
            task = factories.make_task(session, settings)
            later = factories.make_task(session, settings, version=2)
            mixed = [_ready(session, settings, task), _ready(session, settings, later)]
            with pytest.raises(Invalid, match="is for version 2 of 'row-softmax', and this compares version 1"):
                service.open_comparison(session, settings, judge, task, mixed)

    def test_what_has_no_report_or_is_not_there(self, database, settings, judge):
        with database.write() as session:
            task = factories.make_task(session, settings)
            there = _ready(session, settings, task)
            raw = factories.make_submission(session, settings, task=task).public_id
            with pytest.raises(Conflict, match="is not evaluated yet"):
                service.open_comparison(session, settings, judge, task, [there, raw])
            for hostile in ("sub_nothing", "", "<b>", "half \ud800", "nul \0"):
                with pytest.raises((NotFound, Invalid)), session.begin_nested():
                    service.open_comparison(session, settings, judge, task, [there, hostile])

    def test_the_same_bytes_by_two_authors(self, database, settings, judge):
        with database.write() as session:
            task = factories.make_task(session, settings)
            twins = [_ready(session, settings, task, source="import triton\n# copied\n") for _ in range(2)]
            with pytest.raises(Invalid, match="are the same bytes"):
                service.open_comparison(session, settings, judge, task, twins)

    def test_ones_own_work_and_ones_teams(self, database, settings, judge):
        with database.write() as session:
            task = factories.make_task(session, settings)
            near = factories.make_viewer(session, Role.ADJUDICATOR, team="red")
            mate = factories.make_viewer(session, team="red")
            some = [_ready(session, settings, task, author=mate), _ready(session, settings, task)]
            with pytest.raises(NotPermitted):
                service.open_comparison(session, settings, near, task, some)
            assert [c.public_id for c in queries.candidates(session, near, task.id)] == some[1:]
            opened = service.open_comparison(session, settings, judge, task, some)
            with pytest.raises(NotFound):
                queries.find(session, near, opened.public_id)
            assert not queries.list_comparisons(session, near).items
            assert queries.list_comparisons(session, judge).items == [opened]

    def test_anybody_but_staff(self, database, settings, judge):
        with database.write() as session:
            task = factories.make_task(session, settings)
            names = [_ready(session, settings, task) for _ in range(2)]
            with pytest.raises(NotPermitted):
                service.open_comparison(session, settings, factories.make_reviewer(session), task, names)


class TestOnceWhileOpen:
    def test_the_same_members_are_refused_and_others_are_not(self, each_database, each_settings, staff):
        with each_database.write() as session:
            subject, members = factories.make_comparison(session, each_settings)
            names = [m.public_id for m in members]
            version = members[0].task_version
            with pytest.raises(Conflict, match=f"compared already, in {subject.public_id}"):
                service.open_comparison(session, each_settings, staff, version, names[::-1])
            more = _ready(session, each_settings, version)
            assert service.open_comparison(session, each_settings, staff, version, names[:2])
            assert service.open_comparison(session, each_settings, staff, version, [*names, more])

    def test_again_when_all_its_reviews_are_in(self, each_database, each_settings, staff):
        with each_database.write() as session:
            subject, members = factories.make_comparison(session, each_settings, count=2)
            names = [m.public_id for m in members]
            for slot in assignment_queries.slots_of(session, subject.id):
                slot.state, slot.done_at = SlotState.DONE.value, utc_now()
            session.flush()
            version = members[0].task_version
            assert service.open_comparison(session, each_settings, staff, version, names).id != subject.id

    def test_of_two_at_once_one_is_told(self, each_database, each_settings, staff):
        with each_database.write() as session:
            task = factories.make_task(session, each_settings)
            names = [_ready(session, each_settings, task) for _ in range(2)]
        ready, told = threading.Barrier(2), []

        def try_it():
            with each_database.read() as session:
                version = session.get_one(type(task), task.id)
            ready.wait()
            try:
                with each_database.write() as session:
                    version = session.merge(version, load=False)
                    told.append(service.open_comparison(session, each_settings, staff, version, names).public_id)
            except Conflict as error:
                told.append(error)

        threads = [threading.Thread(target=try_it) for _ in range(2)]
        [t.start() for t in threads]
        [t.join() for t in threads]

        assert sorted(isinstance(one, Conflict) for one in told) == [False, True], told
