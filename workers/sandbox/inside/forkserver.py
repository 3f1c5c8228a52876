"""The warm fork server: imports a framework once, computes nothing, forks a walled-in job per request."""

from __future__ import annotations

import gc
import importlib
import os
import select
import socket
import sys
from typing import Any

from workers.sandbox.inside import job
from workers.wire import frames

_REAP_SECONDS = 0.5


def main(sock: socket.socket, message: dict[str, Any]) -> None:
    """Import `message["preload"]`, say ready, then serve job requests until the socket closes."""
    failed = {}
    for name in message["preload"]:
        try:
            importlib.import_module(name)
        except ImportError as error:
            failed[name] = str(error)
    gc.collect()
    gc.freeze()  # what is shared with the jobs stays shared
    frames.send(sock, {"ready": True, "failed": failed, "modules": len(sys.modules)})
    while True:
        if select.select([sock], [], [], _REAP_SECONDS)[0]:
            try:
                request, fds = frames.receive(sock)
            except frames.Closed:
                return
            _fork(request, fds)
        _reap()


def _fork(request: dict[str, Any], fds: list[int]) -> None:
    if os.fork() == 0:
        job.run(request, fds)  # never returns
    for fd in fds:
        os.close(fd)


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return
