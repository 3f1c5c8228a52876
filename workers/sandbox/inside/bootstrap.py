"""The first code in a sandbox: limits this process, then serves the foreign module on the given socket."""

from __future__ import annotations

import importlib
import os
import resource
import socket
import sys
from pathlib import Path
from typing import Any

_SOCKET_FD = 3
HIGHEST_FD = 1 << 20


def main() -> None:
    """Run `bootstrap.py SOCKET_FD`: wait for the first frame, then become what it names."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    sock = keep_only(int(sys.argv[1]))
    from workers.wire import frames

    message, _ = frames.receive(sock)
    if "preload" in message:
        from workers.sandbox.inside import forkserver

        forkserver.main(sock, message)
    else:
        limit(message)
        serve(sock, message)


def keep_only(fd: int) -> socket.socket:
    """Move the socket to a known descriptor and close every other but the standard three."""
    if fd != _SOCKET_FD:
        os.dup2(fd, _SOCKET_FD)
    os.closerange(_SOCKET_FD + 1, HIGHEST_FD)
    os.set_inheritable(_SOCKET_FD, False)
    return socket.socket(fileno=_SOCKET_FD)


def limit(message: dict[str, Any]) -> None:
    """Set the resource limits of the first frame, soft and hard: no later code can raise them."""
    for name, (soft, hard) in message["rlimits"].items():
        kind = getattr(resource, name)
        _, most = resource.getrlimit(kind)
        bound = sys.maxsize if most == resource.RLIM_INFINITY else most  # an outer limit may be tighter still
        resource.setrlimit(kind, (min(soft, bound), min(hard, bound)))


def serve(sock: socket.socket, message: dict[str, Any]) -> None:
    """Import the foreign module and let it answer; it owns the process from here on."""
    sys.path[:0] = message["paths"]
    sock.settimeout(None)
    importlib.import_module(message["module"] + ".serve").serve(sock)


if __name__ == "__main__":
    main()
