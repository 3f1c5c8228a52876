"""Saved views of the queue: names of a person's own for addresses, which carry everything by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.assignments.walk import Asked, Sort
from app.errors import Invalid
from app.models import SavedView

NAME_LENGTH_MAX, VIEWS_MAX = 60, 30


@dataclass(frozen=True)
class NamedView:
    name: str
    query: str


def query_of(asked: Asked) -> str:
    """What follows `/queue?`: the filters and the order, without the page."""
    order = {} if asked.sort is Sort.USUAL else {"sort": asked.sort.value}
    return urlencode(asked.filters.values() | order)


def views_of(session: Session, viewer: Viewer) -> Sequence[NamedView]:
    rows = session.scalars(select(SavedView).where(SavedView.user_id == viewer.id).order_by(SavedView.name))
    return [NamedView(row.name, row.query) for row in rows]


def save(session: Session, viewer: Viewer, name: str, asked: Asked) -> None:
    """The same name again means the new address."""
    name = name.strip()
    if not 0 < len(name) <= NAME_LENGTH_MAX:
        raise Invalid("the view needs a name", what_to_do=f"Use 1 to {NAME_LENGTH_MAX} characters.")
    forget(session, viewer, name)
    if len(views_of(session, viewer)) >= VIEWS_MAX:
        raise Invalid(f"you have {VIEWS_MAX} views already", what_to_do="Forget one that you no longer use.")
    session.add(SavedView(user_id=viewer.id, name=name, query=query_of(asked)))
    session.flush()


def forget(session: Session, viewer: Viewer, name: str) -> None:
    session.execute(delete(SavedView).where(SavedView.user_id == viewer.id, SavedView.name == name))
