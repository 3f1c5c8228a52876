"""What a session promises its caller: answers, descriptors, one clear end, nothing left behind."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from workers.sandbox import Ended, Limits, Program, Runtime
from workers.sandbox import session as session_module
from workers.wire import frames

BYTES = 64 << 20


def test_a_large_memfd_goes_in_and_another_comes_out(start):
    content = os.urandom(1 << 20) * (BYTES >> 20)
    fd = os.memfd_create("input")
    os.write(fd, content)
    work = textwrap.dedent("""
        import hashlib, mmap, os
        size = os.fstat(fds_in[0]).st_size
        data = mmap.mmap(fds_in[0], size, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)
        result = hashlib.sha256(data).hexdigest()
        back = os.memfd_create('output')
        os.write(back, data[::-1])
        fds_out = [back]
    """)
    reply = start(memory_mb=512).call({"code": work}, [fd], timeout_s=15)
    assert reply.message["result"] == hashlib.sha256(content).hexdigest()
    assert os.pread(reply.fds[0], BYTES, 0) == content[::-1]
    for each in (fd, *reply.fds):
        os.close(each)


def test_calls_queue_while_the_child_still_imports(start):
    session = start()
    assert [session.call({"code": f"result = {n}"}, timeout_s=9).message["result"] for n in range(20)] == [*range(20)]


def test_an_exit_tells_its_code_and_each_later_call_the_same(start):
    session = start()
    for _ in range(2):
        with pytest.raises(Ended) as ended:
            session.call({"code": "import os; print('last words'); os._exit(7)"}, timeout_s=9)
        assert (ended.value.reason, ended.value.exit_code, ended.value.signal) == ("exit", 7, None)
        assert ended.value.log == "last words\n"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_signal_tells_its_number(start, number):
    with pytest.raises(Ended) as ended:
        start().call({"code": f"import os; os.kill(os.getpid(), {int(number)})"}, timeout_s=9)
    assert (ended.value.reason, ended.value.signal) == ("signal", number)


def test_an_unhandled_error_leaves_its_traceback_in_the_log(start):
    with pytest.raises(Ended) as ended:
        start().call({"code": "raise SystemExit(4)"}, timeout_s=9)
    assert (ended.value.reason, ended.value.exit_code) == ("exit", 4)


@pytest.mark.parametrize(
    "bytes_sent",
    [b"\\xff\\xff\\xff\\xff", b"\\0\\0\\0\\2[]", b"\\0\\0\\0\\4nope"],
    ids=["endless frame", "no object", "no json"],
)
def test_nonsense_on_the_socket_ends_the_session(start, bytes_sent):
    send = f'sock.sendall(b"{bytes_sent.decode()}"); import time; time.sleep(30)'
    with pytest.raises(Ended) as ended:
        start().call({"code": send}, timeout_s=9)
    assert ended.value.reason == "protocol"


def test_closing_the_socket_and_living_on_ends_the_session(start, monkeypatch):
    monkeypatch.setattr(session_module, "_GRACE_SECONDS", 0.3)
    with pytest.raises(Ended) as ended:
        start().call({"code": "import os, time; os.close(3); time.sleep(30)"}, timeout_s=9)
    assert (ended.value.reason, ended.value.signal) == ("protocol", signal.SIGKILL)


def test_a_child_that_reads_nothing_ends_by_time(start):
    session = start()
    answer_and_sleep = """
        from workers.wire import frames
        import time
        frames.send(sock, {"result": 1})
        time.sleep(30)
    """
    session.call({"code": textwrap.dedent(answer_and_sleep)}, timeout_s=9)
    with pytest.raises(Ended) as ended:
        session.call({"code": "result = 1", "padding": "x" * (4 << 20)}, timeout_s=0.3)
    assert ended.value.reason == "time"


def test_a_message_too_long_is_the_callers_fault(start):
    session = start()
    with pytest.raises(frames.FrameError):
        session.call({"code": "x" * (9 << 20)}, timeout_s=9)
    assert session.call({"code": "result = 1"}, timeout_s=9).message == {"result": 1}


def test_the_wall_limit_ends_a_session_that_nobody_calls(start, namespace_of, left_over):
    session = start(wall_seconds=1.0)
    namespace = namespace_of(session)
    session.call({"code": "import os; os.close(1); os.close(2)"}, timeout_s=9)
    assert left_over(namespace, seconds=4) == []
    with pytest.raises(Ended) as ended:
        session.call({"code": "result = 1"}, timeout_s=9)
    assert ended.value.reason == "time"


def test_the_log_is_read_while_the_child_lives(start):
    session = start()
    session.call({"code": "import sys; print('out'); print('err', file=sys.stderr)"}, timeout_s=9)
    deadline = time.monotonic() + 2
    while session.log != "out\nerr\n" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert session.log == "out\nerr\n"


def test_close_frees_descriptors_groups_threads_and_processes(start, namespace_of, left_over):
    start().close()  # whatever is made once is made now
    before = (len([*Path("/proc/self/fd").iterdir()]), threading.active_count())
    session = start()
    namespace, group = namespace_of(session), session._process.group
    session.call({"code": "result = 1"}, timeout_s=9)
    session.close()
    session.close()
    assert left_over(namespace) == []
    assert (len([*Path("/proc/self/fd").iterdir()]), threading.active_count()) == before
    assert group is None or not (group.memory.exists() or group.pids.exists())
    with pytest.raises(Ended):
        session.call({"code": "result = 1"}, timeout_s=9)


def test_close_from_another_thread_ends_a_call(start):
    session = start()
    threading.Timer(0.3, session.close).start()
    began = time.monotonic()
    with pytest.raises(Ended):
        session.call({"code": "import time; time.sleep(30)"}, timeout_s=20)
    assert time.monotonic() - began < 5


def test_two_sessions_share_nothing(start, run):
    one, two = start(processes=24), start(processes=24)
    look = "import os; result = [os.listdir('/tmp'), os.listdir('/dev/shm')]"
    before = run(two, look)  # an interpreter that lies under /tmp shows there too
    run(one, "open('/tmp/mine', 'w').write('1'); open('/dev/shm/mine', 'w').write('1')")
    assert run(two, look) == before
    assert "mine" not in before[0] + before[1]
    fork = "import os, signal\nfor _ in range(14):\n  if os.fork() == 0: signal.pause()\nresult = 'forked'"
    # Each has its own count: together they would be beyond the limit of one.
    assert [run(session, fork) for session in (one, two)] == ["forked", "forked"]


def test_sessions_start_from_many_threads(start):
    answers = []

    def work(number):
        with start() as session:
            answers.append(session.call({"code": f"result = {number}"}, timeout_s=15).message["result"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [0, 1, 2, 3]


def test_a_session_outlives_the_thread_that_started_it(start):
    sessions = []
    thread = threading.Thread(target=lambda: sessions.append(start()))
    thread.start()
    thread.join()
    time.sleep(0.1)
    assert sessions[0].call({"code": "result = 1"}, timeout_s=9).message == {"result": 1}


def test_when_the_worker_is_killed_nothing_is_left(walls, left_over):
    script = textwrap.dedent(f"""
        import os, sys, time
        sys.path.insert(0, {str(Path(__file__).parents[2])!r})
        from pathlib import Path
        from workers.sandbox import *
        from workers.sandbox import cold, isolation
        from workers.sandbox.process import host_pid
        runtime = Runtime('plain', Path(sys.executable), preload=())
        program = Program(runtime, 'probe', {{'/probe': Path({str(Path(__file__).with_name("probe"))!r})}}, '/probe')
        one = cold.start(program, Limits(), isolation=isolation.find())
        two = ForkServer(runtime).start(program, Limits())
        for session in (one, two):
            session.call({{'code': 'import os, time\\nif os.fork() == 0: time.sleep(60)'}}, timeout_s=9)
        for pid in (one._process.init_pid, host_pid(two._process.pidfd)):
            print(os.readlink(f'/proc/{{pid}}/ns/pid'), flush=True)
        time.sleep(60)
    """)
    worker = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    namespaces = [worker.stdout.readline().strip() for _ in range(2)]
    worker.kill()
    worker.wait()
    worker.stdout.close()
    assert all(name.startswith("pid:") for name in namespaces)
    assert [left_over(name) for name in namespaces] == [[], []]


def test_the_limits_in_force_are_said(start, walls):
    said = start(cpu_seconds=9).limits_in_force
    assert said["isolation"] == "bubblewrap" and said["network"].startswith("none")
    assert "refused" in said["seccomp"] and said["cpu"] == "rlimit_cpu 9 s a process"
    assert said["memory"].startswith("rlimit_as 512 MiB" if walls.groups is None else f"cgroup v{walls.groups.version}")
    assert all(isinstance(text, str) and text for text in said.values())


def test_an_end_survives_pickling():
    ended = pickle.loads(pickle.dumps(Ended("signal", None, 9, "ended by SIGKILL", "log")))
    assert (ended.reason, ended.signal, ended.log, str(ended)) == ("signal", 9, "log", "signal: ended by SIGKILL")


def test_limits_below_one_are_refused():
    with pytest.raises(ValueError, match="memory_mb"):
        Limits(memory_mb=0)


@pytest.mark.parametrize("inside", ["/", "/usr/lib/x", "/proc", "task", "/task/../usr", "/workbench/app"])
def test_folders_do_not_cover_the_sandbox_itself(inside, tmp_path):
    with pytest.raises(ValueError, match="sandbox"):
        Program(Runtime("plain", Path(sys.executable)), "probe", {inside: tmp_path})
