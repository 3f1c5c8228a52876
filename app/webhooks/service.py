"""Webhooks' endpoints: made, changed, given another secret, disabled and removed, by admins."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from urllib.parse import urlsplit

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.accounts.policy import Viewer, require_role
from app.config import Settings
from app.domain.events import MEANINGS, Event
from app.domain.review import Role
from app.errors import Invalid
from app.kit import audit
from app.models import WebhookDelivery, WebhookEndpoint, utc_now
from app.webhooks import addresses, outbox, signing

ROTATION = dt.timedelta(days=1)
DESCRIPTION_LENGTH_MAX = 200


def create(
    session: Session, settings: Settings, viewer: Viewer, *, url: str, events: Iterable[str], description: str = ""
) -> WebhookEndpoint:
    """Its `secret` may be shown in answer to this, and never again."""
    require_role(viewer, Role.ADMIN)
    endpoint = WebhookEndpoint(
        created_by_id=viewer.id, url=addresses.check(url, allow_private=settings.webhook_private_addresses),
        events=_known(events), description=_described(description), secret=signing.new_secret(), is_active=True,
        disabled_because="",
    )  # fmt: skip
    session.add(endpoint)
    session.flush()
    _note(session, viewer, "webhook.create", endpoint, events=endpoint.events)
    return endpoint


def change(
    session: Session,
    settings: Settings,
    viewer: Viewer,
    endpoint: WebhookEndpoint,
    *,
    url: str,
    events: Iterable[str],
    description: str,
) -> None:
    require_role(viewer, Role.ADMIN)
    endpoint.url = addresses.check(url, allow_private=settings.webhook_private_addresses)
    endpoint.events, endpoint.description = _known(events), _described(description)
    _note(session, viewer, "webhook.change", endpoint, events=endpoint.events)


def rotate(session: Session, viewer: Viewer, endpoint: WebhookEndpoint) -> None:
    """A new secret; the one before signs beside it for a day, so that a receiver can change over in peace."""
    require_role(viewer, Role.ADMIN)
    endpoint.old_secret, endpoint.old_secret_until = endpoint.secret, utc_now() + ROTATION
    endpoint.secret = signing.new_secret()
    _note(session, viewer, "webhook.rotate", endpoint)


def enable(session: Session, viewer: Viewer, endpoint: WebhookEndpoint) -> None:
    """Messages that were waiting go out when their time comes; what happened meanwhile is not made up for."""
    require_role(viewer, Role.ADMIN)
    endpoint.is_active, endpoint.failing_since, endpoint.disabled_because = True, None, ""
    _note(session, viewer, "webhook.enable", endpoint)


def disable(session: Session, viewer: Viewer, endpoint: WebhookEndpoint) -> None:
    require_role(viewer, Role.ADMIN)
    endpoint.is_active = False
    _note(session, viewer, "webhook.disable", endpoint)


def remove(session: Session, viewer: Viewer, endpoint: WebhookEndpoint) -> None:
    """With its messages."""
    require_role(viewer, Role.ADMIN)
    _note(session, viewer, "webhook.remove", endpoint)
    session.execute(delete(WebhookDelivery).where(WebhookDelivery.endpoint_id == endpoint.id))
    session.delete(endpoint)


def send_test(session: Session, viewer: Viewer, endpoint: WebhookEndpoint) -> WebhookDelivery:
    """A message of its own type, to this endpoint alone."""
    require_role(viewer, Role.ADMIN)
    _note(session, viewer, "webhook.test", endpoint)
    return outbox.put(session, endpoint, Event.TEST, path=f"/admin/webhooks/{endpoint.public_id}")


def _known(events: Iterable[str]) -> list[str]:
    wanted = set(events)
    if not wanted or wanted - set(MEANINGS):
        raise Invalid(
            "no such event" if wanted else "no event is chosen", what_to_do=f"Choose from {', '.join(MEANINGS)}."
        )
    return [event.value for event in MEANINGS if event in wanted]


def _described(description: str) -> str:
    if len(description.strip()) > DESCRIPTION_LENGTH_MAX:
        raise Invalid(f"the description is longer than {DESCRIPTION_LENGTH_MAX} characters", what_to_do="Shorten it.")
    return description.strip()


def _note(session: Session, viewer: Viewer, action: str, endpoint: WebhookEndpoint, **detail: object) -> None:
    # The host only: some receivers have their password in the path.
    host = urlsplit(endpoint.url).hostname
    audit.note(session, viewer.id, action, endpoint.public_id, host=host, **detail)
