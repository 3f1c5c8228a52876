"""The children as commands, and what must be true before any of them starts."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import sys
from dataclasses import dataclass
from typing import TextIO

from app.config import Settings
from app.supervisor.children import ChildSpec
from app.supervisor.errors import AddressInUse, NothingToRunKernelsWith
from app.supervisor.web import DRAIN_SECONDS

_WORKER_DRAIN_SECONDS = 20.0


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @property
    def url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # noqa: S104 - where to look, not to listen
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"


def web(
    settings: Settings, address: Address, environment: dict[str, str], *, is_behind_proxy: bool = False
) -> list[ChildSpec]:
    """As many as the settings ask for, all on one address."""
    proxied = ("--behind-proxy",) if is_behind_proxy else ()
    command = (sys.executable, "-m", "app.supervisor.web", address.host, str(address.port), *proxied)
    return [
        ChildSpec(f"web-{number}", command, environment, stop_seconds=DRAIN_SECONDS + 5.0)
        for number in range(1, settings.web_processes + 1)
    ]


def worker(environment: dict[str, str], concurrency: int) -> ChildSpec:
    return ChildSpec(
        "worker",
        worker_command(concurrency),
        environment,
        stop_seconds=_WORKER_DRAIN_SECONDS,
        # Warm when asked; at once when the supervisor itself is gone, or jobs would outlive it by an hour.
        death_signal=signal.SIGKILL,
    )


def worker_command(concurrency: int) -> tuple[str, ...]:
    """A Celery worker; `WORKBENCH_*` tells it everything but how many jobs it runs at a time."""
    celery = (sys.executable, "-m", "celery", "--quiet", "--app", "workers.celery_app", "worker")
    # Workers need nothing of each other: the database tells who holds what.
    alone = ("--without-gossip", "--without-mingle")
    return (*celery, *alone, "--pool", "prefork", "--concurrency", str(concurrency), "--loglevel", "INFO")


def default_concurrency() -> int:
    """Half the cores: an evaluation keeps more than one busy; two at least, so that small jobs pass."""
    return max(2, (os.cpu_count() or 2) // 2)


def scheduler(environment: dict[str, str]) -> ChildSpec:
    return ChildSpec("scheduler", (sys.executable, "-m", "workers.scheduler"), environment)


def require_free(address: Address) -> None:
    """Raises `AddressInUse` where somebody listens already, or where one may not listen."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise AddressInUse(f"Cannot listen on {address.host}:{address.port}: {error.strerror}.") from error
            raise AddressInUse(
                f"Port {address.port} on {address.host} is in use; "
                "stop what listens there or choose another with --port."
            ) from error


def require_runtimes(settings: Settings) -> None:
    """Raises `NothingToRunKernelsWith` when a runtime is named that is not there, or none is."""
    for name, python in settings.runtimes.items():
        if not os.access(python, os.X_OK):
            raise NothingToRunKernelsWith(
                f"The {name} runtime is missing: there is no interpreter at {python}. Run `make setup`, "
                "or name another in WORKBENCH_RUNTIMES."
            )
    if not settings.runtimes:
        raise NothingToRunKernelsWith(
            "No runtime is installed, so no kernel could be run. Run `make setup`, or name the interpreter of one "
            "in WORKBENCH_RUNTIMES."
        )


def lock_data_folder(settings: Settings) -> TextIO:
    """Held open for as long as the supervisor lives; raises `AddressInUse` when another holds it."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    lock = (settings.data_dir / "serve.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise AddressInUse(
            f"Another `workbench serve` (process {holder}) uses {settings.data_dir}; "
            "stop it, or set WORKBENCH_DATA_DIR to another folder."
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock
