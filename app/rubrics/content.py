"""A rubric as data: read from YAML or JSON with every fault named, written back, and hashed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from app.domain.rubric import LEVELS, Criterion, Rubric
from app.errors import Invalid

WEIGHT_TOTAL = 100
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same safe subset, ten times as fast


class CriterionContent(BaseModel):
    """One criterion; `levels` names what is observable at each level, `examples` anchors them."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    title: str = Field(min_length=1, max_length=120)
    guidance: str = ""
    weight: float = Field(0, ge=0, le=WEIGHT_TOTAL)
    levels: dict[int, str]
    examples: dict[int, str] = {}
    gate: bool = False
    rationale_at_or_below: int = 1
    evidence_levels: list[int] = [0, 1]
    informed_by: list[str] = []
    caps: dict[str, int] = {}
    kinds: list[str] = []
    frameworks: list[str] = []
    grader_notes: str = ""

    @field_validator("levels")
    @classmethod
    def _known_levels(cls, levels: dict[int, str]) -> dict[int, str]:
        if not levels or not set(levels) <= set(LEVELS):
            raise ValueError(f"levels are {', '.join(map(str, LEVELS))}")
        return dict(sorted(levels.items(), reverse=True))

    @model_validator(mode="after")
    def _gate_has_two_ends(self) -> CriterionContent:
        needed = {0, 3} if self.gate else set(LEVELS)
        if missing := needed - set(self.levels):
            raise ValueError(f"{self.key}: describe level {', '.join(map(str, sorted(missing)))}")
        return self


class RubricContent(BaseModel):
    """A whole rubric.  `subject` is submission or task_version; `kinds` are the task kinds it is for."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(pattern=r"^[a-z][a-z0-9-]{0,59}$")
    title: str = Field(min_length=1, max_length=200)
    subject: str = Field("submission", pattern="^(submission|task_version)$")
    kinds: list[str] = []
    criteria: list[CriterionContent] = Field(min_length=1)

    @model_validator(mode="after")
    def _keys_and_weights(self) -> RubricContent:
        keys = [c.key for c in self.criteria]
        if repeated := sorted({k for k in keys if keys.count(k) > 1}):
            raise ValueError(f"criteria are there twice: {', '.join(repeated)}")
        total = sum(c.weight for c in self.criteria)
        if abs(total - WEIGHT_TOTAL) > 1e-6:
            raise ValueError(f"weights sum to {total:g}, not {WEIGHT_TOTAL}")
        return self


def read_yaml(text: str) -> RubricContent:
    """Parse YAML (JSON is YAML too)."""
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - both loaders are the safe one
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date like 2026-99-99 is a ValueError
        raise Invalid(f"not YAML: {error}", what_to_do="Correct the line named.") from None
    return read(data)


def read(data: Any) -> RubricContent:
    try:
        return RubricContent.model_validate(data)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc'])) or 'rubric'}: {e['msg']}" for e in error.errors()]
        raise Invalid(
            "the rubric has errors: " + problems[0], what_to_do="Correct what is listed.", problems=problems
        ) from None


def write_yaml(content: RubricContent) -> str:
    """What `read_yaml` reads back to the same content; fields at their default are left out."""
    data = content.model_dump(exclude_defaults=True)
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def sha256_of(content: RubricContent) -> str:
    data = json.dumps(content.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(data.encode()).hexdigest()


def as_rubric(content: RubricContent | dict[str, Any]) -> Rubric:
    """The domain's rubric, which counts totals and finds what is missing."""
    whole = content if isinstance(content, RubricContent) else RubricContent.model_validate(content)
    return Rubric(whole.key, whole.title, tuple(_as_criterion(c) for c in whole.criteria), tuple(whole.kinds))


def _as_criterion(content: CriterionContent) -> Criterion:
    return Criterion(
        key=content.key, title=content.title, guidance=content.guidance, weight=content.weight, levels=content.levels,
        gate=content.gate, rationale_at_or_below=content.rationale_at_or_below,
        evidence_levels=tuple(content.evidence_levels), informed_by=tuple(content.informed_by), caps=content.caps,
        kinds=tuple(content.kinds), frameworks=tuple(content.frameworks),
    )  # fmt: skip
