"""The sweep: puts right what a crash, a lost message or an emptied broker left behind."""

from __future__ import annotations

import dataclasses

import structlog

from app.accounts import service as accounts
from app.assignments import oversight
from app.assignments import service as assignments
from app.config import Settings
from app.evaluations import service as evaluations
from app.experiments import service as experiments
from app.exports import service as exports
from app.imports import service as imports
from app.kit import idempotency
from app.kit.db import Database
from app.webhooks import deliveries

log = structlog.get_logger(__name__)


@dataclasses.dataclass(frozen=True)
class Swept:
    """How many rows each part put right."""

    resent: int = 0
    recovered: int = 0
    slots_expired: int = 0
    exports_resent: int = 0
    experiments_resent: int = 0
    imports_resent: int = 0
    webhooks_due: int = 0


def run(database: Database, settings: Settings) -> Swept:
    """Everything once; each part in a transaction of its own, so that one fault does not stop the rest."""
    depth = database.sender.depth()
    with database.write() as session:
        swept = evaluations.sweep(session, settings, broker_depth=depth)
    with database.write() as session:
        expired = assignments.expire(session)
        oversight.raise_due(session)
    with database.write() as session:
        exported = exports.sweep(session, settings)
    with database.write() as session:
        experimented = experiments.sweep(session, settings)
    with database.write() as session:
        imported = imports.sweep(session, settings)
    with database.write() as session:
        told = deliveries.sweep(session, settings)
    with database.write() as session:
        accounts.forget_old_failures(session, settings)
        idempotency.forget_old(session)
    done = Swept(swept.resent, swept.recovered, expired, exported, experimented, imported, told)
    if done != Swept():
        log.info("swept", **dataclasses.asdict(done))
    return done
