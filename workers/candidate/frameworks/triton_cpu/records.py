"""What one interpreted run reports: launches, observations, and the two reasons why it may stop."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from workers.candidate.frameworks.cuda_shim.unsupported import Unsupported

__all__ = ["Launch", "Observation", "Specialisation", "TooSlow", "Unsupported"]


class TooSlow(Exception):
    """Interpreting the launch would take longer than the call's budget; nothing is wrong with the kernel.

    `estimate_seconds` is the time already spent in this call plus the extrapolated rest of the launch.
    """

    def __init__(self, estimate_seconds: float, kernel: str) -> None:
        super().__init__(f"{kernel} would need about {estimate_seconds:.1f} s to interpret")
        self.estimate_seconds = estimate_seconds
        self.kernel = kernel


@dataclass
class Specialisation:
    """What the real compiler would be given for one launch; process-local, not JSON."""

    function: Any
    signature: dict[str, Any]
    constexprs: dict[tuple[int, ...], Any]
    attributes: dict[tuple[int, ...], Any]
    options: Any


@dataclass
class Launch:
    """One launch of a kernel; bytes are those its active lanes asked for, before any cache.

    `computes` is False where every value that it stored had been loaded by the same program: it only moved
    data.  None where nobody looked.
    """

    kernel: str
    file: str
    line: int
    grid: tuple[int, int, int]
    programs: int
    seconds: float
    skipped: bool
    constexprs: dict[str, str]
    signature: dict[str, str]
    num_warps: int
    num_stages: int
    bytes_read: int = 0
    bytes_written: int = 0
    failed: bool = False
    computes: bool | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    specialisation: Specialisation | None = field(default=None, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """The record in plain JSON types, without the process-local specialisation."""
        plain = {name: value for name, value in vars(self).items() if name != "specialisation"}
        return plain | {"grid": list(self.grid)}


@dataclass
class Observation:
    """One thing seen while running, counted per kernel and line; `evidence` holds plain JSON types."""

    code: str
    message: str
    file: str | None
    line: int | None
    evidence: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The record in plain JSON types."""
        return asdict(self)
