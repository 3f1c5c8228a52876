"""Where answers go on whose criterion is gone: fields `map.<old key>`, each with a key of the new version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import Request

PREFIX = "map."


def mapping_of(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    return {name.removeprefix(PREFIX): str(value) for name, value in fields if name.startswith(PREFIX) and value}


async def read_mapping(request: Request) -> dict[str, str]:
    """A dependency of forms that move drafts."""
    return mapping_of((await request.form()).multi_items())
