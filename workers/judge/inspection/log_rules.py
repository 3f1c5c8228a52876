"""Rules over what a submission printed: lines that imitate a harness.

A hit asks a person; nothing reads the log as a result.
"""

from __future__ import annotations

import re

MAX_LINES = 5
_FORGERIES = (
    re.compile(r"^\s*(check|test|benchmark)[\w.]*\s*[:=]\s*(pass|ok\b|success|\d)", re.IGNORECASE),
    re.compile(r"\ball (tests|checks|cases)( have)? pass", re.IGNORECASE),
    re.compile(r"^\W*(PASSED|ACCEPTED|CORRECT)\b"),
    re.compile(
        r"[\"']?\b(verdict|is_?correct|correct|passed|correctness)[\"']?\s*[:=]\s*[\"']?(true|accepted|pass|ok\b|1\b)",
        re.IGNORECASE,
    ),
    re.compile(r"[\"']?\b(speed_?up|score|runtime_us|latency_ms)[\"']?\s*[:=]\s*[\"']?\d", re.IGNORECASE),
)


def forged_lines(log: str) -> list[str]:
    """The first lines of `log` that look like a harness's result."""
    found = [line.strip()[:200] for line in log.splitlines() if any(rule.search(line) for rule in _FORGERIES)]
    return found[:MAX_LINES]
