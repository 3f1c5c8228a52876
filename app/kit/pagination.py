"""Pages of a list: an opaque cursor that says after which row to go on."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.errors import Invalid

T = TypeVar("T")
LIMIT_DEFAULT = 50
LIMIT_MAX = 200
_KEY_MAX = 2**63 - 1


@dataclass(frozen=True)
class Page(Generic[T]):
    items: Sequence[T]
    next_cursor: str | None = None


def newest_first(
    session: Session,
    query: Select[Any],
    key: InstrumentedAttribute[int],
    *,
    cursor: str | None = None,
    limit: int = LIMIT_DEFAULT,
) -> Page[Any]:
    """One page by descending `key`, which must be unique; rows added meanwhile do not shift it."""
    if cursor:
        query = query.where(key < decode_cursor(cursor))
    return _page(session, query.order_by(key.desc()), key, limit)


def oldest_first(
    session: Session,
    query: Select[Any],
    key: InstrumentedAttribute[int],
    *,
    cursor: str | None = None,
    limit: int = LIMIT_DEFAULT,
) -> Page[Any]:
    """The same by ascending `key`; rows added meanwhile come at the end."""
    if cursor:
        query = query.where(key > decode_cursor(cursor))
    return _page(session, query.order_by(key), key, limit)


def _page(session: Session, query: Select[Any], key: InstrumentedAttribute[int], limit: int) -> Page[Any]:
    limit = max(1, min(limit, LIMIT_MAX))
    rows = session.scalars(query.limit(limit + 1)).unique().all()
    if len(rows) <= limit:
        return Page(rows)
    return Page(rows[:limit], encode_cursor(getattr(rows[limit - 1], key.key)))


def encode_cursor(after: int) -> str:
    return encode_place((after,))


def decode_cursor(cursor: str) -> int:
    return decode_place(cursor, 1)[0]


def encode_place(place: Sequence[int]) -> str:
    """A cursor for orders that take more than one number to say where a page ended."""
    return base64.urlsafe_b64encode(f"after:{','.join(map(str, place))}".encode()).decode().rstrip("=")


def decode_place(cursor: str, count: int) -> tuple[int, ...]:
    """The `count` numbers of a cursor of ours; anything else is refused."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        head, _, numbers = text.partition(":")
        place = tuple(int(n) for n in numbers.split(",") if len(n) <= len(str(-_KEY_MAX)))
        if head == "after" and len(place) == count and all(abs(n) <= _KEY_MAX for n in place):
            return place
    except (binascii.Error, UnicodeDecodeError, ValueError):
        pass
    raise Invalid("this cursor is not one of ours", what_to_do="Leave the cursor out to start from the first page.")
