"""Idempotency keys: a keyed request sent twice is done once and answered the same."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import IdempotencyKey, utc_now

KEPT = dt.timedelta(days=1)


def recall(session: Session, user_id: int, key: str | None, fingerprint: str) -> IdempotencyKey | None:
    """The earlier answer; raises when the key was used for something else."""
    if not key:
        return None
    query = select(IdempotencyKey).where(IdempotencyKey.user_id == user_id, IdempotencyKey.key == key)
    found = session.scalar(query)
    if found is not None and found.request_sha256 != fingerprint:
        raise Conflict(
            "this Idempotency-Key was used for another request", what_to_do="Use a new key for a new request."
        )
    return found


def remember(
    session: Session, user_id: int, key: str | None, fingerprint: str, status: int, body: dict[str, Any]
) -> None:
    if key:
        session.add(IdempotencyKey(user_id=user_id, key=key, request_sha256=fingerprint, status=status, body=body))
        try:
            session.flush()
        except IntegrityError:
            raise Conflict(
                "the same Idempotency-Key is being answered now", what_to_do="Send the request again in a moment."
            ) from None


def forget_old(session: Session) -> None:
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < utc_now() - KEPT))
