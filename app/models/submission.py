"""A submission: one immutable set of source files for one task version."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.models.account import User
from app.models.base import Row
from app.models.task import TaskVersion


class Submission(Row):
    """`claims`, `explanation`, `model` and `prompt` are what the author says: judged, never taken over."""

    __tablename__ = "submissions"
    __table_args__ = (UniqueConstraint("author_id", "task_version_id", "sha256"),)
    prefix = "sub"

    task_version_id: Mapped[int] = mapped_column(ForeignKey("task_versions.id"), index=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"))
    revision: Mapped[int] = mapped_column(default=1)
    pseudonym: Mapped[str] = mapped_column(String(80))
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    framework: Mapped[str] = mapped_column(String(20))
    files: Mapped[list[dict[str, Any]]]
    model: Mapped[dict[str, Any]] = mapped_column(default=dict)
    prompt: Mapped[str] = mapped_column(default="")
    explanation: Mapped[str] = mapped_column(default="")
    claims: Mapped[list[Any]] = mapped_column(default=list)
    title: Mapped[str] = mapped_column(String(200), default="")

    task_version: Mapped[TaskVersion] = relationship(lazy="raise")
    author: Mapped[User] = relationship(lazy="raise")
    parent: Mapped[Submission | None] = relationship(remote_side="Submission.id", lazy="raise")
