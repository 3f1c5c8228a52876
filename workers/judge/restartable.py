"""The candidate's process, started again a few times after it has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from app.domain.task import TaskBundle
from workers.judge.foreign import ForeignProcess, start_candidate
from workers.judge.submission import Submission
from workers.sandbox import Sandboxes

MAX_RESTARTS = 3


class GivenUp(Exception):
    """The candidate's process ended too often."""


class Restartable:
    """The candidate's process.  It may be importing its framework before it is given any code to run."""

    def __init__(self, sandboxes: Sandboxes, bundle: TaskBundle, submission: Submission) -> None:
        self._start: Callable[[], ForeignProcess] = lambda: start_candidate(sandboxes, bundle, submission)
        self._restarts = 0
        self._logs: list[str] = []
        self._process: ForeignProcess | None = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def process(self) -> ForeignProcess:
        assert self._process is not None
        return self._process

    def restart(self) -> None:
        self._close()
        self._restarts += 1
        if self._restarts > MAX_RESTARTS:
            raise GivenUp
        self._process = self._start()

    def log(self) -> str:
        current = self._process.session.log if self._process else ""
        return "\n".join([*self._logs, current])

    def _close(self) -> None:
        if self._process is not None:
            self._logs.append(self._process.session.log)
            self._process.session.close()
            self._process = None
