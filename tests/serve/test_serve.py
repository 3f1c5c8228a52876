"""`workbench serve` as a person starts it: a real broker, worker, web server and scheduler."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from app.config import REPOSITORY

WORKBENCH = Path(sys.executable).with_name("workbench")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Served:
    """A running `workbench serve`, and every process that has its data folder in its environment."""

    def __init__(self, data_dir, *options, **environment):
        self.data_dir = data_dir
        self.log = data_dir.with_suffix(".log")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("WORKBENCH_")}
        settings = {
            "WORKBENCH_DATA_DIR": str(data_dir),
            "WORKBENCH_RUNTIMES": f'{{"torch": "{sys.executable}"}}',
            "WORKBENCH_WARM": "false",
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [str(WORKBENCH), "serve", *options],
                env={**inherited, **settings, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def says(self, words, seconds=90.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            if words in self.log.read_text():
                return True
            time.sleep(0.1)
        return words in self.log.read_text()

    def processes(self):
        mark = f"WORKBENCH_DATA_DIR={self.data_dir}".encode()
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in environ.read_bytes().split(b"\0"):
                    found.append(int(environ.parent.name))
            except OSError:
                continue
        return found

    def end(self):
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def start(tmp_path):
    started = []

    def start(*options, **environment):
        served = Served(tmp_path / f"data-{len(started)}", *options, **environment)
        started.append(served)
        return served

    yield start
    for served in started:
        served.end()


def wait_until_all_are_gone(served, seconds):
    deadline = time.monotonic() + seconds
    while (left := served.processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def status_fields(pid):
    """Its parent and its state, or None when it has ended."""
    try:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return name.partition("(")[2], rest.split()[0], int(rest.split()[1])


def is_running(pid):
    fields = status_fields(pid)
    return fields is not None and fields[1] != "Z"


def descendants(root):
    """pid -> name of everything below `root`, whatever its session, user and environment."""
    everything = {int(folder.name): status_fields(folder.name) for folder in Path("/proc").glob("[0-9]*")}
    found, below = {}, {root}
    while below:
        below = {pid for pid, fields in everything.items() if fields is not None and fields[2] in below}
        found |= {pid: everything[pid][0] for pid in below}
    return found


def test_it_starts_answers_and_stops_with_nothing_left(start):
    port = free_port()
    served = start("--port", str(port), WORKBENCH_WEB_PROCESSES="2")
    assert served.says(f"ready: open http://127.0.0.1:{port}"), served.log.read_text()
    assert all(served.says(f"{name}     | INFO:     Application startup complete") for name in ("web-1", "web-2"))
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
        assert answer.status == 200
    assert served.says("ready.")  # the worker's word

    served.process.send_signal(signal.SIGINT)

    assert served.process.wait(timeout=60) == 0
    assert wait_until_all_are_gone(served, seconds=1) == []
    stops = [line.split()[-1] for line in served.log.read_text().splitlines() if "| stopping" in line]
    assert stops == ["web-1", "web-2", "scheduler", "worker", "broker"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_demo_is_judged_and_no_sandbox_outlives_it(start, how):
    """With warm sandboxes, and while jobs run."""
    python = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"
    if not python.exists():
        pytest.skip("the torch runtime is not installed here")
    served = start(
        *("--demo", "--port", str(free_port())),
        WORKBENCH_RUNTIMES=f'{{"torch": "{python}"}}',
        WORKBENCH_WARM="true",
    )
    assert served.says("sign in as reviewer "), served.log.read_text()
    assert served.says("succeeded in"), served.log.read_text()
    children = descendants(served.process.pid)
    assert any("bwrap" in name for name in children.values()), children

    served.process.send_signal(how)
    served.process.wait(timeout=60)

    assert wait_until_all_are_gone(served, seconds=30) == []
    assert [pid for pid in children if is_running(pid)] == []


def test_nothing_outlives_a_killed_supervisor(start):
    port = free_port()
    served = start("--port", str(port))
    assert served.says("ready: open"), served.log.read_text()
    assert served.says("ready.")

    served.process.kill()
    served.process.wait()

    assert wait_until_all_are_gone(served, seconds=30) == []


def test_a_port_in_use_is_one_sentence(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        served = start("--port", str(taken.getsockname()[1]))

        assert served.process.wait(timeout=30) == 2

    said = served.log.read_text().splitlines()
    assert len(said) == 1
    assert "is in use" in said[0]


def test_a_missing_runtime_is_one_sentence(start, tmp_path):
    served = start("--port", str(free_port()), WORKBENCH_RUNTIMES=f'{{"torch": "{tmp_path}/no/python"}}')

    assert served.process.wait(timeout=30) == 2
    assert served.log.read_text().count("\n") == 1
    assert "The torch runtime is missing" in served.log.read_text()


def test_an_unreachable_database_is_one_sentence(start):
    url = "postgresql://nobody:secret@127.0.0.1:1/nothing"
    served = start("--port", str(free_port()), WORKBENCH_DATABASE_URL=url)

    assert served.process.wait(timeout=60) == 3
    said = [line for line in served.log.read_text().splitlines() if line.startswith("workbench serve:")]
    assert len(said) == 1
    assert "The database at WORKBENCH_DATABASE_URL" in said[0]
    assert "Traceback" not in served.log.read_text()
    assert "secret" not in served.log.read_text()


def test_an_unreachable_broker_is_one_sentence(start):
    served = start("--port", str(free_port()), WORKBENCH_BROKER_URL="redis://127.0.0.1:1/0")

    assert served.process.wait(timeout=60) == 3
    assert "The broker named in WORKBENCH_BROKER_URL does not answer" in served.log.read_text()
