"""Webhooks: where messages go, and each message with what became of it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.review import DeliveryState
from app.models.base import Row, utc_now


class WebhookEndpoint(Row):
    """An address that is told of events.

    Messages have to be signed anew at every attempt, so the secret itself is kept; no page and no answer shows it
    again.  After a rotation the old one signs beside it until `old_secret_until`.
    """

    __tablename__ = "webhook_endpoints"
    prefix = "whe"

    created_by_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    url: Mapped[str] = mapped_column(String(2000))
    description: Mapped[str] = mapped_column(String(200), default="")
    events: Mapped[list[str]]
    secret: Mapped[str] = mapped_column(String(100))
    old_secret: Mapped[str | None] = mapped_column(String(100))
    old_secret_until: Mapped[dt.datetime | None]
    is_active: Mapped[bool] = mapped_column(default=True)
    # The first failure since the last success.
    failing_since: Mapped[dt.datetime | None]
    disabled_because: Mapped[str] = mapped_column(String(300), default="")


class WebhookDelivery(Row):
    """One message to one endpoint, written in the transaction of what it tells of.

    Its public id is the message's `webhook-id`, the same at every attempt, so that a receiver knows a message again.
    `next_at` is when to try; `sent_at` when a job was last asked for it, none after an attempt that failed.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries_state_next_at", "state", "next_at"),
        Index("ix_webhook_deliveries_endpoint_id_id", "endpoint_id", "id"),
    )
    prefix = "msg"

    endpoint_id: Mapped[int] = mapped_column(ForeignKey("webhook_endpoints.id"))
    event: Mapped[str] = mapped_column(String(40))
    data: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(10), default=DeliveryState.WAITING.value)
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[dt.datetime] = mapped_column(default=utc_now)
    sent_at: Mapped[dt.datetime | None]
    attempt_id: Mapped[str | None] = mapped_column(String(40))
    lease_until: Mapped[dt.datetime | None]
    last_at: Mapped[dt.datetime | None]
    last_status: Mapped[int | None]
    last_answer: Mapped[str] = mapped_column(String(500), default="")

    endpoint: Mapped[WebhookEndpoint] = relationship(lazy="raise")
