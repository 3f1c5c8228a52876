"""What a check concludes."""

from __future__ import annotations

from typing import NamedTuple


class Result(NamedTuple):
    """The pair that a task's `check` returns; true where `ok` is, so results are joined with `and`."""

    ok: bool
    message: str

    def __bool__(self) -> bool:
        return self.ok


def passed(message: str = "as wanted") -> Result:
    return Result(True, message)


def refused(message: str) -> Result:
    return Result(False, message)
