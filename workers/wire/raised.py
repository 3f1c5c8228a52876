"""An exception of foreign code as data: type, message, the line it came from, a bounded traceback."""

from __future__ import annotations

import traceback
from typing import Any

MAX_TEXT = 8000


def describe(error: BaseException, folder: str) -> dict[str, Any]:
    """`folder` is where the foreign code lies; the innermost frame under it is the location."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(folder)]
    at = own[-1] if own else None
    line, file = (at.lineno, at.filename) if at else (None, None)
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(folder):
        line, file = error.lineno, error.filename
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": str(error)[:MAX_TEXT],
        "traceback": text[-MAX_TEXT:],
        "file": file.removeprefix(folder).lstrip("/") if file else None,
        "line": line,
    }
