"""The supervisor with small children of our own, each a few lines of Python."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from app.supervisor.children import Child, ChildSpec, stop
from app.supervisor.errors import ChildFailed
from app.supervisor.supervisor import Supervisor

SLEEPS = "import time; time.sleep(60)"
STARTS_ANOTHER = (
    "import subprocess, sys; "
    f"other = subprocess.Popen([sys.executable, '-c', {SLEEPS!r}]{{}}); "
    "print(other.pid, flush=True); other.wait()"
)
ENDS_WHEN_ASKED = (
    "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(7)); print('up', flush=True); time.sleep(60)"
)
IGNORES_SIGTERM = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


def make_spec(code=SLEEPS, name="child", **overrides):
    return ChildSpec(name, (sys.executable, "-c", code), **overrides)


@pytest.fixture
def supervisor():
    supervisor = Supervisor()
    yield supervisor
    supervisor._is_hurried = True
    supervisor.stop(())


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(claim, seconds=10.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if claim():
            return True
        time.sleep(0.05)
    return False


class TestChild:
    def test_its_lines_are_printed_under_its_name(self, capfd):
        child = Child(make_spec("print('hello'); print('there')", name="web"))

        child.wait(time.monotonic() + 10)
        child.kill_group()

        assert capfd.readouterr().out.splitlines() == ["web       | hello", "web       | there"]
        assert list(child.tail) == ["hello", "there"]

    def test_bytes_that_are_no_text_do_not_stop_the_log(self):
        child = Child(make_spec(r"import os; os.write(1, b'\xff\xfe\n'); os.write(1, b'after\n')"))

        child.wait(time.monotonic() + 10)
        child.kill_group()

        assert list(child.tail)[-1] == "after"

    def test_stop_asks_first(self):
        child = Child(make_spec(ENDS_WHEN_ASKED))
        assert eventually(lambda: "up" in child.tail)

        assert stop(child)
        assert child.exit_status() == 7

    def test_a_deaf_child_is_killed_after_its_bound(self):
        child = Child(make_spec(IGNORES_SIGTERM, stop_seconds=0.3))
        assert eventually(lambda: "deaf" in child.tail)

        assert not stop(child)
        assert child.exit_status() == -signal.SIGKILL

    def test_its_process_group_goes_with_it(self):
        child = Child(make_spec(STARTS_ANOTHER.format("")))
        assert eventually(lambda: child.tail)

        stop(child)

        assert eventually(lambda: not is_running(int(child.tail[0])))

    def test_it_dies_with_its_supervisor(self):
        """Even when the supervisor is killed and can stop nothing."""
        code = f"""
            import os, sys, time
            from app.supervisor.children import Child, ChildSpec
            child = Child(ChildSpec("c", (sys.executable, "-c", {SLEEPS!r})))
            print(child.pid, flush=True)
            time.sleep(60)
        """
        parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
        pid = int(parent.stdout.readline())
        assert is_running(pid)

        parent.kill()
        parent.wait()
        parent.stdout.close()

        assert eventually(lambda: not is_running(pid))

    def test_a_ctrl_c_in_the_terminal_does_not_reach_it(self):
        child = Child(make_spec())

        assert os.getpgid(child.pid) != os.getpgid(0)
        stop(child)


class TestGuard:
    def test_what_the_death_signal_does_not_reach_is_killed_by_group(self):
        """A worker's jobs run in processes that never hear of the supervisor's end."""
        code = f"""
            import os, signal, sys, time
            from app.supervisor.children import ChildSpec
            from app.supervisor.supervisor import Supervisor
            supervisor = Supervisor()
            supervisor.start(ChildSpec("deaf", (sys.executable, "-c", {IGNORES_SIGTERM!r})))
            supervisor.start(ChildSpec("pool", (sys.executable, "-c", {STARTS_ANOTHER.format("")!r}), death_signal=9))
            while not all(child.tail for child in supervisor.children.values()): time.sleep(0.05)
            print("pids", *(child.pid for child in supervisor.children.values()), supervisor.children["pool"].tail[0])
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, timeout=60, check=False
        )
        pids = [int(word) for line in done.stdout.splitlines() if line.startswith("pids") for word in line.split()[1:]]

        assert len(pids) == 3
        assert eventually(lambda: not any(is_running(pid) for pid in pids))

    def test_it_goes_with_the_supervisor(self, supervisor):
        supervisor.start(make_spec())
        guard = supervisor._guard.pid

        supervisor.stop(())

        assert not is_running(guard)


