"""Task bundles: checked as a whole, never changed, errors by file, line and field."""

from __future__ import annotations

import pytest

from app.admin import demo
from app.errors import Conflict, Invalid, NotFound
from app.tasks import queries, service
from tests import factories


def _upload(database, settings, tree):
    with database.write() as session:
        return service.upload(session, settings, tree, actor_id=None)


class TestUpload:
    def test_the_same_bundle_again_gives_the_version_there_is(self, database, settings):
        first = _upload(database, settings, factories.task_tree())
        assert _upload(database, settings, factories.task_tree()).id == first.id

    def test_a_version_never_changes(self, database, settings):
        _upload(database, settings, factories.task_tree())
        changed = factories.task_tree() | {"reference.py": b"other = 1\n"}
        with pytest.raises(Conflict) as caught:
            _upload(database, settings, changed)
        assert "version = 2" in caught.value.what_to_do

    def test_the_next_version_stands_beside_it(self, database, settings):
        _upload(database, settings, factories.task_tree())
        _upload(database, settings, factories.task_tree(version=2))
        with database.read() as session:
            assert queries.find_version(session, "row-softmax").version == 2
            assert queries.find_version(session, "row-softmax", 1).version == 1
            assert [v.version for v in queries.list_current(session)] == [2]
            with pytest.raises(NotFound, match="version 7"):
                queries.find_version(session, "row-softmax", 7)

    def test_errors_name_file_line_and_field_and_keep_nothing(self, database, settings):
        tree = factories.task_tree()
        tree["task.toml"] = tree["task.toml"].replace(b'kind = "generation"', b'kind = "poetry"\ncolour = "red"')
        with pytest.raises(Invalid) as caught:
            _upload(database, settings, tree)

        problems = "\n".join(caught.value.details["problems"])
        assert "task.toml:5" in problems and "kind" in problems and "colour" in problems
        assert "/tmp" not in problems
        with database.read() as session:
            assert queries.list_current(session) == []

    @pytest.mark.parametrize("missing", ["task.toml", "reference.py"])
    def test_a_missing_file_is_named(self, database, settings, missing):
        tree = factories.task_tree() | {"notes.md": b""}
        del tree[missing]
        with pytest.raises(Invalid, match=missing):
            _upload(database, settings, tree)

    def test_what_was_uploaded_is_laid_out_again(self, database, settings, tmp_path):
        version = _upload(database, settings, factories.task_tree())
        folder = tmp_path / "laid-out"
        folder.mkdir()
        service.materialise(settings, version, folder)
        assert (folder / "reference.py").read_bytes() == factories.task_tree()["reference.py"]


def test_hidden_workloads_are_counted_and_not_shown(database, settings):
    spec = service.public_spec(_upload(database, settings, factories.task_tree()))
    assert [w["name"] for w in spec["workloads"]] == ["small"] and spec["hidden_workloads"] == 1


def test_seeding_the_demo_twice_changes_nothing(database, settings, sender):
    for _ in range(2):
        with database.write() as session:
            demo.seed_into(session, settings)
    with database.read() as session:
        assert len(queries.list_current(session)) == 3
    assert len(sender.jobs) == len(list(demo.SUBMISSIONS.glob("*/*.py")))
