"""How a session ends, and what is said when there is no sandbox."""

from __future__ import annotations

from typing import Literal

Reason = Literal["exit", "signal", "time", "memory", "output", "protocol"]


class SandboxUnavailable(Exception):
    """No sandbox can be had here; the message says what to do."""


class Ended(Exception):
    """The foreign process is gone (or was ended) and answers no more.

    Attributes:
        reason: "exit" or "signal" as the process chose; "time", "memory" or "output" for a limit;
            "protocol" when it sent what is no frame. "memory" is said only when the kernel's
            counter proves it.
        exit_code: what it exited with, when it did.
        signal: the number of the signal that ended it, when one did.
        detail: one sentence for a person.
        log: the tail of its stdout and stderr.
    """

    def __init__(
        self, reason: Reason, exit_code: int | None = None, signal: int | None = None, detail: str = "", log: str = ""
    ) -> None:
        super().__init__(reason, exit_code, signal, detail, log)  # all of it, so that it survives pickling
        self.reason: Reason = reason
        self.exit_code = exit_code
        self.signal = signal
        self.detail = detail
        self.log = log

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"
