"""Sessions of a small probe that runs what it is told, cold and warm, and eyes for what they leave behind."""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path

import pytest

from workers.sandbox import ForkServer, Limits, Program, Runtime, SandboxUnavailable, cold, isolation

PROBE = Path(__file__).with_name("probe")
LIMITS = Limits(memory_mb=512, cpu_seconds=20, processes=24, file_mb=64, tmp_mb=64, output_kb=64, wall_seconds=20)


@pytest.fixture(scope="session")
def walls():
    try:
        return isolation.find()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def runtime():
    return Runtime("plain", Path(sys.executable), preload=())


@pytest.fixture(scope="session")
def fork_server(walls, runtime):
    server = ForkServer(runtime, walls=walls)
    yield server
    server.close()


class Starter:
    """Starts probe sessions one way, and closes those that a test leaves open."""

    def __init__(self, start_program, runtime):
        self._start_program = start_program
        self._runtime = runtime
        self._open = []

    def __call__(self, folders=None, **limits):
        program = Program(self._runtime, "probe", {"/probe": PROBE, **(folders or {})}, code_folder="/probe")
        session = self._start_program(program, dataclasses.replace(LIMITS, **limits))
        self._open.append(session)
        return session

    def close(self):
        for session in self._open:
            session.close()


@pytest.fixture
def start_cold(walls, runtime):
    starter = Starter(lambda program, limits: cold.start(program, limits, isolation=walls), runtime)
    yield starter
    starter.close()


@pytest.fixture
def start_warm(fork_server, runtime):
    starter = Starter(fork_server.start, runtime)
    yield starter
    starter.close()


@pytest.fixture(params=["cold", "warm"])
def start(request):
    return request.getfixturevalue(f"start_{request.param}")


@pytest.fixture
def run():
    """Run code in a session and give back what it set as `result`."""

    def run_code(session, code, *, timeout_s=15.0, fds=()):
        message = session.call({"code": code}, fds, timeout_s=timeout_s).message
        assert "error" not in message, message
        return message["result"]

    return run_code


@pytest.fixture
def left_over():
    """The host pids that are still in the pid namespace of a session's process (taken while it lived)."""

    def processes(namespace, seconds=2.0):
        deadline = time.monotonic() + seconds
        while (found := _in_namespace(namespace)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    return processes


@pytest.fixture
def namespace_of():
    """The pid namespace of a session, read from outside."""

    def namespace(session):
        process = session._process
        pid = getattr(process, "init_pid", None)
        if pid is None:
            from workers.sandbox.process import host_pid

            pid = host_pid(process.pidfd)
        return str(Path(f"/proc/{pid}/ns/pid").readlink())

    return namespace


def _in_namespace(namespace):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str((entry / "ns" / "pid").readlink()) != namespace:
                continue
            # A dead process that the host's own init has not reaped yet is no process of ours.
            if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(entry.name))
        except OSError:
            continue
    return found
