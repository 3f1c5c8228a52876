"""Whether the house stands: health for the supervisor, readiness for a proxy, metrics for Prometheus."""

from __future__ import annotations

import time

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.assignments import queries as assignment_queries
from app.evaluations import queries as evaluation_queries
from app.kit.steps import database_of, steps

router = steps(include_in_schema=False)


@router.get("/health")
def health() -> dict[str, str]:
    """The process answers; nothing else is asked."""
    return {"status": "ok"}


@router.get("/ready")
def ready(request: Request) -> JSONResponse:
    """Database and broker answer; without the broker work waits, so that is said but is no failure."""
    database = database_of(request)
    try:
        with database.read() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        return JSONResponse({"status": "no database", "detail": type(error).__name__}, status_code=503)
    depth = database.sender.depth()
    return JSONResponse({"status": "ok", "broker": "unreachable" if depth is None else "ok", "queue_depth": depth})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Counts out of the database, taken when asked: right whichever web process answers."""
    started = time.perf_counter()
    registry = CollectorRegistry()
    with database_of(request).read() as session:
        _count(registry, session)
    took = Gauge("workbench_scrape_seconds", "Time taken to count", registry=registry)
    took.set(time.perf_counter() - started)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _count(registry: CollectorRegistry, session: Session) -> None:
    evaluations = Gauge("workbench_evaluations", "Evaluations by state", ["state"], registry=registry)
    for state, count in evaluation_queries.count_by_state(session).items():
        evaluations.labels(state).set(count)
    slots = Gauge("workbench_review_slots", "Review slots by state", ["state"], registry=registry)
    for state, count in assignment_queries.count_states(session).items():
        slots.labels(state).set(count)
