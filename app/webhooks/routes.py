"""The admin's pages of webhooks: where messages go, what became of them, and sending one again."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Form, Request, Response
from fastapi.responses import RedirectResponse

from app.accounts.access import role
from app.accounts.policy import Viewer
from app.domain.events import MEANINGS
from app.domain.review import DeliveryState, Role
from app.errors import WorkbenchError
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, steps
from app.models import WebhookEndpoint
from app.webhooks import deliveries, queries, service
from app.webhooks.forms import WebhookForm, read_form

router = steps(include_in_schema=False)
Admin = Annotated[Viewer, Depends(role(Role.ADMIN))]
Typed = Annotated[WebhookForm, Depends(read_form)]
Act = Annotated[str, Form()]
PLACE = "/admin/webhooks"


@router.get(PLACE)
def webhooks(request: Request, session: ReadSession, viewer: Admin) -> Response:
    return _list(request, session, WebhookForm())


@router.post(PLACE)
def create(request: Request, session: WriteSession, viewer: Admin, form: Typed) -> Response:
    """Answered with the page itself: the secret is shown here and never again."""
    settings = request.app.state.settings
    try:
        with session.begin_nested():
            made = service.create(session, settings, viewer, **vars(form))
    except WorkbenchError as error:
        return _list(request, session, form, error)
    return _page(request, session, made, secret=made.secret)


@router.get(PLACE + "/{public_id}")
def webhook(
    request: Request, session: ReadSession, viewer: Admin, public_id: str, state: str = "", cursor: str | None = None
) -> Response:
    return _page(request, session, queries.find(session, public_id), state=state, cursor=cursor)


@router.post(PLACE + "/{public_id}")
def change(request: Request, session: WriteSession, viewer: Admin, public_id: str, form: Typed) -> Response:
    found, settings = queries.find(session, public_id), request.app.state.settings
    try:
        with session.begin_nested():
            service.change(session, settings, viewer, found, **vars(form))
    except WorkbenchError as error:
        return _page(request, session, found, form=form, error=error)
    return RedirectResponse(f"{PLACE}/{public_id}", 303)


@router.post(PLACE + "/{public_id}/rotate")
def rotate(request: Request, session: WriteSession, viewer: Admin, public_id: str) -> Response:
    found = queries.find(session, public_id)
    service.rotate(session, viewer, found)
    return _page(request, session, found, secret=found.secret)


@router.post(PLACE + "/{public_id}/enable")
def enable(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.enable(session, viewer, queries.find(session, public_id))
    return RedirectResponse(f"{PLACE}/{public_id}", 303)


@router.post(PLACE + "/{public_id}/disable")
def disable(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.disable(session, viewer, queries.find(session, public_id))
    return RedirectResponse(f"{PLACE}/{public_id}", 303)


@router.post(PLACE + "/{public_id}/test")
def send_test(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.send_test(session, viewer, queries.find(session, public_id))
    return RedirectResponse(f"{PLACE}/{public_id}#messages", 303)


@router.post(PLACE + "/{public_id}/remove")
def remove(session: WriteSession, viewer: Admin, public_id: str) -> Response:
    service.remove(session, viewer, queries.find(session, public_id))
    return RedirectResponse(PLACE, 303)


@router.post(PLACE + "/messages/{message_id}/send")
def send_again(session: WriteSession, viewer: Admin, message_id: str) -> Response:
    found = queries.find_delivery(session, message_id)
    deliveries.send_again(session, viewer, found)
    return RedirectResponse(f"{PLACE}/{found.endpoint.public_id}#messages", 303)


def _list(request: Request, session: ReadSession, form: WebhookForm, error: WorkbenchError | None = None) -> Response:
    context = {"endpoints": queries.list_endpoints(session), "form": form, "meanings": MEANINGS, "error": error}
    return pages.render(request, "admin/webhooks.html", context, status=error.status if error else 200)


def _page(
    request: Request,
    session: ReadSession,
    endpoint: WebhookEndpoint,
    *,
    state: str = "",
    cursor: str | None = None,
    secret: str = "",
    form: WebhookForm | None = None,
    error: WorkbenchError | None = None,
) -> Response:
    chosen = DeliveryState(state) if state in set(DeliveryState) else None
    context = {
        "endpoint": endpoint, "page": queries.deliveries(session, endpoint, state=chosen, cursor=cursor),
        "state": chosen, "states": list(DeliveryState), "query": f"state={chosen.value}" if chosen else "",
        "secret": secret, "meanings": MEANINGS, "error": error, "attempts_max": deliveries.ATTEMPTS_MAX,
        "form": form or WebhookForm(endpoint.url, tuple(endpoint.events), endpoint.description),
    }  # fmt: skip
    return pages.render(request, "admin/webhook.html", context, status=error.status if error else 200)
