"""What the form of a webhook holds, as typed."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request


@dataclass(frozen=True)
class WebhookForm:
    url: str = ""
    events: tuple[str, ...] = ()
    description: str = ""


async def read_form(request: Request) -> WebhookForm:
    """A dependency: every field as typed, so that a refusal loses nothing."""
    form = await request.form()
    events = tuple(str(event) for event in form.getlist("events"))
    return WebhookForm(str(form.get("url", "")), events, str(form.get("description", "")))
