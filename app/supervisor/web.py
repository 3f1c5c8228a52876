"""One web process: `python -m app.supervisor.web HOST PORT`.  Several share an address, and connections are dealt out.

uvicorn's own workers would be a second supervisor inside ours, which restarts what cannot start for ever.
"""

from __future__ import annotations

import argparse
import socket
import sys

import uvicorn

# Event streams never end by themselves: without a bound they would hold up the stop.
DRAIN_SECONDS = 5
_FAILED_TO_START = 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--behind-proxy", action="store_true")
    asked = parser.parse_args()
    config = uvicorn.Config(
        "app.main:create_app", factory=True, server_header=False, timeout_graceful_shutdown=DRAIN_SECONDS,
        forwarded_allow_ips="*" if asked.behind_proxy else None,
    )  # fmt: skip
    server = uvicorn.Server(config)
    server.run(sockets=[shared_socket(asked.host, asked.port)])
    if not server.started:
        sys.exit(_FAILED_TO_START)


def shared_socket(host: str, port: int) -> socket.socket:
    """Bound beside those of this user's other processes; what comes in goes to one of them."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind((host, port))
    return bound


if __name__ == "__main__":
    main()
