"""What a line of the queue says of a report, kept beside the subject: reports are long, and a page shows fifty."""

from __future__ import annotations

from typing import Any

from app.domain.findings import REGISTER
from app.domain.report import Report, Severity, Tier

_GRAVEST_FIRST = (Severity.ERROR, Severity.WARNING)
_TIERS = (Tier.HARD, None, Tier.SUPPORT, Tier.TELEMETRY)


def summary_of(report: Report) -> dict[str, Any]:
    """The verdict's scope as a sentence, the title of the weightiest finding, and how many other kinds there are."""
    found = [f for f in report.findings if f.severity in _GRAVEST_FIRST]
    found.sort(key=lambda f: (_GRAVEST_FIRST.index(f.severity), _TIERS.index(f.tier)))
    top = found[0] if found else None
    kind = REGISTER.get(top.code) if top else None
    return {
        "scope": report.scope.sentence(),
        "top": kind.title if kind else top.code if top else None,
        "is_hard": top is not None and top.tier is Tier.HARD,
        "more": max(0, len({f.code for f in found}) - 1),
    }
