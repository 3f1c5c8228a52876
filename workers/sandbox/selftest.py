"""Proves, once a process, that the sandbox of this machine contains what it must."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from workers.sandbox import cold
from workers.sandbox.errors import Ended, SandboxUnavailable
from workers.sandbox.isolation import Isolation
from workers.sandbox.limits import Limits
from workers.sandbox.program import Program, Runtime

_PROBE = Path(__file__).with_name("probe")
_PROCESSES = 16
_SECONDS = 10.0


def ensure(isolation: Isolation) -> None:
    """Return when every escape was contained; raises `SandboxUnavailable` that names those that were not."""
    failure = _failure(isolation)
    if failure:
        raise SandboxUnavailable(failure)


def escapes(isolation: Isolation) -> dict[str, str]:
    """Try them in a real sandbox: name -> "" when contained, else what happened."""
    runtime = Runtime("selftest", Path(sys.executable), preload=())
    program = Program(runtime, "escapes", {"/probe": _PROBE}, code_folder="/probe")
    limits = Limits(memory_mb=512, processes=_PROCESSES, wall_seconds=_SECONDS, tmp_mb=8)
    with cold.start(program, limits, isolation=isolation) as session:
        told = session.call({"processes": _PROCESSES}, timeout_s=_SECONDS).message
    return {str(name): str(outcome) for name, outcome in told.items()}


@functools.lru_cache(maxsize=8)
def _failure(isolation: Isolation) -> str:
    """The sentence to refuse with, or ""."""
    try:
        told = escapes(isolation)
    except SandboxUnavailable as error:
        return str(error)
    except Ended as error:
        return f"the sandbox's self-test ended by {error}\n{error.log}"
    escaped = [f"{name} ({outcome})" for name, outcome in told.items() if outcome]
    if escaped or not told:
        return f"the sandbox does not contain: {', '.join(escaped) or 'its self-test answered nothing'}"
    return ""
