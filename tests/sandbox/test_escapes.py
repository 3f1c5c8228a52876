"""Hostile programs, each cold and warm: contained, the host unharmed, the session answers or ends."""

from __future__ import annotations

import contextlib
import os
import stat
import textwrap
import time
from pathlib import Path

import pytest

from workers.sandbox import Ended

EPERM = 1

LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def code(text):
    return textwrap.dedent(text)


def test_an_innocent_program_answers(start, run):
    assert run(start(), "result = 6 * 7") == 42


def test_it_runs_as_nobody_in_particular(start, run):
    session = start()
    uid, status = run(session, "import os; result = [os.getuid(), open('/proc/self/status').read()]")
    fields = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    assert uid == 1000
    assert {int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2"


def test_a_fork_bomb_stops_at_the_limit(start, run):
    bomb = code("""
        import os, signal
        children = 0
        try:
            while children < 200:
                if os.fork() == 0:
                    signal.pause()
                children += 1
        except OSError as error:
            pass
        result = children
    """)
    assert 10 < run(start(processes=24), bomb) <= 26


def test_a_thread_bomb_stops_at_the_limit(start, run):
    bomb = code("""
        import threading
        gate, result = threading.Event(), 0
        try:
            while result < 200:
                threading.Thread(target=gate.wait, daemon=True).start()
                result += 1
        except RuntimeError:
            pass
        gate.set()
    """)
    assert run(start(processes=24), bomb) <= 26


def test_a_memory_bomb_ends_itself_only(start, walls):
    session = start(memory_mb=256)
    bomb = "held = []\nwhile True: held.append(bytearray(b'x') * (16 << 20))"
    if walls.groups is None:
        assert session.call({"code": bomb}, timeout_s=15).message["result"].startswith("MemoryError")
        return
    with pytest.raises(Ended) as ended:
        session.call({"code": bomb}, timeout_s=15)
    assert ended.value.reason == "memory"
    assert ended.value.signal == 9


def test_a_bomb_of_memfds_counts_as_memory(start, walls):
    if walls.groups is None:
        pytest.skip("only a control group counts memfds")
    session = start(memory_mb=128)
    bomb = code("""
        import os
        held = []
        while True:
            held.append(os.memfd_create('x'))
            os.write(held[-1], b'x' * (32 << 20))
    """)
    with pytest.raises(Ended) as ended:
        session.call({"code": bomb}, timeout_s=15)
    assert ended.value.reason == "memory"


@pytest.mark.parametrize("folder", ["/tmp", "/work", "/dev/shm"])
def test_a_private_folder_fills_up_and_no_more(start, run, folder):
    filler = code(f"""
        written, result = 0, ''
        try:
            for number in range(100):
                with open(f'{folder}/{{number}}', 'wb') as file:
                    file.write(b'x' * (1 << 20))
                written += 1
        except OSError as error:
            result = error.strerror
        result = [written, result]
    """)
    written_mb, error = run(start(tmp_mb=16), filler)
    assert written_mb <= 16 and error == "No space left on device"


def test_a_single_file_stays_below_its_limit(start, run):
    writer = "result = 0\nwith open('/work/big', 'wb') as file: file.write(b'x' * (9 << 20))"
    assert "File too large" in run(start(file_mb=8), writer)


def test_a_memfd_stays_below_the_limit_of_a_file(start, run):
    writer = "import os\nfd = os.memfd_create('x')\nos.ftruncate(fd, 9 << 20)"
    assert "File too large" in run(start(file_mb=8), writer)


def test_password_hashes_are_not_there(start, run):
    session = start()
    assert "FileNotFoundError" in run(session, "open('/etc/shadow').read()")
    assert run(session, "import os; result = sorted(os.listdir('/etc'))") == ["alternatives", "ld.so.cache"]


def test_the_environment_of_the_worker_is_not_there(start, run, monkeypatch):
    session = start()
    monkeypatch.setenv("WORKBENCH_DATABASE_URL", "postgresql://secret")
    look = code("""
        import glob, os
        result = repr(dict(os.environ))
        for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):
            try:
                result += open(path).read()
            except OSError:
                pass
    """)
    seen = run(session, look)
    assert "WORKBENCH" not in seen and "secret" not in seen


def test_no_other_process_is_seen(start, run):
    session = start()
    look = "import os; result = [p for p in os.listdir('/proc') if p.isdigit()]"
    assert len(run(session, look)) <= 2


@pytest.mark.parametrize(
    "path", ["/", "/usr", "/etc", "/workbench", "/workbench/workers/wire", "/probe", "/dev", "/sys"]
)
def test_nothing_outside_the_private_folders_is_written(start, run, path):
    writer = f"open('{path}/escaped', 'w').write('x')"
    assert run(start(), writer).split(":")[0] in {"OSError", "PermissionError", "FileNotFoundError"}
    assert not Path(path, "escaped").exists()


def test_the_interpreter_is_not_written(start, run):
    writer = "import sys, os; open(os.path.join(sys.prefix, 'escaped'), 'w')"
    assert run(start(), writer).split(":")[0] in {"OSError", "PermissionError"}


def test_tcp_and_udp_are_refused(start, run):
    session = start()
    for kind in ("SOCK_STREAM", "SOCK_DGRAM"):
        assert run(session, f"import socket; socket.socket(socket.AF_INET, socket.{kind})").startswith("OSError")
    assert run(session, "import socket; socket.socket(socket.AF_INET6)").startswith("OSError")
    assert run(session, "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)").startswith("OSError")


def test_an_abstract_socket_of_the_host_is_not_reached(start, run):
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        name = f"workbench-test-{os.getpid()}-{time.monotonic_ns()}"
        listener.bind("\0" + name)
        listener.listen()
        knock = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0{name}')"
        assert run(start(), knock).startswith("ConnectionRefusedError")


def test_an_endless_loop_ends_by_processor_time(start):
    with pytest.raises(Ended) as ended:
        start(cpu_seconds=1).call({"code": "while True: pass"}, timeout_s=15)
    assert ended.value.reason == "time"
    assert "processor time" in ended.value.detail


def test_an_endless_sleep_ends_by_the_calls_time(start):
    began = time.monotonic()
    with pytest.raises(Ended) as ended:
        start().call({"code": "import time; time.sleep(60)"}, timeout_s=0.4)
    assert ended.value.reason == "time" and time.monotonic() - began < 3


def test_endless_output_ends_the_session_and_keeps_the_tail(start):
    with pytest.raises(Ended) as ended:
        start(output_kb=64).call({"code": "while True: print('spam' * 100)"}, timeout_s=15)
    assert ended.value.reason == "output"
    said, _, tail = ended.value.log.partition(" earlier bytes are not kept)\n")
    assert int(said.removeprefix("(")) > 0 and "spam" in tail and len(ended.value.log) <= 64 << 10


def test_killing_everything_in_sight_reaches_nobody(start):
    session = start()
    killer = code("""
        import os
        for pid in (os.getppid(), 1, -1):
            try: os.kill(pid, 9)
            except OSError: pass
        result = 1
    """)
    with contextlib.suppress(Ended):  # it may kill what keeps it alive
        session.call({"code": killer}, timeout_s=5)
    assert start().call({"code": "result = 1"}, timeout_s=5).message["result"] == 1


def test_a_daemon_dies_with_its_session(start, run, namespace_of, left_over):
    session = start()
    namespace = namespace_of(session)
    daemon = code("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for fd in range(100):
                    try: os.close(fd)
                    except OSError: pass
                time.sleep(60)
            os._exit(0)
        os.wait()
        result = len([p for p in os.listdir('/proc') if p.isdigit()])
    """)
    assert run(session, daemon) == 3
    session.close()
    assert left_over(namespace) == []


def test_a_daemon_dies_when_its_program_leaves(start, namespace_of, left_over):
    session = start()
    namespace = namespace_of(session)
    leave = "import os, time\nif os.fork() == 0: os.setsid(); time.sleep(60)\nos._exit(3)"
    with pytest.raises(Ended) as ended:
        session.call({"code": leave}, timeout_s=5)
    assert (ended.value.reason, ended.value.exit_code) == ("exit", 3)
    assert left_over(namespace) == []


def test_links_and_pipes_stay_inside(start, run):
    maker = "import os; os.symlink('/etc/shadow', '/work/out.json'); os.mkfifo('/work/pipe'); os.mkfifo('/tmp/pipe')"
    run(start(), maker)
    assert not os.path.lexists("/work/out.json") and not os.path.lexists("/tmp/pipe")


def test_a_namespace_within_is_refused(start, run):
    session = start()
    for flag in (0x10000000, 0x00020000, 0x40000000):
        assert run(session, LIBC + f"result = [libc.unshare({flag}), ctypes.get_errno()]") == [-1, EPERM]
    assert run(session, LIBC + "result = [libc.setns(0, 0), ctypes.get_errno()]") == [-1, EPERM]


def test_clone_with_a_namespace_is_refused(start, run):
    clone = LIBC + "result = [libc.syscall(56 if os.uname().machine == 'x86_64' else 220, 0x10000011, 0, 0, 0, 0)]"
    assert run(start(), clone + "\nresult.append(ctypes.get_errno())") == [-1, EPERM]


def test_tracing_is_refused(start, run):
    assert run(start(), LIBC + "result = [libc.ptrace(16, 1, 0, 0), ctypes.get_errno()]") == [-1, EPERM]


def test_the_memory_of_another_process_is_refused(start, run):
    session = start()
    for name in ("process_vm_readv", "process_vm_writev"):
        code_of_call = LIBC + f"result = [libc.{name}(os.getppid(), None, 0, None, 0, 0), ctypes.get_errno()]"
        assert run(session, code_of_call) == [-1, EPERM]


def test_mounting_is_refused(start, run):
    session = start()
    assert run(session, LIBC + "result = [libc.mount(b'x', b'/tmp', b'tmpfs', 0, None), ctypes.get_errno()]") == [
        -1,
        EPERM,
    ]
    assert run(session, LIBC + "result = [libc.umount2(b'/usr', 2), ctypes.get_errno()]") == [-1, EPERM]


def test_devices_are_harmless(start, run):
    session = start()
    harmless = {"core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"}
    assert set(run(session, "import os; result = os.listdir('/dev')")) <= harmless | {"urandom", "zero", "console"}
    assert "Error" in run(session, "import os; os.mknod('/tmp/disk', 0o60600, os.makedev(254, 0))")


def test_limits_cannot_be_raised(start, run):
    raiser = "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))"
    assert "Error" in run(start(), raiser)


def test_only_its_own_socket_is_inherited(start, run):
    session = start()
    look = code("""
        import os
        result = {}
        for name in os.listdir('/proc/self/fd'):
            try: result[name] = os.readlink(f'/proc/self/fd/{name}')
            except OSError: pass
    """)
    links = run(session, look)
    assert set(links) == {"0", "1", "2", "3"}
    assert links["0"] == "/dev/null" and links["1"].startswith("pipe:") and links["3"].startswith("socket:")


def test_the_programs_folders_are_as_they_were(start, run, tmp_path):
    (tmp_path / "a.txt").write_text("kept")
    (tmp_path / "link").symlink_to("/etc/shadow")
    session = start(folders={"/task": tmp_path})
    assert run(session, "result = open('/task/a.txt').read()") == "kept"
    assert "FileNotFoundError" in run(session, "open('/task/link').read()")
    assert "Error" in run(session, "import os; os.remove('/task/a.txt')")
    assert "Error" in run(session, "import os; os.chmod('/task/a.txt', 0o777)")
    assert (tmp_path / "a.txt").read_text() == "kept"
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) != 0o777
