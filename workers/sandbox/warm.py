"""Keeps a warm fork server for a runtime and starts sessions from it in some tens of milliseconds."""

from __future__ import annotations

import functools
import os
import threading

from workers.sandbox import in_force, isolation, selftest
from workers.sandbox.cold import counts_addresses
from workers.sandbox.conversation import begin_message, converse, open_ends
from workers.sandbox.errors import SandboxUnavailable
from workers.sandbox.forked import Odd, Server
from workers.sandbox.isolation import Isolation
from workers.sandbox.limits import Limits, resource_limits
from workers.sandbox.program import Program, Runtime
from workers.sandbox.session import Session

JOBS_PER_SERVER = 200
_TRIES = 2


class ForkServer:
    """Starts sessions of one runtime by forking; replaces its server when that dies, acts oddly or grows old."""

    def __init__(
        self, runtime: Runtime, *, walls: Isolation | None = None, jobs_per_server: int = JOBS_PER_SERVER
    ) -> None:
        self._runtime = runtime
        self._walls = walls
        self._jobs_per_server = jobs_per_server
        self._server: Server | None = None
        self._retired: list[Server] = []
        self._lock = threading.Lock()
        self._trusted = False
        self._owner_pid = os.getpid()

    def prepare(self) -> None:
        """Start the server now; it imports in the background.  Raises `SandboxUnavailable`."""
        with self._lock:
            self._current()

    def start(self, program: Program, limits: Limits) -> Session:
        """Start `program`; its folders are copied, at most 64 MiB, and read-only inside.

        Raises `SandboxUnavailable` when two servers in a row do not answer, and
        `workers.sandbox.folders.TooLarge`.
        """
        if program.runtime != self._runtime:
            raise ValueError(f"this fork server runs {self._runtime.name}, not {program.runtime.name}")
        if not self._trusted:
            self._test()
        return self._start_again(program, limits)

    def _test(self) -> None:
        """The first job of all is our own self-test: forked jobs have a wall of another make."""
        failure = selftest.failure(lambda: selftest.escapes(self._start_again, self._runtime))
        if failure:
            self._retire()
            raise SandboxUnavailable(f"warm start: {failure}")
        self._trusted = True

    def _start_again(self, program: Program, limits: Limits) -> Session:
        for attempt in range(_TRIES):
            try:
                return self._start(program, limits)
            except Odd as error:
                self._retire()
                if attempt == _TRIES - 1:
                    raise SandboxUnavailable(f"the fork server of {self._runtime.name}: {error}") from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the server and every job it started."""
        self._retire()
        with self._lock:
            for server in self._retired:
                server.close()
            self._retired.clear()

    def _start(self, program: Program, limits: Limits) -> Session:
        with self._lock:
            server = self._current()
        walls = server.walls
        ends = open_ends()
        rlimits = resource_limits(limits, address_space=counts_addresses(walls, self._runtime), processes=True)
        # The keeper of a job counts as a process of it.
        rlimits["RLIMIT_NPROC"] = [limits.processes + 2] * 2
        return converse(
            ends,
            functools.partial(server.fork, program, limits, ends),
            limits,
            begin=begin_message(program.module, program.code_folder, rlimits),
            limits_in_force=lambda job: in_force.walled(walls, limits, job, rlimits, "warm"),
            folders={inside: inside for inside in program.folders},
        )

    def _current(self) -> Server:
        """The server to use, a fresh one when the old is dead or old.  Needs the lock."""
        if self._owner_pid != os.getpid():  # a worker forked after us: the server is its parent's
            self._owner_pid, self._server = os.getpid(), None
            self._retired.clear()
        if self._server is not None and (
            self._server.jobs_started >= self._jobs_per_server or not self._server.alive()
        ):
            self._set_aside()
        if self._server is None:
            self._server = Server(self._runtime, self._walls or isolation.find())
        return self._server

    def _retire(self) -> None:
        with self._lock:
            self._set_aside()

    def _set_aside(self) -> None:
        """Use the server no more; it goes once its last job has gone.  Needs the lock."""
        if self._server is not None:
            self._retired.append(self._server)
            self._server = None
        for server in [each for each in self._retired if each.idle()]:
            server.close()
            self._retired.remove(server)
