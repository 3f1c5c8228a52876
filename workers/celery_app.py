"""Celery's configuration: the queue carries hints, the database holds the truth.

Messages are acknowledged after the work and fetched one at a time; there is no result backend,
for results are rows.  A worker that is killed is recovered by its lease in the database; the
visibility timeout is only a second net, set above the longest evaluation.
"""

from __future__ import annotations

from celery import Celery
from kombu import Queue

from app.config import load_settings
from app.kit.queue import EVALUATIONS, HOUSE, transport_options

_settings = load_settings()

app = Celery("workbench", broker=_settings.broker_url, set_as_current=True)
app.conf.update(
    imports=(
        "workers.jobs.evaluate",
        "workers.jobs.experiment",
        "workers.jobs.export",
        "workers.jobs.import_submissions",
        "workers.jobs.webhook",
    ),
    task_queues=(Queue(HOUSE, routing_key=HOUSE), Queue(EVALUATIONS, routing_key=EVALUATIONS)),
    task_default_queue=HOUSE,
    task_acks_late=True,
    task_acks_on_failure_or_timeout=True,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    task_time_limit=_settings.evaluation_wall_seconds,
    broker_transport_options=transport_options(_settings),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    enable_utc=True,
)
