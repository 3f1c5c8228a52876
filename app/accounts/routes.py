"""Pages of signing in and of one's own account."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Form, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from app.accounts import keys, queries, service
from app.accounts.access import SESSION_COOKIE, MaybeViewer, SignedIn
from app.accounts.policy import SCOPES, Viewer, scopes_allowed
from app.errors import WorkbenchError
from app.kit import pages
from app.kit.steps import ReadSession, WriteSession, database_of, steps
from app.models import utc_now

router = steps(include_in_schema=False)


@router.get("/sign-in")
def sign_in_page(request: Request, viewer: MaybeViewer, next: str = "/") -> Response:
    if viewer is not None:
        return RedirectResponse(_own_path(next), 303)
    return pages.render(request, "accounts/sign_in.html", {"login": "", "next": _own_path(next), "problem": ""})


@router.post("/sign-in")
def sign_in(
    request: Request,
    session: WriteSession,
    login: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    settings = request.app.state.settings
    done = service.sign_in(
        session,
        settings,
        login=login,
        password=password,
        user_agent=request.headers.get("User-Agent", "")[:200],
        address=request.client.host if request.client else "",
    )
    if done.cookie is None:
        context = {"login": login, "next": _own_path(next), "problem": done.problem}
        return pages.render(request, "accounts/sign_in.html", context, status=429 if done.retry_after_seconds else 401)
    response = RedirectResponse(_own_path(next), 303)
    response.set_cookie(
        SESSION_COOKIE,
        done.cookie,
        max_age=settings.session_days * 86_400,
        httponly=True,
        samesite="lax",
        secure=settings.is_https,
        path="/",
    )
    return response


@router.post("/sign-out")
def sign_out(request: Request, session: WriteSession, viewer: SignedIn) -> Response:
    service.sign_out(session, request.state.session_id)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response


@router.get("/account")
def account(request: Request, session: ReadSession, viewer: SignedIn) -> Response:
    return _account_page(request, session, viewer)


@router.post("/account/tokens")
def make_token(
    request: Request,
    session: WriteSession,
    viewer: SignedIn,
    name: Annotated[str, Form()] = "",
    scopes: Annotated[list[str] | None, Form()] = None,
) -> Response:
    try:
        _, secret = service.create_token(session, request.app.state.settings, viewer, name=name, scopes=scopes or [])
    except WorkbenchError as error:
        return _account_page(request, session, viewer, error=error, status=error.status)
    return _account_page(request, session, viewer, secret=secret)


@router.post("/account/tokens/{public_id}/revoke")
def revoke_token(session: WriteSession, viewer: SignedIn, public_id: str) -> Response:
    service.revoke_token(session, viewer, public_id)
    return RedirectResponse("/account", 303)


@router.post("/account/sessions/{public_id}/revoke")
def revoke_session(session: WriteSession, viewer: SignedIn, public_id: str) -> Response:
    service.revoke_session(session, viewer, public_id)
    return RedirectResponse("/account", 303)


def _account_page(
    request: Request,
    session: ReadSession,
    viewer: Viewer,
    *,
    secret: str = "",
    error: WorkbenchError | None = None,
    status: int = 200,
) -> Response:
    context = {
        "tokens": queries.list_tokens(session, viewer.id),
        "sessions": queries.live_sessions(session, viewer.id, utc_now()),
        "scopes": [s for s in SCOPES if s in scopes_allowed(viewer.roles)],
        "secret": secret,
        "error": error,
    }
    response = pages.render(request, "accounts/account.html", context, status=status)
    # A token's secret must not come back out of a browser's cache.
    response.headers["Cache-Control"] = "no-store"
    return response


def _own_path(path: str) -> str:
    """Only a path of ours: a link from outside must not send people elsewhere after signing in."""
    try:
        parts = urlsplit(path)
    except ValueError:
        return "/"
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.netloc and "\\" not in path
    return path if is_ours else "/"


@router.get("/account/keys")
def keys_page(request: Request, session: ReadSession, viewer: SignedIn) -> Response:
    own = queries.keys_of(session, viewer.id)
    return pages.render(request, "accounts/keys.html", {"bound": keys.bound(own), "typed": {}, "error": None})


@router.post("/account/keys")
async def set_keys(request: Request, viewer: SignedIn) -> Response:
    typed = {name: str(value) for name, value in (await request.form()).items()}
    return await run_in_threadpool(_set_keys, request, viewer, typed)


def _set_keys(request: Request, viewer: Viewer, typed: dict[str, str]) -> Response:
    given = {} if "reset" in typed else typed
    try:
        with database_of(request).write() as session:
            service.set_keys(session, viewer, given)
    except WorkbenchError as error:
        context = {"bound": keys.bound({}), "typed": typed, "error": error}
        return pages.render(request, "accounts/keys.html", context, status=error.status)
    return RedirectResponse("/account/keys", 303)
