"""Tell of an event: a message for each endpoint that listens, kept or not with what it tells of."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.domain.events import Event
from app.domain.review import DeliveryState
from app.kit import queue
from app.models import WebhookDelivery, WebhookEndpoint, utc_now
from app.webhooks import queries

JOB = "deliver_webhook"


def emit(session: Session, event: Event, *, path: str, **ids: str) -> None:
    """In the transaction of the event.  Only ids and the page's path: the receiver asks, and sees what it may see."""
    for endpoint in queries.listening(session, event):
        put(session, endpoint, event, path=path, **ids)


def is_heard(session: Session, *events: Event) -> bool:
    """Whether anybody listens to one of them: mostly nobody does, and nothing needs to be looked up for a message."""
    return bool(queries.listening(session, *events))


def put(session: Session, endpoint: WebhookEndpoint, event: Event, *, path: str, **ids: str) -> WebhookDelivery:
    now = utc_now()
    delivery = WebhookDelivery(
        endpoint_id=endpoint.id, event=event.value, data={"path": path, **ids}, state=DeliveryState.WAITING.value,
        attempts=0, next_at=now, sent_at=now, last_answer="",
    )  # fmt: skip
    session.add(delivery)
    session.flush()
    ask_for(session, delivery)
    return delivery


def ask_for(session: Session, delivery: WebhookDelivery) -> None:
    """Ask for a job that sends it; the message to the job goes out after commit."""
    delivery.sent_at = utc_now()
    queue.enqueue(session, JOB, queue=queue.HOUSE, delivery_id=delivery.public_id)
