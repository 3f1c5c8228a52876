"""How an error is answered: problem+json (RFC 9457) for the API, a page or fragment for people."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from app.errors import NotSignedIn, WorkbenchError, clipped, problem_body
from app.kit import pages

PROBLEMS_MAX = 50
log = structlog.get_logger(__name__)
_WHAT_TO_DO = {404: "Check the address.", 405: "See the API's description under /api/v1/openapi.json."}


def install(app: FastAPI) -> None:
    app.add_exception_handler(WorkbenchError, _on_workbench_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(Exception, _on_our_fault)


def problem(status: int, title: str, detail: str, *, what_to_do: str = "", **more: Any) -> JSONResponse:
    body = problem_body(status, title, detail, what_to_do=what_to_do, **more)
    return _Problem(body, status_code=status, media_type="application/problem+json")


class _Problem(JSONResponse):
    """An error repeats what was sent, and that may hold half a character: it must not break the answer too."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def _on_workbench_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WorkbenchError)
    if isinstance(error, NotSignedIn) and not _wants_json(request) and request.method == "GET":
        return _to_sign_in(request)
    if _wants_json(request):
        answer: Response = problem(
            error.status, error.title, error.message, what_to_do=error.what_to_do, **error.details
        )
    else:
        answer = pages.render_error(
            request, status=error.status, title=error.title, message=error.message, what_to_do=error.what_to_do
        )
    if seconds := error.details.get("retry_after_seconds"):
        answer.headers["Retry-After"] = str(seconds)
    if isinstance(error, NotSignedIn):
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, str(error.detail), what_to_do=_WHAT_TO_DO.get(error.status_code, ""))


def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [clipped(f"{'.'.join(map(str, e['loc']))}: {e['msg']}") for e in error.errors()[:PROBLEMS_MAX]]
    detail = problems[0] if problems else "malformed"
    return _answer(request, 422, detail, what_to_do="Correct what is listed.", problems=problems)


def _on_our_fault(request: Request, error: Exception) -> Response:
    log.error("request_failed", path=request.url.path, error=repr(error))
    return _answer(
        request, 500, "something went wrong on our side", what_to_do="Try again; if it stays, tell an admin."
    )


def _answer(request: Request, status: int, detail: str, *, what_to_do: str, **more: Any) -> Response:
    title = {404: "Not found", 405: "Not allowed", 422: "Cannot be taken as it is", 500: "Our fault"}.get(
        status, "Refused"
    )
    if _wants_json(request):
        return problem(status, title, detail, what_to_do=what_to_do, **more)
    return pages.render_error(request, status=status, title=title, message=detail, what_to_do=what_to_do)


def _wants_json(request: Request) -> bool:
    return request.url.path.startswith("/api/") or request.url.path in ("/health", "/ready", "/metrics")


def _to_sign_in(request: Request) -> Response:
    """People are sent to sign in and come back; htmx is told to move the whole page, not to swap a fragment."""
    target = f"/sign-in?next={quote(_own_address(request))}"
    if pages.wants_fragment(request):
        return Response(status_code=401, headers={"HX-Redirect": target})
    return RedirectResponse(target, 303)


def _own_address(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
