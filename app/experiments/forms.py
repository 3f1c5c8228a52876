"""The bench's form as typed: parameters as values, and only the tolerances and sources that were given."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData

from app.domain.review import ExperimentTarget
from app.domain.task import MAX_AXIS, VALUE_FAMILIES
from app.errors import Invalid
from app.experiments.service import Asked
from app.kit.figures import whole_number
from app.models import TaskVersion

TOLERANCES = ("atol", "rtol", "max_ulp")
VALUE_LENGTH_MAX = 200


@dataclass(frozen=True)
class BenchForm:
    """What was typed, by field."""

    fields: dict[str, str]

    def asked(self, version: TaskVersion) -> Asked:
        """Raises `Invalid` for what is no value of its kind."""
        target, family, seed = (self.fields.get(name, "").strip() for name in ("target", "family", "seed"))
        if target not in set(ExperimentTarget):
            raise Invalid("say what to run", what_to_do=f"Choose from {', '.join(ExperimentTarget)}.")
        if family and family not in VALUE_FAMILIES:
            raise Invalid(f"unknown values {family!r}", what_to_do=f"Choose from {', '.join(VALUE_FAMILIES)}.")
        if seed and whole_number(seed) is None:
            raise Invalid(f"the seed {seed!r} is no whole number")
        return Asked(
            params=self._params(version),
            target=ExperimentTarget(target),
            seed=whole_number(seed) if seed else None,
            family=family,
            tolerance={name: _number(name, text) for name in TOLERANCES if (text := self.fields.get(name, "").strip())},
            sources={k.removeprefix("source."): v for k, v in self.fields.items() if k.startswith("source.")},
        )

    def _params(self, version: TaskVersion) -> dict[str, Any]:
        given = {name: self.fields.get(f"param.{name}", "").strip() for name in parameters(version)}
        return {name: _value(name, text) for name, text in given.items() if text}


async def read_bench_form(request: Request) -> BenchForm:
    form: FormData = await request.form()
    return BenchForm({name: value for name, value in form.items() if isinstance(value, str)})


def parameters(version: TaskVersion) -> dict[str, str]:
    """Each parameter of the task, with its value in the first public workload that has one, as it is typed."""
    workloads = sorted(version.spec["workloads"], key=lambda w: bool(w.get("hidden")))
    found: dict[str, str] = {}
    for workload in workloads:
        for name, value in workload.get("params", {}).items():
            # A value of a hidden workload is not told; its parameter's name is one of `make_inputs`.
            found.setdefault(name, "" if workload.get("hidden") else _typed(value))
    return found


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _value(name: str, text: str) -> Any:
    """A number, `true`, `false`, a list, or else the text itself."""
    if len(text) > VALUE_LENGTH_MAX:
        raise Invalid(f"the value of {name} has more than {VALUE_LENGTH_MAX} characters")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if _has_no_toml(value):
        raise Invalid(
            f"{name} cannot be {text}", what_to_do=f"Give a number up to {MAX_AXIS}, text, true, false, or a list."
        )
    return value


def _has_no_toml(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_no_toml(item) for item in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return not math.isfinite(value) or abs(value) > MAX_AXIS
    return value is None or isinstance(value, dict)


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise Invalid(f"{name} is no number of 0 or more", what_to_do="Leave it empty to keep the task's.")
    return value
