"""The two foreign processes as the judge sees them: the task's reference and the candidate."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from app.domain.task import TaskBundle
from workers.judge import claims
from workers.judge.received import ANY, Received, Room
from workers.judge.submission import Submission
from workers.sandbox import Ended, Limits, Program, Sandboxes, Session
from workers.wire import frames, storage

# What interpreter and libraries need beside the memory that a task grants.
INTERPRETER_MEMORY_MB = 4096
KEPT_MEMORY_MB = 1024
IMPORT_SECONDS = 120.0
# Hundreds of inputs, each a descriptor and another for its mapping, in each of the calls that are kept.
OPEN_FILES = 4096
CALLS_A_WORKLOAD, LEAST_CALLS = 8, 40


@dataclass(eq=False)
class Raised(Exception):
    """Foreign code raised, or its process ended.  `facts` as `workers.wire.raised.describe` gives them."""

    facts: dict[str, Any]
    ended: Ended | None = None

    @property
    def kind(self) -> str:
        """One of: exception, exit, signal, time, memory, output, protocol."""
        if self.ended is not None:
            return self.ended.reason
        return "memory" if self.facts.get("out_of_memory") else "exception"

    @property
    def sentence(self) -> str:
        if self.ended is not None:
            return self.ended.detail
        return f"{self.facts.get('type', 'Error')}: {self.facts.get('message', '')}"[:500]


class ForeignProcess:
    """One sandboxed process and its protocol; a context manager that leaves nothing behind."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.session.close()

    def ask(self, op: str, fds: Sequence[int] = (), *, timeout_s: float, **fields: Any) -> dict[str, Any]:
        """One question whose answer holds no storages; raises `Raised` as `fetch` does."""
        told, unwanted = self.fetch(op, fds, timeout_s=timeout_s, **fields)
        storage.close_all(unwanted)
        return told

    def fetch(
        self, op: str, fds: Sequence[int] = (), *, timeout_s: float, **fields: Any
    ) -> tuple[dict[str, Any], list[int]]:
        """One question; the caller owns the descriptors of the answer.

        Raises `Raised` when the code behind it raised, the process ended, or the question is too large to be sent.
        """
        question = secrets.token_hex(8)
        try:
            reply = self.session.call({"op": op, "id": question, **fields}, fds, timeout_s=timeout_s)
        except Ended as ended:
            raise Raised({}, ended) from ended
        except frames.FrameError as error:
            raise Raised({"type": "TooLarge", "message": str(error)}) from error
        if reply.message.get("id") != question:
            # Our own code at the other end always repeats the number: somebody else wrote into the socket.
            self.session.close()
            storage.close_all(reply.fds)
            raise Raised({"forged": True}, Ended("protocol", detail="sent an answer that nobody asked for"))
        told = claims.facts(reply.message)
        if isinstance(failure := told.get("error"), dict):
            storage.close_all(reply.fds)
            raise Raised(failure)
        return told, reply.fds

    def receive(self, op: str, *, timeout_s: float, room: Room = ANY, **fields: Any) -> Received:
        """Ask for packed values; raises `Raised` or `NotAValue`."""
        message, fds = self.fetch(op, timeout_s=timeout_s, **fields)
        return Received.of(message, fds, room)


def start_reference(sandboxes: Sandboxes, bundle: TaskBundle) -> ForeignProcess:
    """A process for the task's own code, which sees nothing of the submission."""
    runtime = sandboxes.runtimes["jax" if _uses_jax(bundle.folder) else "torch"]
    program = Program(runtime, "workers.reference", {"/task": bundle.folder})
    return ForeignProcess(sandboxes.start(program, _limits(bundle)))


def start_candidate(sandboxes: Sandboxes, bundle: TaskBundle, submission: Submission) -> ForeignProcess:
    """A process for the submission, which sees nothing of the task."""
    program = Program(sandboxes.runtimes["torch"], "workers.candidate", {"/submission": submission.root})
    return ForeignProcess(sandboxes.start(program, _limits(bundle)))


def _limits(bundle: TaskBundle) -> Limits:
    calls = max(LEAST_CALLS, CALLS_A_WORKLOAD * len(bundle.spec.workloads))
    memory_mb = min(bundle.spec.limits.memory_mb + INTERPRETER_MEMORY_MB, _most_memory_mb())
    return Limits(
        memory_mb=memory_mb,
        cpu_seconds=None,
        open_files=OPEN_FILES,
        file_mb=memory_mb,  # a memfd counts as a file; real files only fit into the small private tmpfs
        wall_seconds=IMPORT_SECONDS + calls * bundle.spec.limits.seconds,
    )


def _most_memory_mb() -> int:
    """All that this machine has but a rest for ourselves: beyond it the kernel would choose whom to kill."""
    return max(512, (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20) - KEPT_MEMORY_MB)


def _uses_jax(folder: Path) -> bool:
    source = (folder / "reference.py").read_text(encoding="utf-8", errors="replace")
    return "import jax" in source and "import torch" not in source
