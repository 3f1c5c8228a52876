"""A rubric as data: read from YAML or JSON with every fault named, written back, and hashed."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from app.domain.rubric import LEVELS, Criterion, Rubric
from app.errors import Invalid
from app.kit import strict_json
from app.models import RubricVersion

WEIGHT_TOTAL = 100
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same safe subset, ten times as fast


class _Dumper(yaml.SafeDumper):
    """Quotes the rarer line breaks, which YAML would fold into blanks."""


def _quoted(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = '"' if any(character in text for character in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _quoted)


class CriterionContent(BaseModel):
    """One criterion; `levels` names what is observable at each level, `examples` anchors them.

    `still_asked` is for a gate: the criteria that are scored even when it is closed.
    """

    model_config = ConfigDict(extra="forbid")

    key: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    title: str = Field(min_length=1, max_length=120)
    guidance: str = ""
    weight: float = Field(0.0, ge=0, le=WEIGHT_TOTAL)
    levels: dict[int, str]
    examples: dict[int, str] = {}
    gate: bool = False
    rationale_at_or_below: int = 1
    evidence_levels: list[int] = [0, 1]
    informed_by: list[str] = []
    caps: dict[str, int] = {}
    kinds: list[str] = []
    frameworks: list[str] = []
    still_asked: list[str] = []
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
        if strangers := sorted({k for c in self.criteria for k in c.still_asked} - set(keys)):
            raise ValueError(f"still_asked names no criterion of this rubric: {', '.join(strangers)}")
        total = sum(c.weight for c in self.criteria)
        if abs(total - WEIGHT_TOTAL) > 1e-6:
            raise ValueError(f"weights sum to {total:g}, not {WEIGHT_TOTAL}")
        return self


def read_yaml(text: str) -> RubricContent:
    """Parse YAML (JSON is YAML too)."""
    return read(parse(text))


def parse(text: str) -> Any:
    """What the YAML says, before anybody asks whether it is a rubric."""
    if text.lstrip().startswith("{") and (data := _parse_json(text)) is not None:
        return data
    try:
        loader = _Loader(text)
    except yaml.YAMLError as error:
        raise Invalid(f"not YAML: {error}", what_to_do="Take the character out.") from None
    try:
        node = loader.get_single_node()
        _refuse_repeated_keys(node)
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date like 2026-99-99 is a ValueError
        raise Invalid(f"not YAML: {error}", what_to_do="Correct the line named.") from None
    finally:
        loader.dispose()


def _parse_json(text: str) -> Any:
    """Almost all JSON is YAML too, but not every character in it; None for what is no JSON after all."""
    try:
        return strict_json.read(text, "the rubric")
    except Invalid:
        return None


def read(data: Any) -> RubricContent:
    """Check the data; `problems` says each fault in words, `places` where each stands."""
    try:
        return RubricContent.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        places = [[part for part in fault["loc"] if part != "[key]"] for fault in faults]
        said = [_in_words(fault["type"], fault["msg"], place) for fault, place in zip(faults, places, strict=True)]
        problems = [f"{named(data, place)}: {words}" for place, words in zip(places, said, strict=True)]
        raise Invalid(
            "the rubric has errors: " + problems[0], what_to_do="Correct what is listed.",
            problems=problems, places=places,
        ) from None  # fmt: skip


def _in_words(kind: str, message: str, place: Sequence[str | int]) -> str:
    if kind == "extra_forbidden":
        known = CriterionContent.model_fields if place[0] == "criteria" else RubricContent.model_fields
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        return f"unknown key; did you mean {near[0]!r}?" if near else f"unknown key; there are {', '.join(known)}"
    return message.removeprefix("Value error, ")


def named(data: Any, place: Sequence[str | int]) -> str:
    """The place in words: a criterion by its key where it has one, else by its number."""
    parts = [str(part) for part in place]
    if len(place) > 1 and place[0] == "criteria":
        criterion = data["criteria"][place[1]]
        key = criterion.get("key") if isinstance(criterion, dict) else None
        parts[:2] = [key if isinstance(key, str) else f"criterion {int(place[1]) + 1}"]
    return ".".join(parts) or "rubric"


def line_of(text: str, place: Sequence[str | int]) -> int:
    """The line (from 1) on which the deepest part of `place` stands in the YAML."""
    try:
        node, line = yaml.compose(text, _Loader), 1
    except yaml.YAMLError:  # JSON with a character that YAML does not take
        return 1
    for part in place:
        found = _child(node, part)
        if found is None:
            break
        line, node = found
    return line


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None


def _refuse_repeated_keys(node: yaml.Node | None) -> None:
    """YAML would keep the last of two and say nothing."""
    waiting, seen = [node], set()
    while waiting:
        here = waiting.pop()
        if id(here) in seen or not isinstance(here, yaml.CollectionNode):
            continue
        seen.add(id(here))
        if isinstance(here, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in here.value:
                if isinstance(key, yaml.ScalarNode) and key.value in keys:
                    raise ValueError(f"line {key.start_mark.line + 1}: the key {key.value[:80]!r} is there twice")
                keys.add(str(key.value))
                waiting.append(value)
        else:
            waiting += here.value


def write_yaml(content: RubricContent) -> str:
    """What `read_yaml` reads back to the same content; fields at their default are left out."""
    return yaml.dump(_written(content, "python"), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=115)


def write_json(content: RubricContent) -> str:
    """The same as JSON, for programs."""
    return json.dumps(_written(content), ensure_ascii=False, indent=2) + "\n"


def sha256_of(content: RubricContent) -> str:
    """Of the canonical JSON without defaults, so that a field of tomorrow leaves the hashes of today alone."""
    data = json.dumps(_written(content), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(data.encode()).hexdigest()


def _written(content: RubricContent, mode: Literal["json", "python"] = "json") -> dict[str, Any]:
    """Without defaults, and with a weight of thirty as 30 and not as 30.0."""
    data = content.model_dump(mode=mode, exclude_defaults=True)
    for criterion in data["criteria"]:
        if criterion.get("weight", 0.5).is_integer():
            criterion["weight"] = int(criterion["weight"])
    return data


def as_rubric(content: RubricContent | dict[str, Any]) -> Rubric:
    """The domain's rubric, which counts totals and finds what is missing."""
    whole = content if isinstance(content, RubricContent) else RubricContent.model_validate(content)
    return Rubric(whole.key, whole.title, tuple(_as_criterion(c) for c in whole.criteria), tuple(whole.kinds))


def rubric_of(version: RubricVersion) -> Rubric:
    """The same of a version; what is published never changes, so it is read once."""
    if version.sha256 is None:
        return as_rubric(version.content)
    if version.sha256 not in _PUBLISHED:
        _PUBLISHED[version.sha256] = as_rubric(version.content)
    return _PUBLISHED[version.sha256]


_PUBLISHED: dict[str, Rubric] = {}  # by the hash of the content; a house has dozens


def _as_criterion(content: CriterionContent) -> Criterion:
    return Criterion(
        key=content.key, title=content.title, guidance=content.guidance, weight=content.weight, levels=content.levels,
        gate=content.gate, rationale_at_or_below=content.rationale_at_or_below,
        evidence_levels=tuple(content.evidence_levels), informed_by=tuple(content.informed_by), caps=content.caps,
        kinds=tuple(content.kinds), frameworks=tuple(content.frameworks), still_asked=tuple(content.still_asked),
    )  # fmt: skip
