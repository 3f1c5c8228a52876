"""One line of the doctor's table."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """`detail` says what was found; `how` how to get what is missing.

    Without what is `required` no kernel can be evaluated on this machine.
    """

    group: str
    name: str
    works: bool
    detail: str
    how: str = ""
    required: bool = False


def answer(
    command: Sequence[str], seconds: float = 10.0, environment: Mapping[str, str] | None = None
) -> tuple[bool, str]:
    """Whether `command` ends well, and the first line that it says (its last one when it fails)."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        return False, "not found"
    except (OSError, subprocess.SubprocessError) as error:
        return False, str(error)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if not lines:
        return done.returncode == 0, f"exit status {done.returncode}"
    return done.returncode == 0, lines[0] if done.returncode == 0 else lines[-1]
