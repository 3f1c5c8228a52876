"""What a line of the queue says of a report, kept beside the subject: reports are long, and a page shows fifty."""

from __future__ import annotations

from typing import Any

from app.domain.report import Report, Tier
from app.evaluations.panels import Evidence


def summary_of(report: Report) -> dict[str, Any]:
    """The verdict's scope as a sentence, the title of the weightiest finding, and how many more there are."""
    top = Evidence(report).top
    return {
        "scope": report.scope.sentence(),
        "top": top[0].kind.title if top else None,
        "is_hard": bool(top) and top[0].finding.tier is Tier.HARD,
        "more": max(0, len(top) - 1),
    }
