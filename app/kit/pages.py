"""Pages: one template gives the whole page, or only a named block of it to htmx.

`FILTERS` and `GLOBALS` are the hook by which a template gets a filter or a function.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound
from jinja2_fragments import render_block

from app.config import Settings
from app.kit import auth

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
VISITOR_COOKIE = "workbench_visitor"
FILTERS: dict[str, Callable[..., Any]] = {}
GLOBALS: dict[str, Any] = {}


def make_environment(folder: Path = TEMPLATES) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(GLOBALS)
    return environment


def render(
    request: Request, template: str, context: dict[str, Any] | None = None, block: str | None = None, status: int = 200
) -> HTMLResponse:
    """Render `template`; only `block` of it when htmx asked, so that one route serves page and fragment."""
    if block is not None and wants_fragment(request):
        return render_part(request, template, block, context, status)
    environment: Environment = request.app.state.templates
    values = _shared(request, visitor_of(request)) | (context or {})
    return _answer(request, environment.get_template(template).render(**values), status)


def render_part(
    request: Request, template: str, block: str, context: dict[str, Any] | None = None, status: int = 200
) -> HTMLResponse:
    """Only `block`, whoever asked: for what is no page of its own."""
    values = _shared(request, visitor_of(request)) | (context or {})
    return _answer(request, render_block(request.app.state.templates, template, block, **values), status)


def _answer(request: Request, html: str, status: int) -> HTMLResponse:
    # Rows of old may hold half a character; a page shows a mark in its place.
    response = HTMLResponse(html.encode("utf-8", "replace"), status_code=status)
    response.headers["Vary"] = "HX-Request"
    _remember_visitor(request, response, visitor_of(request))
    return response


def render_error(request: Request, *, status: int, title: str, message: str, what_to_do: str) -> HTMLResponse:
    """The error page; a bare one while, or if, the template is not there."""
    context = {"status": status, "title": title, "message": message, "what_to_do": what_to_do}
    try:
        return render(request, "errors/error.html", context, block="content", status=status)
    except TemplateNotFound:
        bare = Environment(autoescape=True).from_string(
            "<h1>{{ title }}</h1><p>{{ message }}</p><p>{{ what_to_do }}</p>"
        )
        return HTMLResponse(bare.render(**context), status_code=status)


def wants_fragment(request: Request) -> bool:
    return request.headers.get("HX-Request") == "true" and request.headers.get("HX-Boosted") != "true"


def visitor_of(request: Request) -> str:
    """What a browser's CSRF token hangs on: its sign-in, else a random cookie of its own."""
    if session_id := getattr(request.state, "session_id", None):
        # Marked, so that nobody gets a sign-in's token by naming it in the other cookie.
        return f"session:{session_id}"
    known = request.cookies.get(VISITOR_COOKIE)
    if not known:
        known = getattr(request.state, "new_visitor", None) or secrets.token_hex(16)
        request.state.new_visitor = known
    return str(known)


def _shared(request: Request, visitor: str) -> dict[str, Any]:
    settings: Settings = request.app.state.settings
    return {
        "request": request,
        "viewer": getattr(request.state, "viewer", None),
        "csrf_token": auth.csrf_token(visitor, settings.signing_key),
        "settings": settings,
    }


def _remember_visitor(request: Request, response: HTMLResponse, visitor: str) -> None:
    if getattr(request.state, "new_visitor", None) != visitor:
        return
    settings: Settings = request.app.state.settings
    response.set_cookie(VISITOR_COOKIE, visitor, httponly=True, samesite="lax", secure=settings.is_https, path="/")
