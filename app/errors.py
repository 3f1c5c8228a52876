"""What can go wrong on the web side, each with a status, a sentence, and what to do about it.

A bad kernel is never one of these: it is a verdict.  Services raise them; `app.main` renders them.
"""

from __future__ import annotations

from typing import Any

MESSAGE_LENGTH_MAX = 500


class WorkbenchError(Exception):
    """`message` says what happened and `what_to_do` how to go on; `details` is machine-readable."""

    status = 400
    title = "Request refused"

    def __init__(self, message: str, *, what_to_do: str = "", **details: Any) -> None:
        message = clipped(message)
        super().__init__(message)
        self.message = message
        self.what_to_do = what_to_do
        self.details = details


def problem_body(status: int, title: str, detail: str, *, what_to_do: str = "", **more: Any) -> dict[str, Any]:
    """A problem as RFC 9457 writes it, with `what_to_do` beside."""
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "what_to_do": what_to_do, **more}


def clipped(text: str) -> str:
    """Messages repeat what was sent; a megabyte of it helps nobody."""
    return text if len(text) <= MESSAGE_LENGTH_MAX else f"{text[:MESSAGE_LENGTH_MAX]}…"


class NotSignedIn(WorkbenchError):
    status, title = 401, "Not signed in"


class NotPermitted(WorkbenchError):
    status, title = 403, "Not permitted"


class NotFound(WorkbenchError):
    status, title = 404, "Not found"


class Conflict(WorkbenchError):
    status, title = 409, "Conflict"


class Gone(WorkbenchError):
    status, title = 410, "Gone"


class TooLarge(WorkbenchError):
    status, title = 413, "Too large"


class Invalid(WorkbenchError):
    """What was sent cannot be taken as it is; `problems` in the details lists each fault."""

    status, title = 422, "Cannot be taken as it is"


class TooManyRequests(WorkbenchError):
    """`retry_after_seconds` in the details becomes the Retry-After header."""

    status, title = 429, "Too many requests"
