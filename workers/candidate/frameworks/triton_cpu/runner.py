"""Runs the programs of a grid one after another, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from triton.runtime import interpreter as stock

from .guard import LaunchGuard
from .records import TooSlow

# Long enough to see a typical program, short enough that giving up is cheap.
_SAMPLE_SECONDS = 0.3


@dataclass
class Clock:
    """Interpretation time of one call, over all its launches, in seconds."""

    budget_seconds: float
    spent_seconds: float = 0.0


@dataclass
class GridRun:
    """One launch to run. `trial_seconds` limits a tuning trial, whose results nobody keeps."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    grid: tuple[int, int, int]
    guard: LaunchGuard
    trial_seconds: float | None = None

    def programs(self) -> Iterator[tuple[int, int, int]]:
        """Program ids, x fastest."""
        nx, ny, nz = self.grid
        return ((x, y, z) for z in range(nz) for y in range(ny) for x in range(nx))


def run_grid(run: GridRun, clock: Clock) -> int:
    """Runs the programs and returns how many ran; raises TooSlow once the budget cannot hold."""
    builder = stock.interpreter_builder
    total = run.grid[0] * run.grid[1] * run.grid[2]
    builder.set_grid_dim(*run.grid)
    builder.guard = run.guard
    start = time.perf_counter()
    done = 0
    try:
        for program in run.programs():
            builder.grid_idx = run.guard.program = program
            run.function(**run.arguments)
            done += 1
            elapsed = time.perf_counter() - start
            if _trial_is_over(run, elapsed):
                break
            _check_budget(run.name, clock, elapsed, done, total)
    finally:
        builder.guard = None
        clock.spent_seconds += time.perf_counter() - start
    return done


def _trial_is_over(run: GridRun, elapsed_seconds: float) -> bool:
    """A trial that has used atomics goes on: other programs may wait for counters to come back."""
    return run.trial_seconds is not None and elapsed_seconds > run.trial_seconds and not run.guard.atomics


def _check_budget(name: str, clock: Clock, elapsed_seconds: float, done: int, total: int) -> None:
    if elapsed_seconds < _SAMPLE_SECONDS or done == total:
        return
    estimate = clock.spent_seconds + elapsed_seconds / done * total
    if estimate > clock.budget_seconds:
        raise TooSlow(estimate, name)
