"""Kernel problems: a task has a name; its versions are immutable."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.models.account import User
from app.models.base import Row


class Task(Row):
    __tablename__ = "tasks"
    prefix = "tsk"

    name: Mapped[str] = mapped_column(String(80), unique=True)
    retired_at: Mapped[dt.datetime | None]


class TaskVersion(Row):
    """One frozen bundle.  `files` lists path, sha256 and bytes of each file; `spec` is its task.toml."""

    __tablename__ = "task_versions"
    __table_args__ = (UniqueConstraint("task_id", "version"),)
    prefix = "tkv"

    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    version: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    title: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(20), index=True)
    frameworks: Mapped[list[str]]
    entry: Mapped[str] = mapped_column(String(120))
    description: Mapped[str]
    spec: Mapped[dict[str, Any]]
    files: Mapped[list[dict[str, Any]]]
    uploaded_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))

    task: Mapped[Task] = relationship(lazy="raise")
    uploaded_by: Mapped[User | None] = relationship(lazy="raise")
