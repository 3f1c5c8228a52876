"""One warm job: namespaces, file tree, limits and filter of its own around a fork of the server.

Three processes: a *keeper* in the server's namespaces, which reports the end; an *init*, whose
death is the death of the whole job; and the process that serves.
"""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from workers.sandbox.inside import bootstrap, kernel, tree
from workers.wire import frames

_FRESH = kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_NET | kernel.NEW_IPC
# Where the request's descriptors go, in the order in which they come.
_SOCKET, _STATUS, _ARCHIVE, _FILTER, _OUTPUT = range(3, 8)


def run(request: dict[str, Any], fds: list[int]) -> NoReturn:
    """Become the keeper of one job; ends the process."""
    _only_here(lambda: _keep(request, fds))


def _only_here(work: Callable[[], int]) -> NoReturn:
    """Whatever happens in a fork must never fall back into the server's loop."""
    code = 1
    try:
        code = work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - foreign code may raise anything
        traceback.print_exc()
    finally:
        os._exit(code & 255)


def _keep(request: dict[str, Any], fds: list[int]) -> int:
    _arrange(fds)
    os.setsid()
    status = socket.socket(fileno=_STATUS)
    _fresh_namespaces()
    kernel.die_with_parent()
    init = os.fork()
    if init == 0:
        _only_here(lambda: _init(request))
    for fd in (_SOCKET, _ARCHIVE, _FILTER, 1, 2):
        os.close(fd)  # the end of these must be the end of the job
    pidfd = os.pidfd_open(init)
    frames.send(status, {"init": init}, [pidfd])
    _, wait_status = os.waitpid(init, 0)
    frames.send(status, {"status": os.waitstatus_to_exitcode(wait_status)})
    return 0


def _arrange(fds: list[int]) -> None:
    """Descriptors to their known places, output to 1 and 2, everything else closed."""
    high = [os.dup2(fd, 100 + place) for place, fd in enumerate(fds)]
    for place, fd in enumerate(high, start=_SOCKET):
        os.dup2(fd, place, inheritable=False)
    os.dup2(_OUTPUT, 1)
    os.dup2(_OUTPUT, 2)
    os.closerange(_OUTPUT, bootstrap.HIGHEST_FD)


def _fresh_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(_FRESH)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with Path(f"/proc/self/{name}").open("w") as stream:
            stream.write(text)


def _init(request: dict[str, Any]) -> int:
    """Pid 1 of the job: build the wall, fork what serves, reap, pass its end on."""
    kernel.die_with_parent()
    os.close(_STATUS)
    tree.build(request["tmp_bytes"], request["shadowed"], request["hidden"], _ARCHIVE)
    with os.fdopen(_FILTER, "rb") as stream:
        program = stream.read()
    sock = socket.socket(fileno=_SOCKET)
    message, _ = frames.receive(sock)  # the caller has put us into a control group by now
    bootstrap.limit(message)
    kernel.drop_privileges()
    if program:
        kernel.filter_system_calls(program)
    served = os.fork()
    if served == 0:
        _only_here(lambda: _serve(sock, message))
    sock.close()
    return _reap_until(served)


def _serve(sock: socket.socket, message: dict[str, Any]) -> int:
    bootstrap.serve(sock, message)
    return 0


def _reap_until(served: int) -> int:
    while True:
        pid, wait_status = os.waitpid(-1, 0)
        if pid == served:
            code = os.waitstatus_to_exitcode(wait_status)
            return code if code >= 0 else 128 - code
