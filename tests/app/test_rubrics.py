"""Rubrics: shipped whole, drafted, published for good, read back as written."""

from __future__ import annotations

import pytest

from app.domain.findings import REGISTER
from app.domain.review import Role
from app.errors import Conflict, Invalid
from app.rubrics import content, queries, service
from tests import factories

SHIPPED = sorted(service.DATA.glob("*.yaml"))


@pytest.fixture
def admin(database):
    with database.write() as session:
        service.seed(session)
        return factories.make_viewer(session, Role.ADMIN)


def _published(session, key="generation"):
    return next(v for v in queries.published(session) if v.rubric.key == key)


class TestShipped:
    def test_there_are_seven(self):
        assert len(SHIPPED) == 7

    @pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
    def test_reads_back_as_written(self, path):
        rubric = content.read_yaml(path.read_text())
        assert content.read_yaml(content.write_yaml(rubric)) == rubric

    @pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
    def test_every_cap_names_registered_codes(self, path):
        for criterion in content.read_yaml(path.read_text()).criteria:
            for rule, level in criterion.caps.items():
                assert any(code.startswith(rule[:-1]) if rule.endswith("*") else code == rule for code in REGISTER), (
                    rule
                )
                assert 0 <= level <= 2

    @pytest.mark.parametrize("path", SHIPPED[:-2] + SHIPPED[-1:], ids=lambda p: p.stem)
    def test_submission_rubrics_have_the_three_gates(self, path):
        gates = {c.key for c in content.read_yaml(path.read_text()).criteria if c.gate}
        assert {"judgeable", "build", "integrity"} <= gates

    def test_seeding_twice_changes_nothing(self, database):
        with database.write() as session:
            assert service.seed(session) == 7
        with database.write() as session:
            assert service.seed(session) == 0


class TestPublish:
    def test_a_published_version_never_changes(self, database, admin):
        with database.write() as session:
            version = _published(session)
            with pytest.raises(Conflict):
                service.update_draft(session, admin, version, version.content)
            with pytest.raises(Conflict):
                service.publish(session, admin, version)

    def test_not_even_past_the_service(self, database, admin):
        with pytest.raises(RuntimeError, match="never changes"), database.write() as session:
            version = _published(session)
            version.content = version.content | {"title": "Another"}

    def test_the_next_version_is_another_row_with_another_hash(self, database, admin):
        with database.write() as session:
            first = _published(session)
            draft = service.create_draft(session, admin, first.content | {"title": "Generation, second edition"})
            second = service.publish(session, admin, draft)
            assert (first.version, second.version) == (1, 2) and first.sha256 != second.sha256
            assert service.applicable(session, task_kind="generation").id == second.id

    def test_a_retired_version_starts_no_review(self, database, admin):
        with database.write() as session:
            service.retire(session, admin, _published(session))
            assert service.applicable(session, task_kind="generation") is None

    def test_the_hash_is_of_the_content(self, database, admin):
        with database.write() as session:
            version = _published(session)
            assert version.sha256 == content.sha256_of(content.read(version.content))


class TestClone:
    def test_is_the_same_but_for_its_name(self, database, admin):
        with database.write() as session:
            original = _published(session)
            copy = service.clone(session, admin, original, key="ours")
            exported = content.read_yaml(service.export_yaml(copy)).model_dump()
            assert {**exported, "key": "generation"} == content.read(original.content).model_dump()

    def test_one_draft_at_a_time(self, database, admin):
        with database.write() as session:
            original = _published(session)
            service.create_draft(session, admin, original.content)
            with pytest.raises(Conflict, match="already has a draft"):
                service.import_yaml(session, admin, service.export_yaml(original))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"criteria": []}, "criteria"),
        ({"key": "Not A Key"}, "key"),
        ({"colour": "red"}, "colour"),
        (
            {"criteria": [{"key": "a", "title": "A", "weight": 50, "levels": {0: "x", 1: "x", 2: "x", 3: "x"}}]},
            "weights sum to 50",
        ),
        ({"criteria": [{"key": "a", "title": "A", "weight": 100, "levels": {0: "x", 3: "x"}}]}, "describe level 1, 2"),
        ({"criteria": [{"key": "a", "title": "A", "weight": 100, "levels": {7: "x"}}]}, "levels are 0, 1, 2, 3"),
    ],
)
def test_faults_are_named(change, says):
    whole = content.read_yaml(SHIPPED[0].read_text()).model_dump()
    with pytest.raises(Invalid) as caught:
        content.read(whole | change)
    assert says in str(caught.value.details["problems"])


def test_what_is_no_yaml_is_said_so():
    with pytest.raises(Invalid, match="not YAML"):
        content.read_yaml("a: [")
