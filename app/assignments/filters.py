"""What somebody wants to see of the queue; one set of names for the page's address, the REST interface and SQL."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, String, bindparam, select

from app.models import ReviewSubject, Task, TaskVersion


@dataclass(frozen=True)
class Filters:
    """Each is left out when empty.

    `task` is a name, `verdict` of the newest evidence, `subject` the kind of what is reviewed.
    """

    task: str | None = None
    kind: str | None = None
    framework: str | None = None
    verdict: str | None = None
    subject: str | None = None

    def values(self) -> dict[str, str]:
        """What is asked for, by name; the values of the parameters in `conditions`."""
        return {name: value for name, value in asdict(self).items() if value}

    def __bool__(self) -> bool:
        return bool(self.values())

    def conditions(self) -> list[ColumnElement[bool]]:
        return [condition for name, condition in _CONDITIONS.items() if name in self.values()]


EVERYTHING = Filters()


def _value(name: str) -> Any:
    return bindparam(name, type_=String)


_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "task": ReviewSubject.task_version_id.in_(
        select(TaskVersion.id).join(Task, Task.id == TaskVersion.task_id).where(Task.name == _value("task"))
    ),
    "kind": ReviewSubject.task_version_id.in_(select(TaskVersion.id).where(TaskVersion.kind == _value("kind"))),
    "framework": ReviewSubject.framework == _value("framework"),
    "verdict": ReviewSubject.verdict == _value("verdict"),
    "subject": ReviewSubject.kind == _value("subject"),
}
