"""Static files: our own few, and htmx out of its installed wheel; addresses carry a hash and are kept a year."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

OWN = Path(__file__).resolve().parents[1] / "static"
_FOREVER, _SHORT = "public, max-age=31536000, immutable", "public, max-age=300"


def _htmx_folder() -> Path:
    found = find_spec("js_lib_htmx")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("htmx is missing: install django-js-lib-htmx")
    return Path(found.submodule_search_locations[0]) / "static"


@lru_cache
def static(path: str) -> str:
    """The address of a static file, with the hash of its content."""
    file = next(folder / path for folder in (OWN, _htmx_folder()) if (folder / path).is_file())
    return f"/static/{path}?v={hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"


class Assets(StaticFiles):
    """Both folders under one address; a hashed address may be kept for ever, a bare one for minutes."""

    def __init__(self) -> None:
        super().__init__(directory=OWN)
        self.all_directories = [OWN, _htmx_folder()]

    def file_response(self, full_path: Any, stat_result: Any, scope: Scope, status_code: int = 200) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = _FOREVER if b"v=" in scope.get("query_string", b"") else _SHORT
        return response
