"""A reviewer's own texts: kept in the order that they give them, refused where a variable stands for nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.domain.task import KINDS
from app.errors import Conflict, Invalid, NotFound
from app.kit import audit
from app.models import OwnSnippet
from app.reviews import variables

TITLE_LENGTH_MAX, TEXT_LENGTH_MAX, SNIPPETS_MAX = 80, 4_000, 200


def list_own(session: Session, viewer: Viewer) -> Sequence[OwnSnippet]:
    mine = select(OwnSnippet).where(OwnSnippet.user_id == viewer.id)
    return session.scalars(mine.order_by(OwnSnippet.position, OwnSnippet.id)).all()


def find(session: Session, viewer: Viewer, public_id: str) -> OwnSnippet:
    mine = select(OwnSnippet).where(OwnSnippet.user_id == viewer.id, OwnSnippet.public_id == public_id)
    found = session.scalar(mine)
    if found is None:
        raise NotFound("there is no such text of yours", what_to_do="It may have been deleted in another page.")
    return found


def add(session: Session, viewer: Viewer, *, title: str, text: str, kind: str = "") -> OwnSnippet:
    """At the end of the list."""
    count, last = session.execute(
        select(func.count(), func.max(OwnSnippet.position)).where(OwnSnippet.user_id == viewer.id)
    ).one()
    if count >= SNIPPETS_MAX:
        raise Conflict(f"you have {SNIPPETS_MAX} texts already", what_to_do="Delete one first.")
    made = OwnSnippet(user_id=viewer.id, position=(last or 0) + 1, **_checked(title, text, kind))
    session.add(made)
    session.flush()
    audit.note(session, viewer.id, "snippet.add", made.public_id)
    return made


def change(session: Session, viewer: Viewer, public_id: str, *, title: str, text: str, kind: str = "") -> None:
    found = find(session, viewer, public_id)
    for name, value in _checked(title, text, kind).items():
        setattr(found, name, value)
    audit.note(session, viewer.id, "snippet.change", public_id)


def delete(session: Session, viewer: Viewer, public_id: str) -> None:
    session.delete(find(session, viewer, public_id))
    audit.note(session, viewer.id, "snippet.delete", public_id)


def move(session: Session, viewer: Viewer, public_id: str, step: int) -> None:
    """Up (-1) or down (1) by one place; at an end it stays."""
    found, order = find(session, viewer, public_id), list(list_own(session, viewer))
    place = order.index(found)
    order.insert(max(0, place + step), order.pop(place))
    for position, one in enumerate(order, 1):
        one.position = position
    audit.note(session, viewer.id, "snippet.move", public_id, step=step)


def _checked(title: str, text: str, kind: str) -> dict[str, str | None]:
    title, text = " ".join(title.split()), text.replace("\r\n", "\n").strip()
    problems = {"title": _length(title, TITLE_LENGTH_MAX), "text": _length(text, TEXT_LENGTH_MAX)}
    names = variables.unknown([text])
    if names:
        known = ", ".join(one.name for one in variables.VARIABLES)
        problems["text"] = f"{{{{{names[0]}}}}} stands for nothing; there are {known}"
    if kind and kind not in KINDS:
        problems["kind"] = f"choose from {', '.join(KINDS)}"
    problems = {place: fault for place, fault in problems.items() if fault}
    if problems:
        raise Invalid("this text cannot be kept", what_to_do="Correct what is marked.", problems=problems)
    return {"title": title, "text": text, "kind": kind or None}


def _length(value: str, longest: int) -> str:
    if not value:
        return "write something"
    return f"{len(value)} characters, and {longest} at most" if len(value) > longest else ""
