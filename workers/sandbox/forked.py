"""Our side of one fork server process and of the jobs it forks."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from workers.sandbox import filetree, folders
from workers.sandbox.cgroups import Group
from workers.sandbox.cold import filter_or_none
from workers.sandbox.conversation import Ends, open_ends
from workers.sandbox.errors import SandboxUnavailable
from workers.sandbox.interpreter import inspect
from workers.sandbox.isolation import Isolation
from workers.sandbox.launch import Wall, launch
from workers.sandbox.limits import MEBIBYTE, Limits
from workers.sandbox.process import ColdProcess, becomes_readable, host_pid, kill_pidfd, told_status
from workers.sandbox.program import Program, Runtime
from workers.sandbox.watch import Watch
from workers.wire import frames

_IMPORT_SECONDS = 120.0
_FORK_SECONDS = 15.0
_DEATH_SECONDS = 10.0
_SIGKILL = 9
_SERVER_TMP_MB = 16


class Odd(Exception):
    """The fork server is dead or answers what it should not."""


class WarmJob:
    """A forked job as a `ForeignProcess`; its init's death is the death of all of it."""

    def __init__(self, pidfd: int, status: socket.socket, uid: int | None, on_release: Callable[[], object]) -> None:
        self.group: Group | None = None
        self.uid = uid
        self.pidfd = pidfd
        self._status = status
        self._on_release = on_release
        self._end: tuple[int | None, int | None] | None = None
        self._lock = threading.Lock()

    def kill(self) -> None:
        """Kill the job's init."""
        kill_pidfd(self.pidfd)

    def wait(self, timeout_seconds: float) -> tuple[int | None, int | None] | None:
        """What the keeper tells of the end; a keeper that is gone too has left only the kill."""
        with self._lock:
            if self._end is None:
                try:
                    message, _ = frames.receive(self._status, time.monotonic() + timeout_seconds)
                    self._end = told_status(int(message["status"]))
                except frames.Late:
                    return None
                except (frames.Closed, frames.FrameError, KeyError, OSError):
                    if not becomes_readable(self.pidfd, timeout_seconds):
                        return None
                    self._end = (None, _SIGKILL)
            return self._end

    def oom_kills(self) -> int:
        """The control group's count, 0 without one."""
        return self.group.oom_kills() if self.group else 0

    def release(self) -> None:
        """Close the descriptors, remove the group, tell the server's owner."""
        os.close(self.pidfd)
        self.pidfd = -1
        self._status.close()
        if self.group is not None:
            self.group.remove()
        self._on_release()


class Server:
    """One fork server process in its own sandbox."""

    def __init__(self, runtime: Runtime, walls: Isolation) -> None:
        self.walls = walls
        self.jobs_started = 0
        self._live = 0
        self._ready = False
        self._lock = threading.Lock()
        ends = open_ends()
        interpreter = inspect(runtime.python)
        self._binds = {**filetree.code_binds(None), **filetree.interpreter_binds(interpreter)}
        wall = Wall(self._binds, _SERVER_TMP_MB, runtime.devices, nested_namespaces=True)
        try:
            self._process: ColdProcess = launch(
                walls,
                wall,
                interpreter,
                child_fd=ends.child.fileno(),
                output_fd=ends.output_write,
                before_start=lambda _: None,
            )
        except SandboxUnavailable as error:
            text = ends.printed()
            ends.close_own_ends()
            raise SandboxUnavailable(f"{error}\n{text}".strip()) from error
        finally:
            ends.close_child_ends()
        self.uid = self._process.uid
        self._control = ends.ours
        self._watch = Watch(ends.output_read, output_bytes=None, deadline=None, on_breach=self._process.kill)
        frames.send(self._control, {"preload": list(runtime.preload)})

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.wait(0) is None

    def idle(self) -> bool:
        """Whether none of its jobs is left."""
        return self._live == 0

    def close(self) -> None:
        """Kill it and all its jobs."""
        self._process.kill()
        self._process.wait(_DEATH_SECONDS)
        self._watch.close()
        self._control.close()
        self._process.release()

    def fork(self, program: Program, limits: Limits, ends: Ends) -> WarmJob:
        """Have a job forked and walled in; it waits for its first frame.  Raises `Odd`, `TooLarge`."""
        with ExitStack() as ours:
            status, status_child = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            ours.callback(status_child.close)
            undo = ours.enter_context(ExitStack())
            undo.callback(status.close)
            archive_fd = folders.archive(program.folders)
            ours.callback(os.close, archive_fd)
            filter_fd = os.memfd_create("seccomp", os.MFD_CLOEXEC)
            ours.callback(os.close, filter_fd)
            os.pwrite(filter_fd, filter_or_none() or b"", 0)
            passed = [ends.child.fileno(), status_child.fileno(), archive_fd, filter_fd, ends.output_write]
            self._request(program, limits, passed)
            status_child.close()
            job = WarmJob(self._first_answer(status), status, self.uid, self._job_gone)
            undo.pop_all()
        with self._lock:
            self._live += 1
        self._enter_group(job, limits)
        return job

    def _request(self, program: Program, limits: Limits, passed: list[int]) -> None:
        own = filetree.code_binds(program.module)
        request = {
            "tmp_bytes": limits.tmp_mb * MEBIBYTE,
            "shadowed": filetree.shadowed(self._binds),
            "hidden": [path for path in filetree.code_binds(None) if path not in own],
        }
        with self._lock:
            try:
                if not self._ready:
                    frames.receive(self._control, time.monotonic() + _IMPORT_SECONDS)
                    self._ready = True
                frames.send(self._control, request, passed)
            except (frames.Closed, frames.Late, frames.FrameError, OSError) as error:
                raise Odd(f"{type(error).__name__} {error}\n{self._watch.log[-2000:]}") from error
            self.jobs_started += 1

    def _first_answer(self, status: socket.socket) -> int:
        try:
            message, fds = frames.receive(status, time.monotonic() + _FORK_SECONDS)
        except (frames.Closed, frames.Late, frames.FrameError, OSError) as error:
            raise Odd(f"no job came: {type(error).__name__} {error}\n{self._watch.log[-2000:]}") from error
        if len(fds) != 1 or "init" not in message:
            for fd in fds:
                os.close(fd)
            raise Odd("a job answered oddly")
        return fds[0]

    def _enter_group(self, job: WarmJob, limits: Limits) -> None:
        if self.walls.groups is None:
            return
        try:
            job.group = self.walls.groups.create(limits)
            job.group.add(host_pid(job.pidfd))
        except OSError as error:
            job.kill()
            job.wait(_DEATH_SECONDS)
            job.release()
            raise Odd(f"the job did not enter its control group: {error}") from error

    def _job_gone(self) -> None:
        with self._lock:
            self._live -= 1
