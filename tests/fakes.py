"""Hand-written stand-ins for the dangerous boundaries: the broker, and the engine that runs kernels."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.domain.report import Report, Stage, StageName, StageStatus
from app.domain.request import EvaluationRequest
from app.kit.queue import Sender
from tests import factories


class FakeSender(Sender):
    """Keeps what was sent instead of sending it; `is_down` makes every send fail."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, dict[str, Any]]] = []
        self.notices: list[str] = []
        self.is_down = False

    def send(self, job: str, arguments: dict[str, Any], queue: str) -> bool:
        if not self.is_down:
            self.jobs.append((job, arguments))
        return not self.is_down

    def announce(self, channel: str) -> None:
        self.notices.append(channel)

    def depth(self, queue: str = "evaluations") -> int | None:
        return None if self.is_down else len(self.jobs)

    def warm_up(self) -> None:
        pass

    def close(self) -> None:
        pass


def fake_engine(request: EvaluationRequest, progress: Callable[[Stage], None]) -> Report:
    """Reads the submission's text to know what to do: `sleep N`, `fault`, `die`, else accepts it."""
    text = _text_of(request.submission)
    progress(Stage(StageName.INSPECT, StageStatus.PASSED, 0.001))
    for line in text.splitlines():
        word, _, rest = line.removeprefix("# ").partition(" ")
        if word == "fault":
            raise RuntimeError("the engine broke")
        if word == "die":
            os.kill(os.getpid(), 9)
        if word == "sleep":
            _sleep(float(rest), progress)
    return factories.make_report()


def _sleep(seconds: float, progress: Callable[[Stage], None]) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.05)
    progress(Stage(StageName.COMPILE, StageStatus.PASSED, seconds))


def _text_of(path: Path) -> str:
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return "\n".join(f.read_text() for f in files)
