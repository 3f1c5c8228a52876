"""The ids under which pieces of evidence are linked and cited: the judge and the pages make them alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.domain.report import WorkloadResult


def cell_id(*parts: object) -> str:
    """The id of one piece of evidence, for example `numerics.tail.out0`."""
    return ".".join(re.sub(r"[^A-Za-z0-9_-]+", "-", str(part)).strip("-") or "x" for part in parts)


def run_keys(runs: Iterable[WorkloadResult]) -> list[str]:
    """The middle part of each run's cells: the workload's name, and what was special about a further run of it."""
    seen: set[str] = set()
    keys = []
    for run in runs:
        keys.append(cell_id(run.name) if run.name not in seen else cell_id(f"{run.name}-{run.family}"))
        seen.add(run.name)
    return keys
