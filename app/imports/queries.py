"""Every select about imports."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, joinedload

from app.accounts.policy import Viewer
from app.domain.review import ImportState, RowStatus
from app.errors import NotFound
from app.kit.pagination import LIMIT_DEFAULT, Page, newest_first, oldest_first
from app.models import Import, ImportRow

BATCH = 200


def find(session: Session, public_id: str, viewer: Viewer | None = None) -> Import:
    """An import is seen by whoever sent it, and by nobody else: it tells whose the submissions are."""
    found = session.scalar(select(Import).where(Import.public_id == public_id))
    if found is None or (viewer is not None and found.requested_by_id != viewer.id):
        raise NotFound(f"there is no import {public_id!r}")
    return found


def list_of(session: Session, viewer: Viewer, *, cursor: str | None = None, limit: int = LIMIT_DEFAULT) -> Page[Import]:
    query = select(Import).where(Import.requested_by_id == viewer.id)
    return newest_first(session, query, Import.id, cursor=cursor, limit=limit)


def results(
    session: Session, row: Import, *, status: RowStatus | None = None, cursor: str | None = None, limit: int
) -> Page[ImportRow]:
    """One page of what became of the rows, in the order of the file."""
    return oldest_first(session, _results(row, status), ImportRow.number, cursor=cursor, limit=limit)


def every_result(session: Session, row: Import) -> Iterator[ImportRow]:
    """All of them, a batch at a time."""
    last = 0
    while batch := session.scalars(
        _results(row).where(ImportRow.number > last).order_by(ImportRow.number).limit(BATCH)
    ).all():
        yield from batch
        last = batch[-1].number


def unfinished(session: Session, now: dt.datetime, sent_before: dt.datetime) -> Sequence[Import]:
    """Sent and never taken, or taken by a worker whose lease ran out."""
    query = select(Import).where(
        ((Import.state == ImportState.QUEUED) & (Import.sent_at < sent_before))
        | ((Import.state == ImportState.RUNNING) & (Import.lease_until < now))
    )
    return session.scalars(query.order_by(Import.id)).all()


def _results(row: Import, status: RowStatus | None = None) -> Select[ImportRow]:
    query = select(ImportRow).where(ImportRow.import_id == row.id).options(joinedload(ImportRow.submission))
    return query.where(ImportRow.status == status) if status else query
