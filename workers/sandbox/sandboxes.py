"""The one door of this package: starts sessions cold or warm, after a self-test."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from workers.sandbox import cold, isolation, selftest
from workers.sandbox.errors import SandboxUnavailable
from workers.sandbox.isolation import Isolation
from workers.sandbox.limits import Limits
from workers.sandbox.program import Program, Runtime
from workers.sandbox.session import Session
from workers.sandbox.warm import ForkServer


class Sandboxes:
    """Starts foreign programs in the runtimes it was given; a context manager.

    With `warm`, each runtime has a fork server that jobs are forked from; without, each session is
    a fresh interpreter.  `allow_unsandboxed` matters only where no sandbox can be had: programs
    then run as plain processes and `Session.limits_in_force` says so.

    Everything it started dies with this process, however that ends.

    Attributes:
        runtimes: by name, as given.
    """

    def __init__(self, *, runtimes: Mapping[str, Runtime], warm: bool, allow_unsandboxed: bool = False) -> None:
        self.runtimes = dict(runtimes)
        self._warm = warm
        self._allow_unsandboxed = allow_unsandboxed
        self._servers: dict[str, ForkServer] = {}
        self._lock = threading.Lock()

    def start(self, program: Program, limits: Limits) -> Session:
        """Start a session; returns while the program still imports.

        Raises `SandboxUnavailable` when no sandbox can be had and unsandboxed runs are not allowed.
        """
        walls = self._isolation()
        if self._warm and walls.bwrap is not None:
            return self._server(program.runtime).start(program, limits)
        return cold.start(program, limits, isolation=walls)

    def prepare(self, runtime_name: str) -> None:
        """Let a fork server begin its imports in the background; nothing to do for cold starts.

        Raises `KeyError` for an unknown runtime, `SandboxUnavailable` as `start` does.
        """
        runtime = self.runtimes[runtime_name]
        if self._warm and self._isolation().bwrap is not None:
            self._server(runtime).prepare()

    def close(self) -> None:
        """End all fork servers, and with them their jobs."""
        with self._lock:
            servers, self._servers = list(self._servers.values()), {}
        for server in servers:
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _isolation(self) -> Isolation:
        try:
            walls = isolation.find()
            selftest.ensure(walls)
        except SandboxUnavailable:
            if not self._allow_unsandboxed:
                raise
            return isolation.UNSANDBOXED
        return walls

    def _server(self, runtime: Runtime) -> ForkServer:
        with self._lock:
            if runtime.name not in self._servers:
                self._servers[runtime.name] = ForkServer(runtime)
            return self._servers[runtime.name]
