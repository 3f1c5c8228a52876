"""The declarative base, and the few column types and habits that every model shares."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

from sqlalchemy import JSON, DateTime, MetaData, String, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from ulid import ULID

# Named, so that a migration can drop or alter any of them on either database.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# `None` is SQL NULL and never the JSON word null, so that constraints and `IS NULL` see it.
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def utc_now() -> dt.datetime:
    """The time now, aware and in UTC: the only clock that rows are stamped by."""
    return dt.datetime.now(dt.UTC)


def new_public_id(prefix: str) -> str:
    """`sub_01J…`: sorts by time, says what it names, and tells nothing about how many there are."""
    return f"{prefix}_{ULID()}"


class UtcDateTime(TypeDecorator[dt.datetime]):
    """Aware UTC datetimes on both databases; SQLite keeps no zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, _dialect: Dialect) -> dt.datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime was given to a UTC column")
        return value.astimezone(dt.UTC)

    def process_result_value(self, value: dt.datetime | None, _dialect: Dialect) -> dt.datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        dt.datetime: UtcDateTime,
        dict[str, Any]: Json,
        list[Any]: Json,
        list[str]: Json,
        list[dict[str, Any]]: Json,
    }


class Row(Base):
    """A row with an integer key inside and a prefixed ULID outside."""

    __abstract__ = True
    prefix = "row"

    id: Mapped[int] = mapped_column(primary_key=True)
    public_id: Mapped[str] = mapped_column(String(40), unique=True)
    created_at: Mapped[dt.datetime] = mapped_column(default=utc_now)

    def __init__(self, **values: Any) -> None:
        values.setdefault("public_id", new_public_id(self.prefix))
        values.setdefault("created_at", utc_now())
        super().__init__(**values)
