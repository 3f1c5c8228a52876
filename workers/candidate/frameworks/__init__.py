"""One file a framework: how its programs are made to run in this process."""

from __future__ import annotations

import importlib
from typing import Any, Protocol


class Framework(Protocol):
    """What the candidate's process needs of a framework."""

    name: str

    def setup(self) -> None:
        """Prepare the process, before the submission is imported."""

    def before_call(self, *, budget_seconds: float, skip_launches: bool, watch: bool = False) -> None:
        """Reset the records.

        `skip_launches` turns every submitted kernel into a no-op; `watch` looks closer, and slowly.
        """

    def after_call(self) -> dict[str, Any]:
        """What was seen since `before_call`, as plain JSON."""

    def refusals(self) -> dict[str, list[str]]:
        """Dtypes or features whose self-test failed here, with the failing operations."""


_CLASSES = {"torch": "TorchFramework", "triton": "TritonFramework"}


def framework(name: str) -> Framework:
    """The framework called `name`; raises `KeyError` for one that cannot run here."""
    module = importlib.import_module(f"{__name__}.{name}")
    return getattr(module, _CLASSES[name])()
