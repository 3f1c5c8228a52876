"""What the review page shows beside the evidence: criteria with what was answered, hinted, capped and missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain import informers
from app.domain.report import StageStatus
from app.domain.review import Decision
from app.domain.rubric import CANNOT_JUDGE, NOT_APPLICABLE
from app.evaluations.panels import Evidence, FindingRow
from app.kit import pages
from app.models import RubricVersion, Ruling
from app.reviews import scoring
from app.reviews.designs import Design
from app.rubrics.content import CriterionContent, RubricContent, as_rubric

EMPTY_SCORE: dict[str, Any] = {"level": None, "state": "scored", "rationale": "", "evidence": [], "false_because": ""}
DECISIONS = tuple(Decision)
CONFIDENCES = ((1, "guess"), (2, "fairly sure"), (3, "certain"))


@dataclass(frozen=True)
class ShownRuling:
    """A ruling on the criterion; `read_at` is when this reviewer acknowledged it, `ticked` that they are about to."""

    ruling: Ruling
    read_at: dt.datetime | None = None
    ticked: bool = False


@dataclass(frozen=True)
class CriterionView:
    """A criterion on the page; nothing is pre-filled.  `proposal` is why it may be one that nobody can judge here."""

    content: CriterionContent
    score: Mapping[str, Any]
    applies: bool = True
    cap: tuple[int, str] | None = None
    findings: tuple[FindingRow, ...] = ()
    proposal: str = ""
    problem: str = ""
    rulings: tuple[ShownRuling, ...] = ()

    @property
    def answer(self) -> str:
        """The value of the radio button that is chosen; empty for none."""
        if self.score["state"] in (NOT_APPLICABLE, CANNOT_JUDGE):
            return str(self.score["state"])
        return "" if self.score["level"] is None else str(self.score["level"])


def criteria_of(
    version: RubricVersion,
    *,
    kind: str,
    framework: str,
    scores: Mapping[str, Any],
    evidence: Evidence | Design | None,
    problems: Mapping[str, str] | None = None,
    rulings: Sequence[ShownRuling] = (),
) -> list[CriterionView]:
    whole = RubricContent.model_validate(version.content)
    caps = scoring.caps(as_rubric(whole), _as_report(evidence))
    return [
        CriterionView(
            content=c,
            score={**EMPTY_SCORE, **scores.get(c.key, {})},
            applies=_applies(c, kind, framework),
            cap=caps.get(c.key),
            findings=_informing(c, evidence),
            # What an error finding speaks of can be judged, whatever else was not measured.
            proposal="" if c.key in caps else _proposal(c, evidence),
            problem=(problems or {}).get(c.key, ""),
            rulings=tuple(shown for shown in rulings if shown.ruling.criterion == c.key),
        )
        for c in whole.criteria
    ]


def titles_of(version: RubricVersion) -> dict[str, str]:
    return {c.key: c.title for c in RubricContent.model_validate(version.content).criteria}


def preview_of(content: RubricContent) -> list[CriterionView]:
    """The same for the rubric editor: as a reviewer sees it, with nothing answered."""
    return [CriterionView(content=c, score=EMPTY_SCORE) for c in content.criteria]


def _as_report(evidence: Evidence | Design | None) -> dict[str, Any] | None:
    if isinstance(evidence, Design):
        return evidence.health.as_report()
    return evidence.report.to_json() if evidence else None


def _applies(criterion: CriterionContent, kind: str, framework: str) -> bool:
    fits_kind = not criterion.kinds or kind in criterion.kinds
    return fits_kind and (not criterion.frameworks or framework in criterion.frameworks)


def _informing(criterion: CriterionContent, evidence: Evidence | Design | None) -> tuple[FindingRow, ...]:
    if evidence is None:
        return ()
    rules = (*criterion.informed_by, *criterion.caps)
    return tuple(row for row in evidence.findings if any(informers.covers(rule, row.finding.code) for rule in rules))


def _proposal(criterion: CriterionContent, evidence: Evidence | Design | None) -> str:
    """The stages that inform the criterion and were not measured, as a reason why it cannot be judged."""
    if not isinstance(evidence, Evidence):
        return ""
    stages = [informers.stage_of(key) for key in criterion.informed_by]
    deciding = [evidence.stage(stage) for stage in dict.fromkeys(stages) if stage is not None]
    unmeasured = [s for s in deciding if s.status is StageStatus.NOT_MEASURED]
    if not unmeasured or len(unmeasured) < len(deciding):
        return ""
    reasons = [(s.reason or "no reason given").removeprefix("not measured here: ") for s in unmeasured]
    return "; ".join(
        f"{s.name.value} was not measured: {reason}" for s, reason in zip(unmeasured, reasons, strict=True)
    )


# The rubric editor shows a draft as a reviewer will see it, though rubrics stand below reviews in the street.
pages.FILTERS["criteria_preview"] = preview_of
