"""Starts one walled-in interpreter with bubblewrap."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox import filetree, uids
from workers.sandbox.errors import SandboxUnavailable
from workers.sandbox.interpreter import Interpreter
from workers.sandbox.isolation import Isolation
from workers.sandbox.process import ColdProcess, becomes_readable
from workers.sandbox.spawn import spawn

UID_INSIDE = 1000
_START_SECONDS = 20.0
_NAMESPACES = tuple(f"--unshare-{name}" for name in ("user", "pid", "net", "ipc", "uts", "cgroup-try"))
_REMEDY = "run `workbench doctor` for what this machine refuses and how to allow it"


@dataclass(frozen=True)
class Wall:
    """What to build around the interpreter.

    Attributes:
        binds: path inside -> host path, read-only.
        tmp_mb: MiB of each private folder.
        devices: device nodes shown inside.
        seccomp_program: the system call filter, or None.
        nested_namespaces: whether the program may make namespaces (only the fork server).
        most_threads: of numerical libraries, which start them on import and die where they cannot.
    """

    binds: Mapping[str, Path]
    tmp_mb: int
    devices: Sequence[Path] = ()
    seccomp_program: bytes | None = None
    nested_namespaces: bool = False
    most_threads: int = 16


class _Descriptors:
    """Descriptors that the child inherits, closed here as soon as it has them."""

    def __init__(self, stack: ExitStack) -> None:
        self.numbers: list[int] = []
        self._stack = stack

    def give(self, fd: int) -> str:
        """Pass `fd` on and close it here afterwards; its number as a word for a command line."""
        self._stack.callback(os.close, fd)
        self.numbers.append(fd)
        return str(fd)

    def words(self, arguments: Sequence[str]) -> list[str]:
        """Pass bubblewrap options through a memfd: /proc/1/cmdline inside then tells no host path."""
        fd = os.memfd_create("arguments", 0)
        os.write(fd, b"".join(word.encode() + b"\0" for word in arguments))
        os.lseek(fd, 0, os.SEEK_SET)
        return ["--args", self.give(fd)]


def launch(
    isolation: Isolation,
    wall: Wall,
    interpreter: Interpreter,
    *,
    child_fd: int,
    output_fd: int,
    before_start: Callable[[ColdProcess], None],
) -> ColdProcess:
    """Start the interpreter on our bootstrap with `child_fd` as its socket.

    `child_fd` and `output_fd` stay the caller's to close.  `before_start` runs when the sandbox's
    init exists (`process.init_pid`, host pid) and nothing runs in it yet.
    Raises `SandboxUnavailable` when bubblewrap does not come up.
    """
    try:
        return _launch(isolation, wall, interpreter, child_fd, output_fd, before_start)
    except OSError as error:
        raise SandboxUnavailable(f"the sandbox could not be set up: {error}") from error


def _launch(
    isolation: Isolation,
    wall: Wall,
    interpreter: Interpreter,
    child_fd: int,
    output_fd: int,
    before_start: Callable[[ColdProcess], None],
) -> ColdProcess:
    with ExitStack() as ours:
        info_read, info_write = os.pipe()
        ours.callback(os.close, info_read)
        block_read, block_write = os.pipe()
        ours.callback(os.close, block_write)
        lease = uids.lend() if isolation.setpriv else None
        with ExitStack() as theirs:
            descriptors = _Descriptors(theirs)
            hold = ["--info-fd", descriptors.give(info_write), "--block-fd", descriptors.give(block_read)]
            command = _layers(isolation, wall, hold, lease.number if lease else None, descriptors)
            passed = [child_fd, *descriptors.numbers]
            launcher = [*command, "--", *_python(interpreter, child_fd)]
            process = ColdProcess(spawn(launcher, output_fd=output_fd, pass_fds=passed))
        if lease:
            process.uid = lease.number
            process.on_release(lease.release)
        try:
            process.adopt(_init_pid(info_read))
            before_start(process)
            os.write(block_write, b"1")
        except BaseException:
            process.kill()
            process.wait(_START_SECONDS)
            process.release()
            raise
        return process


def _python(interpreter: Interpreter, child_fd: int) -> list[str]:
    bootstrap = f"{filetree.CODE_INSIDE}/{filetree.BOOTSTRAP}"
    return [str(interpreter.executable), "-I", "-B", "-u", bootstrap, str(child_fd)]


def _layers(
    isolation: Isolation, wall: Wall, hold: Sequence[str], uid: int | None, descriptors: _Descriptors
) -> list[str]:
    """One bubblewrap as a plain user, two as root.

    Root's runtimes often lie under a folder that only root may enter.  So an outer layer builds
    the file tree as root, then gives up root, and an inner layer builds the wall as that user:
    only an unprivileged user's processes are counted by RLIMIT_NPROC.
    """
    tree = filetree.shared({**dict(isolation.tool_binds), **wall.binds})
    inside = [*filetree.private(wall.binds, wall.tmp_mb, wall.devices), *filetree.environment(_threads(wall)), *hold]
    inside += [*_privileges(wall), *_seccomp(wall, descriptors)]
    if uid is None:
        return [str(isolation.bwrap), *descriptors.words([*tree, *inside])]
    outside = [*tree, *filetree.mount_points(), "--dev", "/dev", *filetree.device_binds(wall.devices)]
    outside += ["--bind", "/proc", "/proc", "--die-with-parent"]
    give_up_root = [str(isolation.setpriv), "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--"]
    outer = [str(isolation.bwrap), *descriptors.words(outside), "--", *give_up_root]
    return [*outer, isolation.inner_bwrap, *descriptors.words(["--ro-bind", "/", "/", *inside])]


def _privileges(wall: Wall) -> list[str]:
    words = [*_NAMESPACES, "--uid", str(UID_INSIDE), "--gid", str(UID_INSIDE), "--hostname", "sandbox"]
    words += ["--cap-drop", "ALL", "--die-with-parent", "--new-session", "--chdir", "/work"]
    return words if wall.nested_namespaces else [*words, "--disable-userns"]


def _seccomp(wall: Wall, descriptors: _Descriptors) -> list[str]:
    if wall.seccomp_program is None:
        return []
    fd = os.memfd_create("seccomp", 0)
    os.write(fd, wall.seccomp_program)
    os.lseek(fd, 0, os.SEEK_SET)
    return ["--seccomp", descriptors.give(fd)]


def _threads(wall: Wall) -> int:
    return max(1, min(len(os.sched_getaffinity(0)), wall.most_threads))


def _init_pid(info_fd: int) -> int:
    """Read which host pid the sandbox's init has; bubblewrap writes it as soon as it exists."""
    told = b""
    while becomes_readable(info_fd, _START_SECONDS):
        chunk = os.read(info_fd, 4096)
        if not chunk:
            break
        told += chunk
        if told.rstrip().endswith(b"}"):
            return int(json.loads(told)["child-pid"])
    raise SandboxUnavailable(f"bubblewrap did not start; {_REMEDY}")
