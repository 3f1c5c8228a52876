"""What only the fork server promises."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from workers.sandbox import ForkServer, Limits, Program, Runtime, SandboxUnavailable, folders

PROBE = Path(__file__).with_name("probe")


@pytest.fixture
def small_server(walls, runtime):
    server = ForkServer(runtime, walls=walls, jobs_per_server=3)
    yield server
    server.close()


def program(runtime, **folders_inside):
    inside = {"/probe": PROBE, **{f"/{name}": path for name, path in folders_inside.items()}}
    return Program(runtime, "probe", inside, code_folder="/probe")


def test_a_server_that_died_is_replaced(small_server, runtime, run):
    with small_server.start(program(runtime), Limits()) as session:
        assert run(session, "result = 1") == 1
    os.kill(small_server._server._process.init_pid, signal.SIGKILL)
    with small_server.start(program(runtime), Limits()) as session:
        assert run(session, "result = 2") == 2


def test_a_server_that_is_old_is_replaced_but_its_jobs_live_on(small_server, runtime, run):
    first = small_server.start(program(runtime), Limits())
    old = small_server._server
    others = [small_server.start(program(runtime), Limits()) for _ in range(3)]
    assert small_server._server is not old and old.alive()
    assert [run(session, "result = 5") for session in (first, *others)] == [5, 5, 5, 5]
    for session in (first, *others):
        session.close()
    small_server._retire()
    assert not old.alive()


def test_a_job_changes_nothing_for_the_next(fork_server, runtime, run):
    with fork_server.start(program(runtime), Limits()) as session:
        run(session, "import sys, os; sys.modules['json'] = None; os.environ['LEFT'] = '1'; os.mkdir('/work/left')")
    with fork_server.start(program(runtime), Limits()) as session:
        look = "import sys, os, json; result = ['LEFT' in os.environ, os.path.exists('/work/left')]"
        assert run(session, look) == [False, False]


def test_a_job_of_one_module_does_not_see_the_other(fork_server, runtime, run):
    with fork_server.start(program(runtime), Limits()) as session:
        look = "import os; result = [os.listdir(f'/workbench/workers/{n}') for n in ('candidate', 'reference')]"
        assert run(session, look) in ([[], []], "FileNotFoundError")


def test_what_is_preloaded_is_there(walls, run):
    runtime = Runtime("preloading", Path(sys.executable), preload=("decimal", "no_such_module"))
    server = ForkServer(runtime, walls=walls)
    server.prepare()
    with server.start(program(runtime), Limits()) as session:
        assert run(session, "import sys; result = 'decimal' in sys.modules") is True
    server.close()


def test_folders_too_large_are_refused(fork_server, runtime, tmp_path):
    with (tmp_path / "big").open("wb") as file:
        file.truncate(folders.ARCHIVE_BYTES + 1)
    with pytest.raises(folders.TooLarge):
        fork_server.start(program(runtime, task=tmp_path), Limits())


def test_another_runtime_is_refused(fork_server, tmp_path):
    with pytest.raises(ValueError, match="runs plain"):
        fork_server.start(program(Runtime("other", Path(sys.executable))), Limits())


def test_a_runtime_that_does_not_exist_is_named(walls, tmp_path):
    runtime = Runtime("gone", tmp_path / "bin" / "python")
    with pytest.raises(SandboxUnavailable, match="does not run"):
        ForkServer(runtime, walls=walls).start(program(runtime), Limits())