class TestWatch:
    def test_a_child_that_died_is_started_again(self, supervisor):
        supervisor.start(make_spec())
        first = supervisor.children["child"].pid
        os.kill(first, signal.SIGKILL)

        assert supervisor.watch(lambda: supervisor.children["child"].pid != first, seconds=10)

    def test_three_deaths_in_a_minute_end_all_with_the_last_lines(self, supervisor):
        supervisor.start(make_spec("print('no such table: kernels'); raise SystemExit(3)", name="web"))

        with pytest.raises(ChildFailed) as caught:
            supervisor.watch(lambda: False, seconds=20)

        assert "The web died 3 times within a minute (exit status 3)" in str(caught.value)
        assert "no such table: kernels" in str(caught.value)

    def test_a_command_that_cannot_be_started_is_a_death_with_words(self, supervisor):
        supervisor.start(ChildSpec("broker", ("/no/such/valkey-server",)))

        with pytest.raises(ChildFailed, match="/no/such/valkey-server"):
            supervisor.watch(lambda: False, seconds=20)

    def test_it_ends_when_the_time_is_over(self, supervisor):
        assert not supervisor.watch(lambda: False, seconds=0.3)

    def test_a_signal_ends_it(self, supervisor):
        supervisor._on_signal(signal.SIGINT, None)

        assert not supervisor.watch(lambda: True)


class TestStop:
    def test_processes_that_are_not_its_own_are_left_alone(self, supervisor):
        """Unless it was told that every child of this process is."""
        other = subprocess.Popen([sys.executable, "-c", SLEEPS])
        supervisor.start(make_spec())

        supervisor.stop(())

        assert is_running(other.pid)
        other.kill()
        other.wait()

    def test_the_order_is_kept(self, supervisor, capfd):
        for name in ("broker", "worker", "web", "scheduler"):
            supervisor.start(make_spec(name=name))

        supervisor.stop(("web", "scheduler", "worker", "broker"))

        said = [line.split()[-1] for line in capfd.readouterr().out.splitlines() if "stopping" in line]
        assert said == ["web", "scheduler", "worker", "broker"]
        assert supervisor.children == {}

    def test_a_second_signal_does_not_wait(self, supervisor):
        supervisor.start(make_spec(IGNORES_SIGTERM, stop_seconds=60.0))
        assert eventually(lambda: "deaf" in supervisor.children["child"].tail)
        supervisor._on_signal(signal.SIGINT, None)
        supervisor._on_signal(signal.SIGINT, None)

        began = time.monotonic()
        supervisor.stop(())

        assert time.monotonic() - began < 5

    @pytest.mark.skipif(sys.platform != "linux", reason="adopting orphans is Linux's")
    def test_what_left_its_session_is_ended_too(self):
        """A process that a child put into a session of its own is no member of the child's group."""
        code = f"""
            import subprocess, sys, time
            from app.supervisor.children import ChildSpec
            from app.supervisor.supervisor import Supervisor
            supervisor = Supervisor()
            supervisor.adopt_orphans()
            code = {STARTS_ANOTHER.format(", start_new_session=True")!r}
            supervisor.start(ChildSpec("worker", (sys.executable, "-c", code)))
            while not supervisor.children["worker"].tail: time.sleep(0.05)
            supervisor.stop(())
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=True
        )

        pid = next(int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("worker"))
        assert not is_running(pid)
        assert "ended 1 process(es)" in done.stdout
