"""One warm fork server for all tests of the zoo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernels.engine import warm_sandboxes
from workers.sandbox import Sandboxes, SandboxUnavailable, isolation


@pytest.fixture(scope="session")
def engine() -> Iterator[Sandboxes]:
    """Sandboxes that fork from one server; skips where there is no sandbox or no torch runtime."""
    try:
        isolation.find()
        sandboxes = warm_sandboxes()
    except (SandboxUnavailable, KeyError) as error:
        pytest.skip(f"no sandbox or no torch runtime: {error}")
    with sandboxes:
        yield sandboxes
