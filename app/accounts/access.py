"""FastAPI's doors: who is asking, by cookie on pages and by bearer token on the API.

The person is read in a short session of its own and handed on detached, so that a request never
holds two connections at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.accounts import service
from app.accounts.policy import Viewer, require_role, require_scope
from app.config import Settings
from app.domain.review import Role
from app.errors import NotPermitted, NotSignedIn
from app.kit import auth, pages
from app.kit.db import Database
from app.kit.steps import database_of

SESSION_COOKIE = "workbench_session"
_SAFE = ("GET", "HEAD", "OPTIONS")
_bearer = HTTPBearer(auto_error=False, description="An API token from the account page.")


def load_viewer(request: Request) -> Viewer | None:
    """The signed-in person or None; left on `request.state` for pages and for CSRF."""
    request.state.viewer = request.state.session_id = None
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie:
        with database_of(request).read() as session:
            found = service.viewer_by_cookie(session, request.app.state.settings, cookie)
        if found is not None:
            request.state.viewer, request.state.session_id = found
    viewer: Viewer | None = request.state.viewer
    return viewer


MaybeViewer = Annotated[Viewer | None, Depends(load_viewer)]


async def signed_in(viewer: MaybeViewer) -> Viewer:
    if viewer is None:
        raise NotSignedIn("please sign in first", what_to_do="Sign in; what you typed is kept.")
    return viewer


SignedIn = Annotated[Viewer, Depends(signed_in)]


def role(*roles: Role) -> Callable[[Viewer], Awaitable[Viewer]]:
    """A dependency that lets only these roles in: `viewer: Annotated[Viewer, Depends(role(Role.ADMIN))]`."""

    async def check(viewer: SignedIn) -> Viewer:
        require_role(viewer, *roles)
        return viewer

    return check


async def check_csrf(request: Request, viewer: MaybeViewer) -> None:  # noqa: ARG001 - the sign-in it hangs on
    """Every unsafe page request carries the token, in a header (htmx) or in the form."""
    if request.method in _SAFE:
        return
    settings: Settings = request.app.state.settings
    if not _same_origin(request):
        raise NotPermitted("this request came from another site")
    # Read here first and kept by the request: a pasted source may be as large as a file.
    form = await request.form(max_part_size=settings.bundle_bytes_max)
    given = request.headers.get("X-CSRF-Token") or str(form.get("csrf_token", ""))
    if not auth.csrf_matches(given, pages.visitor_of(request), settings.signing_key):
        raise NotPermitted("this form has expired", what_to_do="Reload the page and send it again.")


def api_viewer(
    request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None
) -> Viewer:
    """The person behind an API call: by token, or by cookie for reading from one's own pages."""
    if bearer is not None:
        return _viewer_by_token(database_of(request), bearer.credentials)
    from_cookie = load_viewer(request) if request.method in _SAFE else None
    if from_cookie is None:
        raise NotSignedIn("no API token was sent", what_to_do="Send `Authorization: Bearer <token>`.")
    return from_cookie


def scope(name: str) -> Callable[[Viewer], Awaitable[Viewer]]:
    """A dependency for the API that lets only tokens of this scope in."""

    async def check(viewer: Annotated[Viewer, Depends(api_viewer)]) -> Viewer:
        require_scope(viewer, name)
        return viewer

    return check


def _viewer_by_token(database: Database, secret: str) -> Viewer:
    with database.read() as session:
        viewer, unnoted = service.viewer_by_token(session, secret)
    if unnoted is not None:
        with database.write() as session:
            service.mark_token_used(session, unnoted)
    return viewer


def _same_origin(request: Request) -> bool:
    origin = request.headers.get("Origin")
    # Compared as text: an Origin is scheme and host and no more, and a strange one must not be parsed.
    return not origin or origin == "null" or origin.partition("://")[2] == request.headers.get("Host")
