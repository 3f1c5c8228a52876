"""A running service of one's own, with a submitter's token, for measurements."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

REPOSITORY = Path(__file__).resolve().parents[1]
START_SECONDS = 120


@dataclass
class Service:
    """The service's REST interface as a submitter sees it."""

    client: httpx.Client

    def submit(self, task: str, source: str) -> str:
        """Upload; returns the evaluation's id."""
        answer = self.client.post("/api/v1/submissions", json={"task": task, "files": {"submission.py": source}})
        answer.raise_for_status()
        return answer.json()["evaluations"][-1]["id"]

    def wait(self, evaluation: str, timeout_s: float = 300) -> dict[str, str]:
        """Poll until the evaluation has ended; returns its row."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            row = self.client.get(f"/api/v1/evaluations/{evaluation}").raise_for_status().json()
            if row["state"] in ("done", "failed"):
                return row
            time.sleep(0.01)
        raise TimeoutError(f"{evaluation} did not end in {timeout_s} s")


@contextmanager
def running(tasks: list[Path], concurrency: int = 1) -> Iterator[Service]:
    """`workbench serve` on a fresh data folder with `tasks` in it; stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="bench-") as data_dir:
        os.environ["WORKBENCH_DATA_DIR"] = data_dir
        token = _seed(tasks)
        port = _free_port()
        command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port), "--concurrency", str(concurrency)]
        with (Path(data_dir) / "serve.log").open("wb") as log:
            served = subprocess.Popen(command, cwd=REPOSITORY, stdout=log, stderr=subprocess.STDOUT)
        try:
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
                _wait_until_up(client, served, Path(data_dir) / "serve.log")
                yield Service(client)
        finally:
            served.send_signal(signal.SIGINT)
            served.wait(60)


def _seed(tasks: list[Path]) -> str:
    """Migrate, make a submitter, upload the tasks; returns a token."""
    from app.accounts import policy, service
    from app.config import Settings
    from app.domain.review import Role
    from app.kit.db import Database
    from app.supervisor import prepare
    from app.tasks import service as task_service

    settings = Settings()
    prepare.migrate(settings)
    with Database(settings).write() as session:
        roles = [Role.SUBMITTER, Role.REVIEWER, Role.ADMIN]
        user = service.create_user(session, login="bench", name="Bench", roles=roles)
        for task in tasks:
            task_service.upload_folder(session, settings, task, actor_id=user.id)
        viewer = policy.viewer_of(user)
        _, secret = service.create_token(session, settings, viewer, name="bench", scopes=["read", "submit"])
    return secret


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_up(client: httpx.Client, served: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and served.poll() is None:
        try:
            if client.get("/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError(f"the service did not start:\n{log.read_text()[-2000:]}")
