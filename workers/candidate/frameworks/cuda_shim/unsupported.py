"""The exception for what cannot be run here, for reasons that are not the submission's fault."""

from __future__ import annotations

from typing import Any


class Unsupported(Exception):
    """A feature that this machine cannot run or model; a limit of ours, never a fault of the kernel.

    `location` is `{"file": str, "line": int}` of the submission, or None when unknown.
    """

    def __init__(self, reason: str, location: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location
