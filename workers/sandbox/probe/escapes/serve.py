"""Tries each escape inside the sandbox and answers with what got through.

Each is made so that it does no harm where it succeeds: a broken wall must not cost the host anything.
"""

# Plain system calls, each an escape.

from __future__ import annotations

import ctypes
import os
import signal
import socket
import tempfile
from collections.abc import Callable

from workers.wire import frames

_MOST_FORKS = 100
_OWN_VARIABLES = {"PWD", "LC_CTYPE"}
_PTRACE_ATTACH, _NEW_USER = 16, 0x10000000
_libc = ctypes.CDLL(None, use_errno=True)


def serve(sock: socket.socket) -> None:
    """Answer one message: name of each escape -> "" when contained, else what happened."""
    message, _ = frames.receive(sock)
    frames.send(sock, {name: attempt() for name, attempt in attempts(message["processes"]).items()})


def attempts(processes: int) -> dict[str, Callable[[], str]]:
    """The escapes by name."""
    return {
        "write outside": write_outside,
        "network": network,
        "read host secrets": read_secrets,
        "trace or mount": trace_or_mount,
        "nested user namespace": nested_namespace,
        "fork bomb": lambda: fork_bomb(processes),
    }


def write_outside() -> str:
    """Make a file in every folder that belongs to the host."""
    for folder in ("/", "/usr", "/usr/bin", "/etc", "/workbench", "/dev", os.path.dirname(__file__)):
        try:
            os.close(os.open(f"{folder}/workbench-escaped", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except OSError:
            continue
        os.remove(f"{folder}/workbench-escaped")
        return f"wrote in {folder}"
    return ""


def network() -> str:
    """Open an internet socket, and find another interface than the loopback."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
        return "an internet socket was connected"
    except OSError:
        pass
    others = _interfaces()
    return f"sees interfaces {others}" if others else ""


def _interfaces() -> list[str]:
    with open("/proc/net/dev") as stream:
        return [line.split(":")[0].strip() for line in stream.readlines()[2:] if not line.strip().startswith("lo:")]


def read_secrets() -> str:
    """Read password hashes, or the environment of a process outside."""
    if os.path.exists("/etc/shadow"):
        return "/etc/shadow is there"
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) > 4:
        return f"sees {len(pids)} processes"
    for pid in pids:
        if pid == str(os.getpid()):
            continue
        try:
            with open(f"/proc/{pid}/environ", "rb") as stream:
                names = {entry.split(b"=")[0].decode(errors="replace") for entry in stream.read().split(b"\0") if entry}
        except OSError:
            continue
        if names - _OWN_VARIABLES - set(os.environ):
            return f"process {pid} shows the variables {sorted(names)}"
    return ""


def trace_or_mount() -> str:
    """Trace a process (a child of ours); mount a file system (on a new folder of ours)."""
    child = os.fork()
    if child == 0:
        signal.pause()
    traced = _libc.ptrace(_PTRACE_ATTACH, child, 0, 0) == 0
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if traced:
        return "traced a process"
    place = tempfile.mkdtemp()
    if _libc.mount(b"tmpfs", place.encode(), b"tmpfs", 0, None) == 0:
        _libc.umount2(place.encode(), 0)
        return "mounted a file system"
    return ""


def nested_namespace() -> str:
    """Become root in a user namespace of one's own (a child does it)."""
    child = os.fork()
    if child == 0:
        os._exit(_libc.unshare(_NEW_USER) == 0)
    return "made a user namespace" if os.waitpid(child, 0)[1] else ""


def fork_bomb(processes: int) -> str:
    """Fork until refused."""
    children: list[int] = []
    try:
        while len(children) < _MOST_FORKS:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return f"forked {len(children)} times" if len(children) > processes else ""
