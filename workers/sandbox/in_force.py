"""Says in plain words which limits hold for a session: part of every result, so never more than is true."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Protocol

from workers.sandbox import seccomp
from workers.sandbox.cgroups import Group
from workers.sandbox.isolation import Isolation
from workers.sandbox.limits import Limits

UNSANDBOXED = "NONE: operator allowed unsandboxed runs"

_NAMESPACES = {
    "cold": "user, pid, net, ipc, mount, uts, cgroup; nested refused by the kernel and by seccomp",
    "warm": "user, pid, net, ipc, mount of this job; uts, cgroup of its fork server; nested refused by seccomp",
}


class Walled(Protocol):
    """A process behind a wall: its control group and its own user outside, where it has them."""

    group: Group | None
    uid: int | None


def walled(
    isolation: Isolation, limits: Limits, process: Walled, rlimits: Mapping[str, object], start: str
) -> dict[str, str]:
    """The limits of a bubblewrap session; `start` is "cold" or "warm"."""
    users = (
        f"{process.uid} outside, of this session's own" if process.uid else f"{os.getuid()} outside, the worker's own"
    )
    if start == "warm" and process.uid:
        users = f"{process.uid} outside, shared by this fork server's jobs"
    return {
        "isolation": "bubblewrap",
        "version": isolation.version,
        "start": start,
        "network": "none: an empty network namespace, Unix sockets only",
        "memory": _memory(isolation, limits, process.group, "RLIMIT_AS" in rlimits),
        "processes": _processes(limits, process.group),
        "seccomp": seccomp_text(),
        "uid": f"{users}; no capabilities",
        "namespaces": _NAMESPACES[start],
        **_shared(limits),
    }


def unsandboxed(limits: Limits) -> dict[str, str]:
    """The limits of a run that the operator allowed without a sandbox."""
    nothing = "not in force: no sandbox"
    return {
        "isolation": UNSANDBOXED,
        "start": "cold",
        "network": nothing,
        "memory": f"rlimit_as {limits.memory_mb} MiB a process",
        "processes": "not in force: the count would include the worker's own processes",
        "seccomp": nothing,
        "uid": f"not in force: the worker's own, {os.getuid()}",
        "namespaces": nothing,
        **_shared(limits),
        "private_folders": nothing,
    }


def seccomp_text() -> str:
    """What the system call filter does here."""
    try:
        seccomp.filter_program()
    except seccomp.UnknownMachine as error:
        return f"not in force: {error}"
    return f"{seccomp.refused_count()} system calls, new namespaces and other sockets refused ({platform.machine()})"


def _memory(isolation: Isolation, limits: Limits, group: Group | None, addresses: bool) -> str:
    if group is not None:
        return f"cgroup v{group.version} {limits.memory_mb} MiB for all processes"
    if not addresses:
        return f"not in force: {isolation.groups_detail}, and a device's reservations are too large for rlimit_as"
    return f"rlimit_as {limits.memory_mb} MiB a process ({isolation.groups_detail}); memfds not counted"


def _processes(limits: Limits, group: Group | None) -> str:
    text = f"rlimit_nproc {limits.processes} in a user namespace of its own"
    return f"{text}, and cgroup v{group.version} pids" if group is not None else text


def _shared(limits: Limits) -> dict[str, str]:
    cpu = (
        "not in force: none asked for" if limits.cpu_seconds is None else f"rlimit_cpu {limits.cpu_seconds} s a process"
    )
    return {
        "cpu": cpu,
        "files": f"rlimit_fsize {limits.file_mb} MiB a file, rlimit_nofile {limits.open_files}",
        "private_folders": f"{limits.tmp_mb} MiB each: /tmp, /work, /dev/shm",
        "output": f"{limits.output_kb} KiB, then killed",
        "wall": f"{limits.wall_seconds:g} s, then killed",
    }
