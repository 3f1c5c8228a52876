"""What an author claims of a kernel: `claims.json`, a list of statements, each with the conditions it is meant under.

A statement is an object with one of the keys of `KINDS` and that key's conditions, or plain text.  Errors name the
statement and the field.  What no machine can check (`text`, `root_cause`) is kept for a person to judge.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.schema import Field, Problem, check_table
from app.domain.task import ENVIRONMENT

FILE = "claims.json"
CLAIMS_MAX = 50
BYTES_MAX = 64 << 10
TEXT_LENGTH_MAX = 2_000

FREE = ("text", "root_cause")
ERRORS = ("max_abs_error", "max_rel_error", "max_ulp")
NEED_DEVICE = ("speedup", "latency_us", "memory_mb")

_DTYPES = {
    "float64": ("fp64", "f64", "double"),
    "float32": ("fp32", "f32", "float"),
    "float16": ("fp16", "f16", "half"),
    "bfloat16": ("bf16",),
    "float8_e4m3fn": ("fp8e4m3", "e4m3"),
    "float8_e5m2": ("fp8e5m2", "e5m2"),
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128"), ()),
}
DTYPE_OF = {alias: name for name, aliases in _DTYPES.items() for alias in (name, f"torch.{name}", *aliases)}

_WORKLOADS = Field(list, not_empty=True, items=Field(str))
_DEVICE = Field(str)
_ERROR = {
    "output": Field(str),
    "workloads": _WORKLOADS,
    "against": Field(str, choices=("exact", "reference")),
    "device": _DEVICE,
}
_AXIS = {
    "min": Field(int, required=True, minimum=0),
    "max": Field(int, required=True, minimum=0),
    "multiple_of": Field(int, minimum=1),
}
# Each kind: what its own key holds, and the conditions that may stand beside it.
KINDS: dict[str, tuple[Field, dict[str, Field]]] = {
    "speedup": (
        Field(float, above=0),
        {"baseline": Field(str, required=True), "device": Field(str, required=True), "workloads": _WORKLOADS},
    ),
    "latency_us": (Field(float, above=0), {"device": Field(str, required=True), "workloads": _WORKLOADS}),
    "memory_mb": (Field(float, above=0), {"device": _DEVICE, "workloads": _WORKLOADS}),
    **{kind: (Field(float, minimum=0), _ERROR) for kind in ERRORS},
    "dtypes": (Field(list, not_empty=True, items=Field(str, choices=tuple(DTYPE_OF))), {"device": _DEVICE}),
    "shapes": (Field(dict, each=Field(dict, table=_AXIS)), {"device": _DEVICE}),
    "deterministic": (Field(bool, choices=(True,)), {"workloads": _WORKLOADS, "device": _DEVICE}),
    "environments": (Field(list, not_empty=True, items=ENVIRONMENT), {}),
    "max_launches": (Field(int, minimum=1), {"workloads": _WORKLOADS}),
    "root_cause": (Field(str), {}),
    "text": (Field(str), {}),
}


class ClaimsError(ValueError):
    """`claims.json` cannot be read; the message names the statement and the field, `what_to_do` the way out."""

    what_to_do = "Correct it; what the workbench cannot check goes under `text`, for a person to judge."


@dataclass(frozen=True)
class Stated:
    """One claim: its kind (a key of `KINDS`), the value under that key, and the conditions it was made under."""

    kind: str
    value: Any
    conditions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def workloads(self) -> tuple[str, ...]:
        """Those that the claim is about; empty: all."""
        return tuple(self.conditions.get("workloads", ()))

    @property
    def sentence(self) -> str:
        """The claim in words, its conditions with it."""
        said = self.conditions
        parts = [
            _STATEMENTS[self.kind](self.value),
            f"faster than {said['baseline']}" if "baseline" in said else "",
            f"in `{said['output']}`" if "output" in said else "",
            {"exact": "from the exact result", "reference": "from the reference"}.get(said.get("against", ""), ""),
            f"on workload {', '.join(said['workloads'])}" if self.workloads else "",
            f"on {said['device']}" if "device" in said else "",
        ]
        return " ".join(part for part in parts if part)


def parse(data: bytes) -> tuple[Stated, ...]:
    """Read the file's bytes; raises `ClaimsError`."""
    if len(data) > BYTES_MAX:
        raise ClaimsError(f"{FILE} is larger than {BYTES_MAX >> 10} KiB")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ClaimsError(f"{FILE} is not JSON: {error}") from None
    return read(value)


