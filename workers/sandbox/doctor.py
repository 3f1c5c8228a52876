"""What each part of the sandbox finds on this machine, and how to get what is missing."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path
from typing import NamedTuple

from workers.sandbox import in_force, isolation, selftest
from workers.sandbox.errors import Ended, SandboxUnavailable


class Line(NamedTuple):
    """One finding; `remedy` is empty where all is well."""

    name: str
    works: bool
    detail: str
    remedy: str


def doctor_lines() -> list[Line]:
    """Every part of the sandbox, the self-test last."""
    lines = [_tools(), _user_namespaces(), _control_groups(), _seccomp()]
    try:
        walls = isolation.find()
        told = selftest.cold_escapes(walls)
    except (SandboxUnavailable, Ended) as error:
        return [*lines, Line("sandbox self-test", False, str(error), _namespace_remedy() or _RAISE)]
    escaped = [f"{name}: {outcome}" for name, outcome in told.items() if outcome]
    detail = "; ".join(escaped) or f"contained: {', '.join(told)}"
    return [*lines, Line("sandbox self-test", not escaped, detail, _RAISE if escaped else "")]


_PROC_SYS = Path("/proc/sys")
_RAISE = "do not run foreign code here; report this with the output of `workbench doctor`"
# File under /proc/sys -> (the value that refuses, how to allow it).
_SWITCHES = {
    "kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=10000"),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        (
            "allow bwrap by an AppArmor profile (`flags=(unconfined) { userns, }`), or "
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        ),
    ),
}


def _tools() -> Line:
    try:
        walls = isolation.find()
    except SandboxUnavailable as error:
        return Line("bubblewrap", False, str(error), "apt install bubblewrap util-linux")
    return Line("bubblewrap", True, f"{walls.version} at {walls.bwrap}", "")


def _user_namespaces() -> Line:
    remedy = _namespace_remedy()
    return Line("user namespaces", not remedy, "refused by this kernel or container" if remedy else "allowed", remedy)


def _namespace_remedy() -> str:
    for name, (refusing, remedy) in _SWITCHES.items():
        path = _PROC_SYS / name
        if path.exists() and path.read_text().strip() == refusing:
            return remedy
    unshare = shutil.which("unshare")
    if unshare and not _succeeds([unshare, "--user", "--", "/bin/true"]):
        return (
            "in a container: start the worker (only it) with `--security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined`, or run it outside"
        )
    return ""


def _succeeds(command: list[str]) -> bool:
    pid = os.posix_spawn(command[0], command, {}, file_actions=[(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _control_groups() -> Line:
    try:
        walls = isolation.find()
    except SandboxUnavailable:
        return Line("control groups", False, "not looked for without bubblewrap", "")
    remedy = (
        ""
        if walls.groups
        else (
            "optional: run the worker under systemd with Delegate=yes and DelegateSubgroup=worker; "
            "until then memory is limited by address space for each process"
        )
    )
    return Line("control groups", walls.groups is not None, walls.groups_detail, remedy)


def _seccomp() -> Line:
    text = in_force.seccomp_text()
    works = not text.startswith("not in force")
    return Line("system call filter", works, text, "" if works else f"add a table for {platform.machine()}")
