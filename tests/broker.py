"""A real broker for tests: the embedded server's binary on a socket in a private folder."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from redis import Redis
from redis.exceptions import RedisError

from app.supervisor.broker import binary


class TestBroker:
    """Can be killed and started again empty, at the same address."""

    __test__ = False

    def __init__(self) -> None:
        # Short, for a socket's path has room for some hundred bytes only.
        self._folder = tempfile.TemporaryDirectory(prefix="wb-b-")
        self._socket = Path(self._folder.name) / "s"
        self.url = f"redis+socket://{self._socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._socket.unlink(missing_ok=True)
        keep_nothing = ["--save", "", "--appendonly", "no", "--dir", self._folder.name]
        command = [
            str(binary()),
            "--port",
            "0",
            "--unixsocket",
            str(self._socket),
            "--unixsocketperm",
            "700",
            *keep_nothing,
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self._wait()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def client(self) -> Redis:
        return Redis(unix_socket_path=str(self._socket))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._folder.cleanup()

    def _wait(self) -> None:
        for _ in range(200):
            try:
                self.client().ping()
            except (RedisError, OSError):
                time.sleep(0.02)
            else:
                return
        raise TimeoutError("the broker did not start")
