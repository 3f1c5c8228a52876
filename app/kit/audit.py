"""The audit log: a line for each deed, in the transaction of the deed itself."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.models import AuditEntry

_ENTRY = insert(AuditEntry)


def note(session: Session, actor_id: int | None, action: str, target: str, **detail: Any) -> None:
    """Written at once: nobody reads an entry again in its own transaction."""
    values = {"actor_id": actor_id, "action": action, "target": target, "detail": detail}
    session.connection().execute(_ENTRY, values)
