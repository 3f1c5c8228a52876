"""Every select about tasks."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, contains_eager, joinedload

from app.errors import NotFound
from app.models import Task, TaskVersion


def task_by_name(session: Session, name: str) -> Task | None:
    return session.scalar(select(Task).where(Task.name == name))


def list_current(session: Session, *, include_retired: bool = False) -> Sequence[TaskVersion]:
    """The newest version of each task, by name, with its task loaded."""
    newest = select(TaskVersion.task_id, func.max(TaskVersion.version).label("version")).group_by(TaskVersion.task_id)
    latest = newest.subquery()
    query = (
        select(TaskVersion)
        .join(latest, (TaskVersion.task_id == latest.c.task_id) & (TaskVersion.version == latest.c.version))
        .join(TaskVersion.task)
        .options(contains_eager(TaskVersion.task))
        .order_by(Task.name)
    )
    return session.scalars(query if include_retired else query.where(Task.retired_at.is_(None))).all()


def list_versions(session: Session, task_id: int) -> Sequence[TaskVersion]:
    return session.scalars(
        _with_task().where(TaskVersion.task_id == task_id).order_by(TaskVersion.version.desc())
    ).all()


def find_version(session: Session, name: str, version: int | None = None) -> TaskVersion:
    """A task's version by name, the newest when none is said; `tkv_…` and `tsk_…` ids work as names too."""
    # Each side by its own index; over a join it would be every version there is.
    task = select(Task.id).where((Task.name == name) | (Task.public_id == name))
    query = _with_task().where(TaskVersion.task_id.in_(task) | (TaskVersion.public_id == name))
    if version is not None:
        query = query.where(TaskVersion.version == version)
    found = session.scalars(query.order_by(TaskVersion.version.desc()).limit(1)).first()
    if found is None:
        which = f"version {version} of the task {name!r}" if version is not None else f"task {name!r}"
        raise NotFound(f"there is no {which}", what_to_do="See the list of tasks for the names there are.")
    return found


def _with_task() -> Select[TaskVersion]:
    return select(TaskVersion).options(joinedload(TaskVersion.task))
