"""The queue: jobs are sent by name, and only after the transaction that asks for them has committed.

The row is the truth and the message a hint: a send that fails is logged, and the sweep sends it
again.  Celery and redis are imported on the first send, so that pages and tools start without them.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy.orm import Session

from app.config import Settings

if TYPE_CHECKING:
    from celery import Celery
    from redis import Redis

log = structlog.get_logger(__name__)

# The long jobs, and the short ones that must not wait behind them.
EVALUATIONS, HOUSE = "evaluations", "house"
_WAITING = "workbench.waiting"
_CONNECT_SECONDS = 2.0


class Sender:
    """Hands jobs and "changed" notices to the broker; never raises."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._celery: Celery | None = None
        self._redis: Redis | None = None

    def send(self, job: str, arguments: dict[str, Any], queue: str) -> bool:
        try:
            # Asked first: Celery's own client tries a broker that is away for six seconds, which a page would wait for.
            self._client().ping()
            options = {"queue": queue, "retry": False, "ignore_result": True}
            self._producer().send_task(f"workbench.{job}", kwargs=arguments, **options)
        except Exception as error:  # noqa: BLE001 - whatever the broker's client raises, the row is kept and swept
            log.warning("job_not_sent", job=job, error=str(error), **arguments)
            return False
        return True

    def announce(self, channel: str) -> None:
        """Tell whoever listens on `channel` that something changed; nothing else is said there."""
        with contextlib.suppress(Exception):
            self._client().publish(channel, "changed")

    def depth(self, queue: str = EVALUATIONS) -> int | None:
        """Messages waiting or unacknowledged, or None when the broker does not answer."""
        try:
            client = self._client()
            return int(client.llen(queue)) + int(client.hlen("unacked"))
        except Exception as error:  # noqa: BLE001 - the same
            log.warning("broker_unreachable", error=str(error))
            return None

    def warm_up(self) -> None:
        """Import the broker's clients now, so that the first submission does not wait for it."""
        self._producer()
        self.depth()

    def close(self) -> None:
        if self._celery is not None:
            self._celery.close()
        if self._redis is not None:
            self._redis.close()
        self._celery = self._redis = None

    def _producer(self) -> Celery:
        if self._celery is None:
            from celery import Celery

            self._celery = Celery("workbench-sender", broker=self._settings.broker_url, set_as_current=False)
            self._celery.conf.update(task_serializer="json", broker_transport_options=transport_options(self._settings))
        return self._celery

    def _client(self) -> Redis:
        if self._redis is None:
            from redis import Redis

            url = redis_url(self._settings)
            self._redis = Redis.from_url(url, socket_connect_timeout=_CONNECT_SECONDS, socket_timeout=_CONNECT_SECONDS)
        return self._redis


def transport_options(settings: Settings) -> dict[str, Any]:
    """What Celery's redis transport must know on both sides.

    The visibility timeout lies above the longest evaluation, or a long one would run twice; the
    two restore options make a lost worker's messages come back soon after it instead of much later.
    """
    return {
        "visibility_timeout": settings.evaluation_wall_seconds + 600,
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": _CONNECT_SECONDS,
    }


def redis_url(settings: Settings) -> str:
    """The broker's address as redis-py writes it (`unix://` for Celery's `redis+socket://`)."""
    url = settings.broker_url
    return url.replace("redis+socket://", "unix://", 1) if url.startswith("redis+socket://") else url


def enqueue(session: Session, job: str, *, queue: str, **arguments: Any) -> None:
    """Send `job` once this session has committed; dropped when it rolls back."""
    session.info.setdefault(_WAITING, []).append(("job", job, arguments, queue))


def announce(session: Session, channel: str) -> None:
    """Tell listeners of `channel` that something changed, once this session has committed."""
    session.info.setdefault(_WAITING, []).append(("notice", channel, {}, ""))


def send_waiting(session: Session, sender: Sender) -> None:
    """For whoever has committed the session, with its locks let go: a broker that is away holds nobody up."""
    for kind, name, arguments, queue in session.info.pop(_WAITING, []):
        if kind == "job":
            sender.send(name, arguments, queue)
        else:
            sender.announce(name)
