"""What may inform a criterion, each named by a key: findings, stages, and what the report measures.

A key is a finding's code (`numerics.wrong_values`), all codes that begin alike (`numerics.*`), a stage
(`sanitize`), or a field of the report by its path (`workloads.outputs.max_ulp`; lists need no index).
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from typing import Any

from app.domain.findings import REGISTER
from app.domain.report import Report, StageName

# A contradicted claim caps like a finding, though no finding says it.
CLAIM_CONTRADICTED = "claims.contradicted"

# The report keeps these as open tables; here is what the pages read from them.
_OPEN_FIELDS: dict[str, tuple[str, ...]] = {
    "benchmark": (
        "workloads.candidate.median_us",
        "workloads.speedup",
        "workloads.speedup_interval",
        "workloads.floor_us",
    ),
}

# The stage that has to be measured before what begins with this word can be known.
_STAGE_OF = {
    "builds": StageName.COMPILE,
    "numerics": StageName.CORRECTNESS,
    "workloads": StageName.CORRECTNESS,
    "fairness": StageName.BENCHMARK,
    "runtime": StageName.SANITIZE,
}


def covers(rule: str, code: str) -> bool:
    """Whether `rule`, a code or (ending in `*`) the beginning of some, speaks of `code`."""
    return code.startswith(rule[:-1]) if rule.endswith("*") else code == rule


def is_code(rule: str) -> bool:
    """Whether the rule names a registered finding, or the beginning of one; a contradicted claim counts."""
    return any(covers(rule, code) for code in (*REGISTER, CLAIM_CONTRADICTED))


def is_informer(key: str) -> bool:
    """Whether the key names a finding, a stage, or a field of the report."""
    return is_code(key) or key in StageName.__members__.values() or _is_field(key)


def stage_of(key: str) -> StageName | None:
    """The stage that decides about what the key names; None where no stage does."""
    word = key.partition(".")[0]
    return StageName(word) if word in StageName.__members__.values() else _STAGE_OF.get(word)


def nearest(key: str) -> str | None:
    """The known key that was probably meant."""
    known = [*REGISTER, *(s.value for s in StageName), *_fields(Report), *_open_fields()]
    return next(iter(difflib.get_close_matches(key, known, n=1)), None)


def _is_field(key: str) -> bool:
    return key in _fields(Report) or key in _open_fields()


def _open_fields() -> list[str]:
    return [f"{field}.{path}" for field, paths in _OPEN_FIELDS.items() for path in paths]


def _fields(kind: Any, before: str = "") -> list[str]:
    """Every path into `kind`, through dataclasses and tuples of them."""
    found = []
    for name, annotation in typing.get_type_hints(kind).items():
        found.append(f"{before}{name}")
        inner = _element(annotation)
        if dataclasses.is_dataclass(inner):
            found += _fields(inner, f"{before}{name}.")
    return found


def _element(annotation: Any) -> Any:
    """`X` of `tuple[X, ...]` and of `X | None`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return _element(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return next(a for a in arguments if a is not type(None))
    return annotation
