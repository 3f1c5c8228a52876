"""Rubrics: shipped whole, drafted, published for good, read back as written."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from app.domain.review import Role
from app.errors import Conflict, Invalid
from app.rubrics import content, lint, queries, service
from tests import factories
from tests.app.test_rubric_files import rubrics


class _Undone(Exception):
    """Leaves the database as it was before the example."""


SHIPPED = sorted(service.DATA.glob("*.yaml"))
WEIGHTS = {
    "generation": {"correct": 30, "robust": 15, "build": 10, "speed": 10, "fairness": 5, "hardware": 10, "code": 5,
                   "explained": 5, "spec": 10},
    "translation": {"build": 10, "robust": 10, "fairness": 5, "hardware": 10, "code": 5, "explained": 5, "correct": 15,
                    "equivalence": 20, "mapping": 10, "idiom": 10},
    "migration": {"build": 25, "correct": 15, "robust": 10, "fairness": 5, "code": 5, "explained": 10, "parity": 15,
                  "api": 10, "scope": 5},
    "debugging": {"correct": 15, "robust": 15, "build": 5, "code": 5, "explained": 5, "cause": 25, "fix": 20,
                  "regression": 10},
    "optimization": {"correct": 15, "robust": 10, "fairness": 20, "speed": 20, "hardware": 15, "code": 5,
                     "explained": 5, "analysis": 10},
    "fusion": {"correct": 15, "robust": 10, "build": 5, "fairness": 10, "speed": 10, "hardware": 10, "code": 5,
               "explained": 5, "fused": 15, "op_semantics": 10, "cost": 5},
    "task-design": {"statement": 12, "reference": 16, "tolerance": 14, "workloads": 14, "cheat_resistance": 10,
                    "baseline_targets": 10, "environments": 8, "scope_difficulty": 8, "licence_leak": 4, "replay": 4},
}  # fmt: skip


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
    def test_every_key_and_level_names_something_that_is_there(self, path):
        """No faults, and none of the doubts: each level says what is seen, each criterion what informs it."""
        assert lint.lint_text(path.read_text()) == []

    @pytest.mark.parametrize(("key", "weights"), WEIGHTS.items(), ids=WEIGHTS)
    def test_weights_are_those_that_were_agreed(self, key, weights):
        rubric = content.read_yaml((service.DATA / f"{key}.yaml").read_text())
        assert {c.key: c.weight for c in rubric.criteria if c.weight} == weights

    def test_levels_three_of_what_does_damage_need_evidence(self):
        for path in SHIPPED:
            for criterion in content.read_yaml(path.read_text()).criteria:
                if criterion.key in ("correct", "integrity", "fairness", "speed"):
                    assert criterion.evidence_levels == [0, 1, 3], (path.stem, criterion.key)

    def test_optimization_stops_at_a_wrong_result(self):
        rubric = content.read_yaml((service.DATA / "optimization.yaml").read_text())
        assert next(c for c in rubric.criteria if c.key == "correct").gate

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

    @settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(rubrics())
    def test_exports_the_same_whatever_the_rubric_but_for_its_key(self, database, admin, rubric):
        with pytest.raises(_Undone), database.write() as session:
            original = service.create_draft(session, admin, rubric.model_dump(mode="json"))
            copy = service.clone(session, admin, original, key="a-clone")
            first, second = (content.read_yaml(service.export_yaml(version)) for version in (original, copy))
            assert second.model_copy(update={"key": first.key}) == first == rubric
            assert service.export_json(copy).replace("a-clone", rubric.key, 1) == service.export_json(original)
            raise _Undone

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
        ({"criteria": [{"key": "a", "guidanse": "x"}]}, "a.guidanse: unknown key; did you mean 'guidance'?"),
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
