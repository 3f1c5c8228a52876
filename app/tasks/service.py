"""Tasks: a bundle comes in, is checked as a whole, and becomes an immutable version."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from app.config import Settings
from app.domain.task import TaskBundle, TaskError, read_bundle
from app.errors import Conflict, Invalid
from app.kit import audit, trees
from app.kit.blobs import BlobStore
from app.models import Task, TaskVersion, utc_now
from app.tasks import queries


def upload(session: Session, settings: Settings, tree: trees.Tree, *, actor_id: int | None) -> TaskVersion:
    """Keep a bundle as a new task or a new version; the same bytes again give the version there is."""
    tree = trees.check_tree(tree, limits_of(settings))
    bundle = _read(tree)
    spec = bundle.spec
    task = queries.task_by_name(session, spec.name)
    if task is None:
        task = Task(name=spec.name)
        session.add(task)
        session.flush()
    there = next((v for v in queries.list_versions(session, task.id) if v.version == spec.version), None)
    if there is not None:
        return _same_or_conflict(there, bundle)
    version = _make_version(task, bundle, trees.store_tree(BlobStore(settings.blobs_dir), tree), actor_id)
    session.add(version)
    session.flush()
    audit.note(session, actor_id, "task.upload", version.public_id, name=spec.name, version=spec.version)
    return version


def upload_archive(session: Session, settings: Settings, data: bytes, *, actor_id: int | None) -> TaskVersion:
    return upload(session, settings, trees.read_archive(data, limits_of(settings)), actor_id=actor_id)


def upload_folder(session: Session, settings: Settings, folder: Path, *, actor_id: int | None) -> TaskVersion:
    """Seed a task from a folder on this machine."""
    return upload(session, settings, trees.read_folder(folder, limits_of(settings)), actor_id=actor_id)


def retire(session: Session, task: Task, *, actor_id: int | None) -> None:
    task.retired_at = task.retired_at or utc_now()
    audit.note(session, actor_id, "task.retire", task.public_id)


def files_of(settings: Settings, version: TaskVersion) -> trees.Tree:
    """Every file of a version; hidden workloads are in there, so only staff may see task.toml whole."""
    return trees.load_tree(BlobStore(settings.blobs_dir), version.files)


def materialise(settings: Settings, version: TaskVersion, folder: Path) -> Path:
    """Lay the bundle out in `folder` for the judge."""
    return trees.lay_out(files_of(settings, version), folder)


def limits_of(settings: Settings) -> trees.TreeLimits:
    return trees.TreeLimits(settings.bundle_bytes_max, settings.bundle_files_max)


def hidden_workloads(version: TaskVersion) -> frozenset[str]:
    """Their names, whether or not they were ever run."""
    return frozenset(w["name"] for w in version.spec.get("workloads", []) if w.get("hidden"))


def public_spec(version: TaskVersion) -> dict[str, Any]:
    """The spec as submitters may see it: hidden workloads are counted, not shown."""
    workloads = version.spec.get("workloads", [])
    shown = [w for w in workloads if not w.get("hidden")]
    return {**version.spec, "workloads": shown, "hidden_workloads": len(workloads) - len(shown)}


def _read(tree: trees.Tree) -> TaskBundle:
    with tempfile.TemporaryDirectory(prefix="workbench-task-") as place:
        folder = trees.lay_out(tree, Path(place))
        try:
            return read_bundle(folder)
        except TaskError as error:
            problems = str(error).replace(f"{folder}/", "").splitlines()
            raise Invalid(
                "the task bundle has errors: " + problems[0],
                what_to_do="Correct the lines named and upload the bundle again.",
                problems=problems,
            ) from None
        except (RecursionError, UnicodeDecodeError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else f"not UTF-8 text ({error})"
            raise Invalid(f"a file of the task bundle is {reason}", what_to_do="Correct it and upload again.") from None


def _same_or_conflict(there: TaskVersion, bundle: TaskBundle) -> TaskVersion:
    if there.sha256 == bundle.sha256:
        return there
    raise Conflict(
        f"version {there.version} of {bundle.spec.name!r} is already there with other files",
        what_to_do=f"Versions never change: set `version = {there.version + 1}` in task.toml.",
    )


def _make_version(task: Task, bundle: TaskBundle, files: list[dict[str, Any]], actor_id: int | None) -> TaskVersion:
    spec = bundle.spec
    return TaskVersion(
        task=task, task_id=task.id, version=spec.version, sha256=bundle.sha256, title=spec.title, kind=spec.kind,
        frameworks=list(spec.frameworks), entry=spec.entry, description=spec.description,
        spec=dataclasses.asdict(spec), files=files, uploaded_by_id=actor_id,
    )  # fmt: skip
