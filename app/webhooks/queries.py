"""Every select about webhooks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from app.domain.events import Event
from app.domain.review import DeliveryState
from app.errors import NotFound
from app.kit.pagination import LIMIT_DEFAULT, Page, newest_first
from app.models import WebhookDelivery, WebhookEndpoint

SWEPT_MAX = 500


def find(session: Session, public_id: str) -> WebhookEndpoint:
    found = session.scalar(select(WebhookEndpoint).where(WebhookEndpoint.public_id == public_id))
    if found is None:
        raise NotFound(f"there is no webhook {public_id!r}")
    return found


def delivery(session: Session, public_id: str) -> WebhookDelivery | None:
    query = select(WebhookDelivery).options(joinedload(WebhookDelivery.endpoint))
    return session.scalar(query.where(WebhookDelivery.public_id == public_id))


def find_delivery(session: Session, public_id: str) -> WebhookDelivery:
    found = delivery(session, public_id)
    if found is None:
        raise NotFound(f"there is no message {public_id!r}")
    return found


def list_endpoints(session: Session) -> Sequence[WebhookEndpoint]:
    return session.scalars(select(WebhookEndpoint).order_by(WebhookEndpoint.id)).all()


def listening(session: Session, *events: Event) -> list[WebhookEndpoint]:
    """Those that want one of the events."""
    active, wanted = session.scalars(_ACTIVE).all(), {event.value for event in events}
    return [endpoint for endpoint in active if not wanted.isdisjoint(endpoint.events)]


def disabled(session: Session) -> int:
    """How many were disabled because they failed, and wait for an admin to look."""
    query = select(func.count()).where(~WebhookEndpoint.is_active, WebhookEndpoint.disabled_because != "")
    return session.scalar(query) or 0


def deliveries(
    session: Session,
    endpoint: WebhookEndpoint,
    *,
    state: DeliveryState | None = None,
    cursor: str | None = None,
    limit: int = LIMIT_DEFAULT,
) -> Page[WebhookDelivery]:
    query = select(WebhookDelivery).where(WebhookDelivery.endpoint_id == endpoint.id)
    if state:
        query = query.where(WebhookDelivery.state == state)
    return newest_first(session, query, WebhookDelivery.id, cursor=cursor, limit=limit)


def is_being_sent_to(session: Session, endpoint: WebhookEndpoint, now: dt.datetime) -> bool:
    query = select(WebhookDelivery.id).where(
        WebhookDelivery.endpoint_id == endpoint.id,
        WebhookDelivery.state == DeliveryState.SENDING,
        WebhookDelivery.lease_until > now,
    )
    return session.scalars(query.limit(1)).first() is not None


def due(session: Session, now: dt.datetime, sent_before: dt.datetime) -> Sequence[WebhookDelivery]:
    """Whose time has come and for which no job was asked lately, or whose worker died; of active endpoints."""
    asked_long_ago = WebhookDelivery.sent_at.is_(None) | (WebhookDelivery.sent_at < sent_before)
    query = (
        select(WebhookDelivery)
        .join(WebhookDelivery.endpoint)
        .where(
            WebhookEndpoint.is_active,
            asked_long_ago,
            ((WebhookDelivery.state == DeliveryState.WAITING) & (WebhookDelivery.next_at <= now))
            | ((WebhookDelivery.state == DeliveryState.SENDING) & (WebhookDelivery.lease_until < now)),
        )
    )
    return session.scalars(query.order_by(WebhookDelivery.id).limit(SWEPT_MAX)).all()


# Every event asks this.
_ACTIVE = select(WebhookEndpoint).where(WebhookEndpoint.is_active).order_by(WebhookEndpoint.id)
