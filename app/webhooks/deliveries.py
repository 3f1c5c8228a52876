"""Messages on their way: taken by one job at a time, tried again later and later, shown, and sent again when asked."""

from __future__ import annotations

import datetime as dt
import json
import random
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.config import Settings
from app.domain.review import DeliveryState, Role
from app.errors import Conflict
from app.kit import audit
from app.models import WebhookDelivery, WebhookEndpoint, new_public_id, utc_now
from app.webhooks import outbox, queries, signing
from app.webhooks.sending import Answer

# What Standard Webhooks proposes: three days in all.  Up to a tenth is added, so that not all come back at once.
RETRY_AFTER_SECONDS = (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
ATTEMPTS_MAX = len(RETRY_AFTER_SECONDS) + 1
_JITTER = 0.1
_LEASE_ROOM_SECONDS = 60.0


@dataclass(frozen=True)
class Parcel:
    """A message as it goes out in this attempt."""

    delivery_id: str
    attempt_id: str
    url: str
    headers: dict[str, str]
    body: bytes


def claim(session: Session, settings: Settings, delivery_id: str) -> Parcel | None:
    """Take a message whose time has come; None when somebody else has it, or it should not go now."""
    now = utc_now()
    delivery = queries.delivery(session, delivery_id)
    if delivery is None or not delivery.endpoint.is_active:
        return None
    endpoint = delivery.endpoint
    # A receiver that hangs must not hold more than one worker, which others wait for.
    if endpoint.failing_since is not None and queries.is_being_sent_to(session, endpoint, now):
        return None
    attempt_id = new_public_id("att")
    free = ((WebhookDelivery.state == DeliveryState.WAITING) & (WebhookDelivery.next_at <= now)) | (
        (WebhookDelivery.state == DeliveryState.SENDING) & (WebhookDelivery.lease_until < now)
    )
    lease_until = now + dt.timedelta(seconds=2 * settings.webhook_seconds_max + _LEASE_ROOM_SECONDS)
    taken = _changed(
        session, (WebhookDelivery.id == delivery.id, free), state=DeliveryState.SENDING.value, attempt_id=attempt_id,
        attempts=WebhookDelivery.attempts + 1, lease_until=lease_until, last_at=now,
    )  # fmt: skip
    return _parcel(settings, delivery, attempt_id, now) if taken else None


def record(session: Session, settings: Settings, parcel: Parcel, answer: Answer) -> None:
    """Keep what was answered; a late answer of an attempt that was given up changes nothing."""
    now, delivery = utc_now(), queries.delivery(session, parcel.delivery_id)
    if delivery is None:
        return  # its webhook was removed meanwhile
    is_spent = answer.is_gone or delivery.attempts >= ATTEMPTS_MAX
    state = DeliveryState.DELIVERED if answer.is_ok else DeliveryState.FAILED if is_spent else DeliveryState.WAITING
    ours = (WebhookDelivery.id == delivery.id, WebhookDelivery.attempt_id == parcel.attempt_id)
    kept = _changed(
        session, ours, state=state.value, attempt_id=None, lease_until=None, sent_at=None, last_status=answer.status,
        last_answer=answer.text, next_at=now if state != DeliveryState.WAITING else now + _pause(delivery.attempts),
    )  # fmt: skip
    if not kept:
        return
    if answer.is_ok:
        delivery.endpoint.failing_since = None
    else:
        _note_failure(session, settings, delivery.endpoint, answer, now)


def send_again(session: Session, viewer: Viewer, delivery: WebhookDelivery) -> None:
    """The same message under the same id, whatever became of it; its attempts are counted anew."""
    require_role(viewer, Role.ADMIN)
    if not delivery.endpoint.is_active:
        raise Conflict("this webhook is disabled", what_to_do="Enable it first.")
    over = (WebhookDelivery.id == delivery.id, WebhookDelivery.state != DeliveryState.SENDING)
    if not _changed(session, over, state=DeliveryState.WAITING.value, attempts=0, next_at=utc_now()):
        raise Conflict("this message is being sent now", what_to_do="Look again in a moment.")
    session.refresh(delivery)
    outbox.ask_for(session, delivery)
    audit.note(session, viewer.id, "webhook.send_again", delivery.public_id)


def sweep(session: Session, settings: Settings) -> int:
    """Ask for jobs for what is due, and forget what is long over; how many were asked for."""
    now = utc_now()
    due = queries.due(session, now, now - dt.timedelta(seconds=settings.resend_after_seconds))
    for delivery in due:
        outbox.ask_for(session, delivery)
    is_over = WebhookDelivery.state.in_((DeliveryState.DELIVERED, DeliveryState.FAILED))
    old = now - dt.timedelta(days=settings.webhook_kept_days)
    session.execute(delete(WebhookDelivery).where(is_over, WebhookDelivery.next_at < old))
    return len(due)


def _parcel(settings: Settings, delivery: WebhookDelivery, attempt_id: str, now: dt.datetime) -> Parcel:
    ids = {name: value for name, value in delivery.data.items() if name != "path"}
    content = {
        "type": delivery.event,
        "timestamp": delivery.created_at.isoformat(),
        "data": {**ids, "url": settings.base_url.rstrip("/") + delivery.data["path"]},
    }
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    endpoint = delivery.endpoint
    secrets = [endpoint.secret]
    if endpoint.old_secret and endpoint.old_secret_until and endpoint.old_secret_until > now:
        secrets.append(endpoint.old_secret)
    headers = {
        "Content-Type": "application/json", "User-Agent": "kernel-review-workbench",
        **signing.headers(secrets, delivery.public_id, int(now.timestamp()), body),
    }  # fmt: skip
    return Parcel(delivery.public_id, attempt_id, endpoint.url, headers, body)


def _note_failure(
    session: Session, settings: Settings, endpoint: WebhookEndpoint, answer: Answer, now: dt.datetime
) -> None:
    """A receiver that is gone, or has failed for days, is left alone; admins see it on their first page."""
    endpoint.failing_since = endpoint.failing_since or now
    if answer.is_gone:
        because = "the receiver answered 410: it is gone for good"
    elif now - endpoint.failing_since >= dt.timedelta(days=settings.webhook_failing_days_max):
        because = f"it failed for {settings.webhook_failing_days_max:g} days"
    else:
        return
    if endpoint.is_active:
        endpoint.is_active, endpoint.disabled_because = False, because
        audit.note(session, None, "webhook.give_up", endpoint.public_id, because=because)


def _pause(attempts: int) -> dt.timedelta:
    seconds = RETRY_AFTER_SECONDS[attempts - 1]
    return dt.timedelta(seconds=seconds * (1 + random.uniform(0, _JITTER)))  # noqa: S311 - no secret


def _changed(session: Session, conditions: tuple[Any, ...], **values: Any) -> bool:
    statement = update(WebhookDelivery).where(*conditions).values(**values).returning(WebhookDelivery.id)
    return session.execute(statement, execution_options={"synchronize_session": "fetch"}).scalar() is not None
