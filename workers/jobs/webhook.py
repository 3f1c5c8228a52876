"""The webhook job: claim a message, send it with no transaction open, record what was answered."""

from __future__ import annotations

from app.config import Settings, load_settings
from app.kit.db import Database
from app.webhooks import addresses, deliveries, sending
from app.webhooks.addresses import AddressRefused
from app.webhooks.deliveries import Parcel
from app.webhooks.sending import Answer
from workers.celery_app import app
from workers.jobs import resources


@app.task(name="workbench.deliver_webhook")
def deliver_webhook(delivery_id: str) -> None:
    run(resources.database(), load_settings(), delivery_id)


def run(database: Database, settings: Settings, delivery_id: str) -> None:
    with database.write() as session:
        parcel = deliveries.claim(session, settings, delivery_id)
    if parcel is None:
        return
    answer = _send(settings, parcel)
    with database.write() as session:
        deliveries.record(session, settings, parcel, answer)


def _send(settings: Settings, parcel: Parcel) -> Answer:
    try:
        target = addresses.resolve(parcel.url, allow_private=settings.webhook_private_addresses)
    except AddressRefused as refused:
        return Answer(None, str(refused))
    return sending.post(target, parcel.headers, parcel.body, seconds=settings.webhook_seconds_max)
