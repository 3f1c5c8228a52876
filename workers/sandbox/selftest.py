"""Proves, once a process, that the sandbox of this machine contains what it must."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path

from workers.sandbox import cold
from workers.sandbox.errors import Ended, SandboxUnavailable
from workers.sandbox.isolation import Isolation
from workers.sandbox.limits import Limits
from workers.sandbox.program import Program, Runtime
from workers.sandbox.session import Session

_PROBE = Path(__file__).with_name("probe")
_PROCESSES = 16
_SECONDS = 10.0


def ensure(isolation: Isolation) -> None:
    """Return when every escape was contained; raises `SandboxUnavailable` that names those that were not.

    Tried once in this process: a cold start of our own interpreter.
    """
    failure = _cold_failure(isolation)
    if failure:
        raise SandboxUnavailable(failure)


def cold_escapes(isolation: Isolation) -> dict[str, str]:
    """Try the escapes in a cold sandbox: name -> "" when contained, else what happened."""
    if isolation.bwrap is None:
        raise ValueError("escapes are tried only inside a wall")
    runtime = Runtime("selftest", Path(sys.executable), preload=())
    return escapes(functools.partial(cold.start, isolation=isolation), runtime)


def escapes(start: Callable[[Program, Limits], Session], runtime: Runtime) -> dict[str, str]:
    """The same in whatever `start` starts."""
    program = Program(runtime, "escapes", {"/probe": _PROBE}, code_folder="/probe")
    limits = Limits(memory_mb=1024, processes=_PROCESSES, wall_seconds=_SECONDS, tmp_mb=8)
    with start(program, limits) as session:
        told = session.call({"processes": _PROCESSES}, timeout_s=_SECONDS).message
    return {str(name): str(outcome) for name, outcome in told.items()}


def failure(attempt: Callable[[], dict[str, str]]) -> str:
    """The sentence to refuse with, or ""."""
    try:
        told = attempt()
    except SandboxUnavailable as error:
        return str(error)
    except Ended as error:
        return f"the sandbox's self-test ended by {error}\n{error.log}"
    escaped = [f"{name} ({outcome})" for name, outcome in told.items() if outcome]
    if escaped or not told:
        return f"the sandbox does not contain: {', '.join(escaped) or 'its self-test answered nothing'}"
    return ""


@functools.lru_cache(maxsize=8)
def _cold_failure(isolation: Isolation) -> str:
    return failure(functools.partial(cold_escapes, isolation))
