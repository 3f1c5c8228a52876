"""Sessions beside each other: none reaches, fills or changes what another or the host relies on."""

from __future__ import annotations

import textwrap


def code(text):
    return textwrap.dedent(text)


OPEN_TERMINAL = code("""
    import os
    held = os.openpty()
    result = [os.ttyname(held[1]), sorted(os.listdir("/dev/pts"))]
""")


def test_terminals_are_each_session_s_own(start, run):
    first, second = start(), start()
    assert run(first, OPEN_TERMINAL) == ["/dev/pts/0", ["0", "ptmx"]]
    assert run(second, "import os; result = sorted(os.listdir('/dev/pts'))") == ["ptmx"]


def test_what_is_counted_for_the_whole_host_is_refused(start, run):
    ask = code("""
        import ctypes, platform
        libc = ctypes.CDLL(None, use_errno=True)
        place = ctypes.c_ulong(0)
        number = {"x86_64": 206, "aarch64": 0}[platform.machine()]
        result = [libc.syscall(number, 60000, ctypes.byref(place)), ctypes.get_errno()]
    """)
    assert run(start(), ask) == [-1, 1]


def test_a_crash_starts_no_core_dump_helper_of_the_host(start, run):
    # 1 is the one value at which the kernel runs no helper, whatever the host's core pattern is
    assert run(start(), "import resource; result = resource.getrlimit(resource.RLIMIT_CORE)") == [1, 1]


def test_a_job_leaves_nothing_for_the_next(start_warm, run):
    leave = code("""
        import builtins, json, os, socket
        for folder in ("/tmp", "/work", "/dev/shm"):
            open(f"{folder}/left", "w").write("x")
        held = socket.socket(socket.AF_UNIX)
        held.bind("\\0left")
        json.left = builtins.left = held
        os.environ["LEFT"] = "1"
        result = 1
    """)
    look = code("""
        import builtins, json, os, socket
        places = ("/tmp/left", "/work/left", "/dev/shm/left")
        result = [os.path.exists(place) for place in places] + ["LEFT" in os.environ]
        result += [hasattr(json, "left"), hasattr(builtins, "left")]
        with socket.socket(socket.AF_UNIX) as ours:
            result.append(ours.connect_ex("\\0left") == 0)
    """)
    first, second = start_warm(), start_warm()
    assert run(first, leave) == 1
    third = start_warm()  # beside the first, and after it
    first.close()
    assert run(second, look) == run(third, look) == run(start_warm(), look) == [False] * 7


def test_no_memory_is_shared_for_writing_with_the_fork_server(start_warm, run):
    maps = "result = [line for line in open('/proc/self/maps') if line.split()[1][1::2] == 'ws']"
    assert run(start_warm(), maps) == []