def read(value: Any) -> tuple[Stated, ...]:
    """A list of statements, or one; raises `ClaimsError` naming the first that cannot be read."""
    statements = value if isinstance(value, list) else [value]
    if len(statements) > CLAIMS_MAX:
        raise ClaimsError(f"{FILE} has {len(statements)} claims; {CLAIMS_MAX} at most")
    return tuple(_stated(number, statement) for number, statement in enumerate(statements, 1))


def _stated(number: int, statement: Any) -> Stated:
    where = f"{FILE}: claim {number}"
    if isinstance(statement, str):
        statement = {"text": statement}
    if not isinstance(statement, dict):
        raise ClaimsError(f'{where}: must be an object such as {{"max_ulp": 2}}, or text, not {statement!r:.80}')
    kinds = [key for key in statement if key in KINDS]
    if len(kinds) > 1:
        raise ClaimsError(f"{where}: says {' and '.join(kinds)} at once; make each a claim of its own")
    if not kinds:
        raise ClaimsError(f"{where}: says none of {', '.join(KINDS)}{_unknown(statement)}")
    held, conditions = KINDS[kinds[0]]
    problems = check_table(statement, {kinds[0]: held, **conditions}) or _beyond(kinds[0], statement)
    if problems:
        raise ClaimsError(f"{where}: {_place(problems[0])}: {problems[0].message}")
    value = statement[kinds[0]]
    if kinds[0] == "dtypes":
        value = [DTYPE_OF[name] for name in value]
    return Stated(kinds[0], value, {k: v for k, v in statement.items() if k != kinds[0]})


def _unknown(statement: Mapping[str, Any]) -> str:
    keys = {key: held for key, (held, _) in KINDS.items()}
    problems = check_table({k: v for k, v in statement.items() if isinstance(k, str)}, keys)
    return f"; {_place(problems[0])}: {problems[0].message}" if problems else ""


def _beyond(kind: str, statement: Mapping[str, Any]) -> list[Problem]:
    """What a table of types cannot say."""
    value = statement[kind]
    problems = [
        Problem((key,), "must not be empty" if not said.strip() else f"is longer than {TEXT_LENGTH_MAX} characters")
        for key, said in statement.items()
        if isinstance(said, str) and not 0 < len(said.strip()) <= TEXT_LENGTH_MAX
    ]
    if isinstance(value, int | float) and not _is_finite(value):
        problems.append(Problem((kind,), "must be a finite number"))
    if kind == "shapes":
        problems += [Problem((kind,), "must name a parameter")] if not value else []
        problems += [
            Problem((kind, axis), "min is above max") for axis, span in value.items() if span["min"] > span["max"]
        ]
    return problems


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _place(problem: Problem) -> str:
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in problem.path).lstrip(".")


def _span(axis: str, span: Mapping[str, int]) -> str:
    step = span.get("multiple_of", 1)
    return f"{axis} from {span['min']} to {span['max']}" + (f" in steps of {step}" if step > 1 else "")


_STATEMENTS: dict[str, Callable[[Any], str]] = {
    "speedup": lambda value: f"{value:g} times",
    "latency_us": lambda value: f"takes {value:g} µs",
    "memory_mb": lambda value: f"needs at most {value:g} MB of memory",
    "max_abs_error": lambda value: f"absolute error at most {value:g}",
    "max_rel_error": lambda value: f"relative error at most {value:g}",
    "max_ulp": lambda value: f"error at most {value:g} ULP",
    "dtypes": lambda value: f"right for {', '.join(value)}",
    "shapes": lambda value: f"right for {', '.join(_span(axis, span) for axis, span in value.items())}",
    "deterministic": lambda _: "the same bits on every call",
    "environments": lambda value: f"builds for {', '.join(value)}",
    "max_launches": lambda value: f"at most {value} launch{'es' if value > 1 else ''} a call",
    "root_cause": lambda value: f"the cause: {value}",
    "text": lambda value: value,
}
