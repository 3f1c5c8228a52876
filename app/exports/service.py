"""Exports: asked for on a page, written by a job, and the same bytes whenever they are made again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.config import Settings
from app.domain.events import Event
from app.domain.review import Role
from app.errors import Gone, Invalid
from app.experiments import queries as experiment_queries
from app.exports import queries, ranking_rows, rows
from app.kit import audit, queue
from app.kit.blobs import BlobStore
from app.models import Export, Review, utc_now
from app.reviews import ranking
from app.webhooks import outbox

JOB = "export"
SHAPES = (queries.REVIEW, queries.RANKING)
FILTERS = ("task", "since", "revisions")
LEASE_MINUTES = 30


def request_export(
    session: Session, viewer: Viewer, *, shape: str = "review", filters: dict[str, Any] | None = None
) -> Export:
    """Ask for an export of everything up to now; the message goes out after commit."""
    require_role(viewer, Role.ADJUDICATOR)
    filters = {k: v for k, v in (filters or {}).items() if v}
    _check(shape, filters)
    now = utc_now()
    export = Export(requested_by_id=viewer.id, shape=shape, filters=filters, cutoff_at=now, state="queued", sent_at=now)
    session.add(export)
    session.flush()
    audit.note(session, viewer.id, "export.request", export.public_id, shape=shape, filters=filters)
    queue.enqueue(session, JOB, queue=queue.HOUSE, export_id=export.public_id)
    return export


def claim(session: Session, export_id: str) -> Export | None:
    """Take a queued export, or one whose worker died; None when somebody else has it."""
    now = utc_now()
    free = (Export.state == "queued") | ((Export.state == "running") & (Export.lease_until < now))
    until = now + dt.timedelta(minutes=LEASE_MINUTES)
    taken = update(Export).where(Export.public_id == export_id, free).values(
        state="running", lease_until=until, attempts=Export.attempts + 1
    )  # fmt: skip
    found = session.scalars(taken.returning(Export.id), execution_options={"synchronize_session": "fetch"}).all()
    return queries.find(session, export_id) if found else None


def write(session: Session, settings: Settings, export: Export) -> dict[str, Any]:
    """Stream the rows into a blob; its manifest.  The session only reads."""
    counter = _Counter()
    sha256 = BlobStore(settings.blobs_dir).put_stream(counter.counting(_lines(session, settings, export)))
    return {
        "export": export.public_id,
        "schema_version": rows.SCHEMA_VERSION,
        "shape": export.shape,
        "filters": export.filters,
        "cutoff_at": export.cutoff_at.isoformat(),
        "rows": counter.rows,
        "bytes": counter.size_bytes,
        "sha256": sha256,
        "media_type": "application/jsonl",
        "order": "review id, ascending",
    }


def finish(session: Session, export_id: str, manifest: dict[str, Any]) -> None:
    export = queries.find(session, export_id)
    export.state, export.manifest, export.failure = "done", manifest, None
    export.sha256, export.size_bytes = manifest["sha256"], manifest["bytes"]
    export.ended_at, export.lease_until = utc_now(), None
    outbox.emit(session, Event.EXPORT_FINISHED, path="/exports", export=export_id)


def fail(session: Session, settings: Settings, export_id: str, reason: str) -> None:
    """Our own fault: try again until the attempts are spent."""
    export = queries.find(session, export_id)
    export.failure, export.lease_until = reason, None
    if export.attempts >= settings.attempts_max:
        export.state, export.ended_at = "failed", utc_now()
        return
    export.state, export.sent_at = "queued", utc_now()
    queue.enqueue(session, JOB, queue=queue.HOUSE, export_id=export_id)


def sweep(session: Session, settings: Settings) -> int:
    """Send again what no worker took; how many."""
    now = utc_now()
    lost = queries.unfinished(session, now, now - dt.timedelta(seconds=settings.resend_after_seconds))
    for export in lost:
        if export.attempts >= settings.attempts_max:
            export.state, export.failure, export.ended_at = "failed", "its worker died every time", now
            continue
        export.sent_at = now
        queue.enqueue(session, JOB, queue=queue.HOUSE, export_id=export.public_id)
    return len(lost)


def file_of(settings: Settings, export: Export) -> Path:
    if export.state != "done" or export.sha256 is None:
        raise Gone("this export has no file yet", what_to_do="Wait until it is done.")
    return BlobStore(settings.blobs_dir).path(export.sha256)


class _Counter:
    rows = 0
    size_bytes = 0

    def counting(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        for line in lines:
            self.rows += 1
            self.size_bytes += len(line)
            yield line


def _lines(session: Session, settings: Settings, export: Export) -> Iterator[bytes]:
    row_of = _ranking_row if export.shape == queries.RANKING else _review_row
    for review in queries.reviews_for(session, export):
        row = row_of(session, settings, export, review)
        yield json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _review_row(session: Session, settings: Settings, export: Export, review: Review) -> dict[str, Any]:
    decision = queries.decision_at(session, review.subject_id, export.cutoff_at)
    experiments = experiment_queries.seen_when_submitted(session, review)
    return rows.review_row(settings, review, decision, queries.rulings_at_submit(session, review), experiments)


def _ranking_row(session: Session, settings: Settings, _: Export, review: Review) -> dict[str, Any]:
    return ranking_rows.ranking_row(settings, review, ranking.members_of(session, review))


def _check(shape: str, filters: dict[str, Any]) -> None:
    if shape not in SHAPES:
        raise Invalid(f"unknown shape {shape!r}", what_to_do=f"Choose from {', '.join(SHAPES)}.")
    if unknown := sorted(set(filters) - set(FILTERS)):
        raise Invalid(f"unknown filter {unknown[0]!r}", what_to_do=f"There are {', '.join(FILTERS)}.")
    if filters.get("revisions", queries.CURRENT) not in queries.REVISIONS:
        raise Invalid("unknown `revisions`", what_to_do=f"Choose from {', '.join(queries.REVISIONS)}.")
    try:
        since = dt.datetime.fromisoformat(filters.get("since", "2000-01-01T00:00:00+00:00"))
    except (TypeError, ValueError):
        since = None
    if since is None or since.tzinfo is None:
        raise Invalid("`since` is no time with a zone", what_to_do="Write it like 2026-01-31T12:00:00+00:00.")
