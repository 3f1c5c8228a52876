"""Rubrics: criteria with levels, and the total that a scored review gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LEVELS = (0, 1, 2, 3)
NOT_APPLICABLE = "not_applicable"
CANNOT_JUDGE = "cannot_judge"


@dataclass(frozen=True)
class Criterion:
    """One thing to score.  `levels` maps 0..3 to what is observable there; a gate may define two only.

    `still_asked` are the criteria that a closed gate leaves open; the others are then not applicable.
    """

    key: str
    title: str
    guidance: str
    weight: float
    levels: Mapping[int, str]
    gate: bool = False
    rationale_at_or_below: int = 1
    evidence_levels: tuple[int, ...] = (0, 1)
    informed_by: tuple[str, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    still_asked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rubric:
    key: str
    title: str
    criteria: tuple[Criterion, ...]
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Score:
    """A reviewer's answer to one criterion: a level, or `not_applicable` / `cannot_judge` with a reason.

    `false_because` says, of a level above a finding's cap, why that finding is false.
    """

    level: int | None
    state: str = "scored"
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    false_because: str = ""


@dataclass(frozen=True)
class Total:
    """`points` of 100, or None with the gate that closed or the reason there is none."""

    points: float | None
    gated_by: str | None = None
    reason: str | None = None


def total(rubric: Rubric, scores: Mapping[str, Score]) -> Total:
    """Weighted mean of the applicable scored criteria, times 100/3; a gate at level 0 shows as gated."""
    for criterion in rubric.criteria:
        score = scores.get(criterion.key)
        if criterion.gate and score is not None and score.level == 0:
            return Total(None, gated_by=criterion.key)
    scored = [(c.weight, scores[c.key].level) for c in rubric.criteria if c.key in scores and c.weight > 0]
    weighed = [(weight, level) for weight, level in scored if level is not None]
    weight_sum = sum(weight for weight, _ in weighed)
    if weight_sum == 0:
        return Total(None, reason="no weighted criterion is scored")
    return Total(sum(weight * level for weight, level in weighed) / weight_sum * 100 / 3)


def problems(rubric: Rubric, scores: Mapping[str, Score]) -> dict[str, str]:
    """What keeps a review from being submitted: criterion key -> a sentence saying what to add."""
    asked = _asked(rubric, scores)
    found: dict[str, str] = {}
    for criterion in rubric.criteria:
        score = scores.get(criterion.key)
        if score is None:
            if criterion.key in asked:
                found[criterion.key] = "not scored yet"
        elif (sentence := _problem(criterion, score)) is not None:
            found[criterion.key] = sentence
    return found


def _asked(rubric: Rubric, scores: Mapping[str, Score]) -> set[str]:
    """The criteria that need an answer: all, or those that every closed gate leaves open."""
    asked = {c.key for c in rubric.criteria}
    for criterion in rubric.criteria:
        score = scores.get(criterion.key)
        if criterion.gate and score is not None and score.level == 0:
            asked &= set(criterion.still_asked)
    return asked


def _problem(criterion: Criterion, score: Score) -> str | None:
    if score.state in (NOT_APPLICABLE, CANNOT_JUDGE):
        return None if score.rationale.strip() else "say why it is not applicable or cannot be judged"
    if score.level is None or score.level not in criterion.levels:
        return f"level must be one of {', '.join(map(str, sorted(criterion.levels)))}"
    if score.level <= criterion.rationale_at_or_below and not score.rationale.strip():
        return f"a level of {score.level} needs a rationale"
    if score.level in criterion.evidence_levels and not score.evidence:
        return f"a level of {score.level} needs one cited piece of evidence"
    return None
