"""Counts and bounds a session's memory and processes together, where this process may make control groups."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.limits import MEBIBYTE, Limits

_PREFIX = "workbench-"
# The sandbox's own init, and the helper that waits for a warm job.
_OWN_PROCESSES = 3
_numbers = itertools.count()


@dataclass(frozen=True)
class Group:
    """The control groups of one session: one folder on cgroup v2, two on v1."""

    version: int
    memory: Path
    pids: Path

    def add(self, pid: int) -> None:
        """Move a process (host pid) into the groups; its later children follow."""
        for folder in {self.memory, self.pids}:
            (folder / "cgroup.procs").write_text(str(pid))

    def oom_kills(self) -> int:
        """How many of the session's processes the kernel killed for memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        try:
            pairs = [line.split() for line in (self.memory / name).read_text().splitlines()]
        except OSError:
            return 0
        return sum(int(pair[1]) for pair in pairs if pair[0] == "oom_kill")

    def remove(self) -> None:
        """Remove the groups; a dying process may hold them for some milliseconds."""
        for folder in {self.memory, self.pids}:
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


@dataclass(frozen=True)
class Parents:
    """The groups of our own under which a session's groups are made."""

    version: int
    memory: Path
    pids: Path

    def create(self, limits: Limits) -> Group:
        """Make a group for one session with its limits set; raises OSError."""
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        group = Group(self.version, self.memory / name, self.pids / name)
        try:
            for folder in {group.memory, group.pids}:
                folder.mkdir()
            _set_limits(group, limits)
        except OSError:
            group.remove()
            raise
        return group


def _set_limits(group: Group, limits: Limits) -> None:
    memory_bytes = str(limits.memory_mb * MEBIBYTE)
    (group.pids / "pids.max").write_text(str(limits.processes + _OWN_PROCESSES))
    (group.memory / ("memory.max" if group.version == 2 else "memory.limit_in_bytes")).write_text(memory_bytes)
    swap, most = ("memory.swap.max", "0") if group.version == 2 else ("memory.memsw.limit_in_bytes", memory_bytes)
    with contextlib.suppress(OSError):  # absent where the kernel counts no swap
        (group.memory / swap).write_text(most)


def find_parents(proc: Path = Path("/proc/self")) -> tuple[Parents | None, str]:
    """Where groups can be made, or None; and one sentence that says which or why not."""
    try:
        own, mounts = _own_groups(proc), _mounts(proc)
    except OSError as error:
        return None, f"no control groups: {error}"
    for find in (_version_2, _version_1):
        parents = find(own, mounts)
        if parents is not None:
            _sweep(parents)
            try:
                parents.create(Limits()).remove()
            except OSError as error:
                return None, f"no control groups: {error}"
            return parents, f"cgroup v{parents.version}"
    return None, "no control group that we may write with memory and pids controllers"


def _own_groups(proc: Path) -> dict[str, str]:
    """Controller (or "" for version 2) -> path of our own group."""
    found: dict[str, str] = {}
    for line in (proc / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        found.update(dict.fromkeys(controllers.split(","), path))
    return found


def _mounts(proc: Path) -> dict[str, tuple[Path, str]]:
    """Controller (or "" for version 2) -> (mount point, path of the group mounted there)."""
    found: dict[str, tuple[Path, str]] = {}
    for line in (proc / "mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, point = before.split(" ")[3:5]
        if kind == "cgroup2":
            found.setdefault("", (Path(point), root))
        elif kind == "cgroup":
            found.update({name: (Path(point), root) for name in options.split(",")})
    return found


def _folder(controller: str, own: dict[str, str], mounts: dict[str, tuple[Path, str]]) -> Path | None:
    if controller not in own or controller not in mounts:
        return None
    point, root = mounts[controller]
    inside = own[controller].removeprefix(root.rstrip("/")).lstrip("/")
    folder = point / inside
    return folder if os.access(folder, os.W_OK) else None


def _version_1(own: dict[str, str], mounts: dict[str, tuple[Path, str]]) -> Parents | None:
    memory, pids = _folder("memory", own, mounts), _folder("pids", own, mounts)
    if memory is None or pids is None or not (memory / "memory.limit_in_bytes").exists():
        return None
    return Parents(1, memory, pids)


def _version_2(own: dict[str, str], mounts: dict[str, tuple[Path, str]]) -> Parents | None:
    folder = _folder("", own, mounts)
    for candidate in [folder, folder.parent] if folder else []:
        # A parent is ours only when the service manager says that it handed it over.
        if candidate is not folder and not _delegated(candidate):
            continue
        control = candidate / "cgroup.subtree_control"
        with contextlib.suppress(OSError):
            if not {"memory", "pids"} <= set(control.read_text().split()):
                control.write_text("+memory +pids")
            return Parents(2, candidate, candidate)
    return None


def _delegated(folder: Path) -> bool:
    for name in ("trusted.delegate", "user.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


def _sweep(parents: Parents) -> None:
    """Remove the empty groups of workers that died."""
    for parent in {parents.memory, parents.pids}:
        for folder in parent.glob(f"{_PREFIX}*-*"):
            if not Path(f"/proc/{folder.name.split('-')[1]}").exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()
