"""A broker, a Celery worker and a scheduler as real processes, over settings of the test's own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.config import REPOSITORY, Settings
from app.kit.db import Database
from tests.broker import TestBroker
from tests.conftest import make_settings

QUICK = {
    "evaluation_lease_seconds": 2.0, "evaluation_beat_seconds": 0.5, "resend_after_seconds": 1.0,
    "sweep_every_seconds": 0.5, "experiment_seconds_max": 3,
    "engine_override": True, "engine": "tests.fakes:fake_engine",
}  # fmt: skip


@pytest.fixture
def broker() -> Iterator[TestBroker]:
    with TestBroker() as running:
        yield running


@pytest.fixture
def live_settings(settings: Settings, broker: TestBroker) -> Settings:
    return make_settings(settings.data_dir, broker_url=broker.url, **QUICK)


@pytest.fixture
def live_database(live_settings: Settings) -> Iterator[Database]:
    made = Database(live_settings)
    yield made
    made.close()


class Processes:
    """Starts our own programs and leaves none behind."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._settings, self._log = settings, log
        self._running: list[subprocess.Popen[bytes]] = []

    def worker(self) -> subprocess.Popen[bytes]:
        celery = ("celery", "--app", "workers.celery_app", "worker", "--concurrency", "1", "--loglevel", "INFO")
        quick = ("--without-gossip", "--without-mingle", "--without-heartbeat")
        return self.start("-m", *celery, *quick)

    def scheduler(self) -> subprocess.Popen[bytes]:
        return self.start("-m", "workers.scheduler")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        settings = self._settings
        environment = {
            "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONPATH": str(REPOSITORY),
            "WORKBENCH_DATA_DIR": str(settings.data_dir), "WORKBENCH_BROKER_URL": settings.broker_url,
            "WORKBENCH_DATABASE_URL": settings.database_url, "WORKBENCH_SECRET_KEY": settings.secret_key,
            **{f"WORKBENCH_{name.upper()}": str(value) for name, value in QUICK.items()},
        }  # fmt: skip
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=REPOSITORY,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """The whole group at once, as when a machine goes away."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def kill_all(self) -> None:
        for process in self._running:
            self.kill(process)


@pytest.fixture
def processes(live_settings: Settings, tmp_path: Path) -> Iterator[Processes]:
    running = Processes(live_settings, tmp_path / "processes.log")
    yield running
    running.kill_all()
    print((tmp_path / "processes.log").read_text()[-6000:])  # noqa: T201 - shown by pytest when the test failed


@dataclass
class House:
    """A database, a broker, a worker and a scheduler that run."""

    database: Database
    settings: Settings
    processes: Processes


@pytest.fixture(scope="module")
def house(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for all tests that kill nothing in it: a worker takes seconds to start."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(sqlite_template, folder / "workbench.db")
    with TestBroker() as broker:
        settings = make_settings(folder, broker_url=broker.url, **QUICK)
        processes, database = Processes(settings, folder / "processes.log"), Database(settings)
        processes.worker()
        processes.scheduler()
        yield House(database, settings, processes)
        processes.kill_all()
        database.close()


def wait_for(what: Callable[[], bool], seconds: float = 40.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            raise TimeoutError(f"still not so after {seconds} s")
        time.sleep(0.1)
