"""Webhooks over REST: for admins, and for tokens of theirs with the scope `webhooks`."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, ConfigDict

from app.accounts.access import scope
from app.accounts.policy import Viewer, require_role
from app.domain.review import DeliveryState, Role
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import WebhookDelivery, WebhookEndpoint
from app.webhooks import deliveries, queries, service

router = steps(prefix="/webhooks", tags=["webhooks"])


async def _admin(viewer: Annotated[Viewer, Depends(scope("webhooks"))]) -> Viewer:
    require_role(viewer, Role.ADMIN)
    return viewer


Admin = Annotated[Viewer, Depends(_admin)]


class WebhookIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str
    events: list[str]
    description: str = ""


class WebhookOut(BaseModel):
    """Where messages go, and since when they fail to."""

    id: str
    url: str
    events: list[str]
    description: str
    is_active: bool
    failing_since: dt.datetime | None
    disabled_because: str
    created_at: dt.datetime


class WebhookWithSecret(WebhookOut):
    """The secret is told here and never again."""

    secret: str


class DeliveryOut(BaseModel):
    """A message; its id is the `webhook-id` that it is sent with."""

    id: str
    event: str
    data: dict[str, Any]
    state: DeliveryState
    attempts: int
    created_at: dt.datetime
    next_at: dt.datetime | None
    last_at: dt.datetime | None
    last_status: int | None
    last_answer: str


class DeliveryPage(BaseModel):
    items: list[DeliveryOut]
    next_cursor: str | None


@router.post("", status_code=201)
def create_webhook(request: Request, session: WriteSession, viewer: Admin, body: WebhookIn) -> WebhookWithSecret:
    endpoint = service.create(session, request.app.state.settings, viewer, **body.model_dump())
    return WebhookWithSecret(**_as_out(endpoint), secret=endpoint.secret)


@router.get("")
def list_webhooks(session: ReadSession, viewer: Admin) -> list[WebhookOut]:
    return [WebhookOut(**_as_out(endpoint)) for endpoint in queries.list_endpoints(session)]


@router.get("/{webhook_id}")
def show_webhook(session: ReadSession, viewer: Admin, webhook_id: str) -> WebhookOut:
    return WebhookOut(**_as_out(queries.find(session, webhook_id)))


@router.put("/{webhook_id}")
def change_webhook(
    request: Request, session: WriteSession, viewer: Admin, webhook_id: str, body: WebhookIn
) -> WebhookOut:
    endpoint = queries.find(session, webhook_id)
    service.change(session, request.app.state.settings, viewer, endpoint, **body.model_dump())
    return WebhookOut(**_as_out(endpoint))


@router.delete("/{webhook_id}", status_code=204)
def remove_webhook(session: WriteSession, viewer: Admin, webhook_id: str) -> None:
    service.remove(session, viewer, queries.find(session, webhook_id))


@router.post("/{webhook_id}/rotate")
def rotate_secret(session: WriteSession, viewer: Admin, webhook_id: str) -> WebhookWithSecret:
    """A new secret; for a day messages are signed with the old one too."""
    endpoint = queries.find(session, webhook_id)
    service.rotate(session, viewer, endpoint)
    return WebhookWithSecret(**_as_out(endpoint), secret=endpoint.secret)


@router.post("/{webhook_id}/enable")
def enable_webhook(session: WriteSession, viewer: Admin, webhook_id: str) -> WebhookOut:
    endpoint = queries.find(session, webhook_id)
    service.enable(session, viewer, endpoint)
    return WebhookOut(**_as_out(endpoint))


@router.post("/{webhook_id}/disable")
def disable_webhook(session: WriteSession, viewer: Admin, webhook_id: str) -> WebhookOut:
    endpoint = queries.find(session, webhook_id)
    service.disable(session, viewer, endpoint)
    return WebhookOut(**_as_out(endpoint))


@router.post("/{webhook_id}/test", status_code=202)
def send_test(session: WriteSession, viewer: Admin, webhook_id: str) -> DeliveryOut:
    return _delivery_out(service.send_test(session, viewer, queries.find(session, webhook_id)))


@router.get("/{webhook_id}/messages")
def list_messages(
    session: ReadSession,
    viewer: Admin,
    webhook_id: str,
    state: DeliveryState | None = None,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DeliveryPage:
    """Newest first, with what was last answered."""
    page = queries.deliveries(session, queries.find(session, webhook_id), state=state, cursor=cursor, limit=limit)
    return DeliveryPage(items=[_delivery_out(found) for found in page.items], next_cursor=page.next_cursor)


@router.post("/messages/{message_id}/send", status_code=202)
def send_again(session: WriteSession, viewer: Admin, message_id: str) -> DeliveryOut:
    """The same message under the same id."""
    found = queries.find_delivery(session, message_id)
    deliveries.send_again(session, viewer, found)
    return _delivery_out(found)


def _as_out(endpoint: WebhookEndpoint) -> dict[str, Any]:
    shown = ("url", "events", "description", "is_active", "failing_since", "disabled_because", "created_at")
    return {"id": endpoint.public_id, **{name: getattr(endpoint, name) for name in shown}}


def _delivery_out(found: WebhookDelivery) -> DeliveryOut:
    shown = ("event", "data", "state", "attempts", "created_at", "last_at", "last_status", "last_answer")
    next_at = found.next_at if found.state == DeliveryState.WAITING else None
    return DeliveryOut(id=found.public_id, next_at=next_at, **{name: getattr(found, name) for name in shown})
