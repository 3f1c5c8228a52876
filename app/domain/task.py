"""Tasks: what a kernel is asked to do, read from a bundle folder (`task.toml`, `reference.py`, …).

Every error names file, line and field, and says what is allowed there.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.domain.schema import Field, Problem, check_table, scalar_problem

KINDS = ("generation", "translation", "migration", "debugging", "optimization", "fusion")
FRAMEWORKS = ("torch", "triton", "cuda", "hip", "pallas", "nki", "stablehlo", "ptx", "ttir")
VALUE_FAMILIES = (
    "normal", "positive", "wide", "integers", "one-hot", "permuted", "zeros", "tiny", "huge", "subnormal", "inf", "nan",
)  # fmt: skip
LAYOUTS = ("contiguous", "strided", "offset")
ACCUMULATORS = ("fp32", "fp16", "bf16", "tensor-core-fp32", "hopper-fp8", "tpu-bf16-1pass")
ENVIRONMENT = Field(
    str,
    pattern=re.compile(r"[a-z][a-z0-9-]*(@[0-9][A-Za-z0-9.+-]*)?:[A-Za-z0-9][A-Za-z0-9_.-]*"),
    hint="<target>[@<version>]:<architecture>, such as cuda:sm_90a or cuda@13.0:sm_90a",
)
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
MAX_TASK_TOML_BYTES = 1 << 20
MAX_CALL_SECONDS = 3600
MAX_MEMORY_MB = 1 << 20
MAX_AXIS = 1 << 40


class TaskError(Exception):
    """The bundle cannot be read; the message says where and what to do."""


@dataclass(frozen=True)
class Workload:
    """One set of parameters for `make_inputs`; `runs_on` is "any" or "device".

    `drawn`: not the task's own, but made by the judge from the task's contract.
    """

    name: str
    params: Mapping[str, Any]
    uses: tuple[str, ...] = ("correctness",)
    hidden: bool = False
    runs_on: str = "any"
    drawn: bool = False


@dataclass(frozen=True)
class OutputTolerance:
    """What an output may differ by; None means not given (per-dtype defaults then apply)."""

    atol: float | None = None
    rtol: float | None = None
    max_ulp: float | None = None


@dataclass(frozen=True)
class Tolerances:
    default: OutputTolerance = OutputTolerance()
    per_output: Mapping[str, OutputTolerance] = field(default_factory=dict)
    accumulate: str = "fp32"
    budget: str = "reports"
    special: str = "match"

    def of(self, output: str) -> OutputTolerance:
        return self.per_output.get(output, self.default)


@dataclass(frozen=True)
class Policy:
    library_calls: str = "allowed"
    caching: str = "plan"
    determinism: str = "tolerance"
    tf32: str = "by_tolerance"
    in_place: tuple[str, ...] = ()
    quirks: str = "preserve"


@dataclass(frozen=True)
class TaskLimits:
    """`seconds` is the wall time of one call, after imports and compilation."""

    seconds: float = 60.0
    memory_mb: int = 8192


@dataclass(frozen=True)
class Clause:
    text: str
    workloads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Argument:
    """One argument of a C ABI, in order; `shape` and `value` are expressions over input names and params."""

    name: str
    kind: str
    shape: str | None = None
    dtype: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Axis:
    """The values that a parameter may have: multiples of `multiple_of` from `min` to `max`, both included."""

    min: int
    max: int
    multiple_of: int = 1

    def holds(self, value: int) -> bool:
        return self.min <= value <= self.max and value % self.multiple_of == 0


@dataclass(frozen=True)
class Contract:
    """What a task grants beyond its workloads: families of values, parameters and layouts that decide too."""

    values: tuple[str, ...] = ()
    axes: Mapping[str, Axis] = field(default_factory=dict)
    layouts: tuple[str, ...] = ("contiguous",)


@dataclass(frozen=True)
class TaskSpec:
    name: str
    title: str
    kind: str
    frameworks: tuple[str, ...]
    description: str
    workloads: tuple[Workload, ...]
    version: int = 1
    entry: str = "solution"
    licence: str | None = None
    source: str | None = None
    clauses: tuple[Clause, ...] = ()
    contract: Contract | None = None
    tolerance: Tolerances = Tolerances()
    work: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, Any] = field(default_factory=dict)
    limits: TaskLimits = TaskLimits()
    compile_environments: tuple[str, ...] = ()
    policy: Policy = Policy()
    gradients: Mapping[str, Any] | None = None
    distributed: Mapping[str, Any] | None = None
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class TaskBundle:
    """A task as it lies in a folder; `sha256` covers every file's path and bytes."""

    folder: Path
    spec: TaskSpec
    sha256: str


def read_bundle(folder: Path) -> TaskBundle:
    """Read and check a bundle; raises `TaskError` with every problem found, one a line."""
    toml = folder / "task.toml"
    if not toml.is_file():
        raise TaskError(f"{toml}: missing; a task bundle is a folder with task.toml and reference.py")
    if not (folder / "reference.py").is_file():
        raise TaskError(f"{folder / 'reference.py'}: missing; it defines make_inputs and reference")
    if links := [path.name for path in (toml, folder / "reference.py") if path.is_symlink()]:
        raise TaskError(f"{folder / links[0]}: a link; the task's hash covers only what lies in its own folder")
    if toml.stat().st_size > MAX_TASK_TOML_BYTES:
        raise TaskError(f"{toml}: larger than {MAX_TASK_TOML_BYTES} bytes")
    try:
        text = toml.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TaskError(f"task.toml: not UTF-8 text ({error})") from error
    return TaskBundle(folder, parse_spec(text), folder_sha256(folder))


def folder_sha256(folder: Path) -> str:
    """Hash of every regular file under `folder`, by sorted relative path; caches and links are left out."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if "__pycache__" in name or name == "expected.json" or name.startswith("submission."):
            continue  # what lies beside a task is not part of it
        digest.update(f"{len(name)}:{name}:{path.stat().st_size}:".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def parse_spec(text: str, file: str = "task.toml") -> TaskSpec:
    """Parse task.toml's text; raises `TaskError` naming file, line and field for each problem."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{file}: not valid TOML: {error}") from error
    problems = check_table(data, _TASK) or _cross_checks(data)
    if problems:
        raise TaskError("\n".join(problem.located(file, text) for problem in problems))
    return _spec(data)


def environment_problem(text: str) -> str | None:
    """What is wrong with one build environment, by the same rule as in task.toml."""
    return scalar_problem(text, ENVIRONMENT)


def _strings(*choices: str) -> Field:
    return Field(list, items=Field(str, choices=choices or None))


_TOLERANCE = {
    "atol": Field(float, minimum=0),
    "rtol": Field(float, minimum=0),
    "max_ulp": Field(float, minimum=0),
}
_AXIS = {
    "min": Field(int, minimum=0),
    "max": Field(int, required=True, minimum=0, maximum=MAX_AXIS),
    "multiple_of": Field(int, minimum=1),
}
_TASK: dict[str, Field] = {
    "schema": Field(int, required=True, choices=(1,)),
    "name": Field(str, required=True, pattern=SLUG, hint="a slug: lower-case letters, digits and dashes"),
    "version": Field(int, minimum=1),
    "title": Field(str, required=True),
    "kind": Field(str, required=True, choices=KINDS),
    "frameworks": Field(list, required=True, not_empty=True, items=Field(str, choices=FRAMEWORKS)),
    "entry": Field(str, pattern=re.compile(r"[A-Za-z_]\w*"), hint="the name of a callable"),
    "description": Field(str, required=True),
    "licence": Field(str),
    "source": Field(str),
    "clauses": Field(list, items=Field(dict, table={"text": Field(str, required=True), "workloads": _strings()})),
    "workloads": Field(
        list,
        required=True,
        not_empty=True,
        items=Field(
            dict,
            table={
                "name": Field(str, required=True),
                "params": Field(dict),
                "uses": Field(list, not_empty=True, items=Field(str, choices=("correctness", "benchmark"))),
                "hidden": Field(bool),
                "runs_on": Field(str, choices=("any", "device")),
            },
        ),
    ),
    "contract": Field(
        dict,
        table={
            "values": _strings(*VALUE_FAMILIES),
            "axes": Field(dict, each=Field(dict, table=_AXIS)),
            "layouts": _strings(*LAYOUTS),
        },
    ),
    "tolerance": Field(
        dict,
        table={
            **_TOLERANCE,
            "accumulate": Field(str, choices=ACCUMULATORS),
            "budget": Field(str, choices=("reports", "decides")),
            "special": Field(str, choices=("match",)),
        },
        each=Field(dict, table=_TOLERANCE),
    ),
    "work": Field(dict, table={"flops": Field(str), "bytes": Field(str)}),
    "targets": Field(dict),
    "limits": Field(
        dict,
        table={
            "seconds": Field(float, above=0, maximum=MAX_CALL_SECONDS),
            "memory_mb": Field(int, minimum=256, maximum=MAX_MEMORY_MB),
        },
    ),
    "environments": Field(dict, table={"compile": Field(list, items=ENVIRONMENT)}),
    "policy": Field(
        dict,
        table={
            "library_calls": Field(str, choices=("allowed", "forbidden")),
            "caching": Field(str, choices=("none", "plan", "weights")),
            "determinism": Field(str, choices=("tolerance", "bitwise")),
            "tf32": Field(str, choices=("by_tolerance", "allowed", "forbidden")),
            "in_place": _strings(),
            "quirks": Field(str, choices=("preserve", "fix")),
        },
    ),
    "gradients": Field(dict, table={"wrt": Field(list, required=True, not_empty=True, items=Field(str))}),
    "distributed": Field(dict, table={"world_size": Field(int, minimum=1)}),
    "arguments": Field(
        list,
        items=Field(
            dict,
            table={
                "name": Field(str, required=True),
                "kind": Field(str, required=True, choices=("input", "output", "inout", "scalar")),
                "shape": Field(str),
                "dtype": Field(str),
                "value": Field(str),
            },
        ),
    ),
}


def _cross_checks(data: dict[str, Any]) -> list[Problem]:
    """What one table alone cannot show: repeated names and references to workloads that are not there."""
    names = [w["name"] for w in data["workloads"]]
    problems = [
        Problem(("workloads", n, "name"), f"the name {name!r} is used twice")
        for n, name in enumerate(names)
        if name in names[:n]
    ]
    for n, clause in enumerate(data.get("clauses", [])):
        problems += [
            Problem(("clauses", n, "workloads"), f"no workload is named {name!r}")
            for name in clause.get("workloads", [])
            if name not in names
        ]
    for name, axis in data.get("contract", {}).get("axes", {}).items():
        problems += _axis_problems(("contract", "axes", name), name, _axis(axis), data["workloads"])
    return problems


def _axis_problems(path: tuple[str, ...], name: str, axis: Axis, workloads: list[dict[str, Any]]) -> list[Problem]:
    """An axis is drawn in place of a workload's parameter, so both have to be there."""
    given = [w["params"][name] for w in workloads if name in w.get("params", {})]
    if not given:
        return [Problem(path, f"no workload has a parameter {name!r}")]
    if any(isinstance(value, bool) or not isinstance(value, int) for value in given):
        return [Problem(path, f"the parameter {name!r} is no whole number in every workload")]
    if axis.max // axis.multiple_of * axis.multiple_of < axis.min:
        return [Problem(path, f"no multiple of {axis.multiple_of} lies between {axis.min} and {axis.max}")]
    return []


def _spec(data: dict[str, Any]) -> TaskSpec:
    tables = ("workloads", "clauses", "contract", "tolerance", "limits", "environments", "policy", "arguments")
    plain = {k: v for k, v in data.items() if k not in (*tables, "schema", "frameworks")}
    return TaskSpec(
        **plain,
        frameworks=tuple(data["frameworks"]),
        workloads=tuple(_workload(w) for w in data["workloads"]),
        clauses=tuple(Clause(c["text"], tuple(c.get("workloads", ()))) for c in data.get("clauses", [])),
        contract=_contract(data["contract"]) if "contract" in data else None,
        tolerance=_tolerances(data.get("tolerance", {})),
        limits=TaskLimits(**data.get("limits", {})),
        compile_environments=tuple(data.get("environments", {}).get("compile", ())),
        policy=_policy(data.get("policy", {})),
        arguments=tuple(Argument(**a) for a in data.get("arguments", [])),
    )


def _workload(data: dict[str, Any]) -> Workload:
    uses = tuple(data.get("uses", ("correctness",)))
    return Workload(**{"params": {}, **data, "uses": uses})


def _contract(data: dict[str, Any]) -> Contract:
    axes = {name: _axis(axis) for name, axis in data.get("axes", {}).items()}
    return Contract(tuple(data.get("values", ())), axes, tuple(data.get("layouts", ("contiguous",))))


def _axis(data: dict[str, Any]) -> Axis:
    return Axis(**{"min": data.get("multiple_of", 1), **data})


def _tolerances(data: dict[str, Any]) -> Tolerances:
    per_output = {k: OutputTolerance(**v) for k, v in data.items() if isinstance(v, dict)}
    default = OutputTolerance(**{k: data[k] for k in _TOLERANCE if k in data})
    rest = {k: data[k] for k in ("accumulate", "budget", "special") if k in data}
    return Tolerances(default, per_output, **rest)


def _policy(data: dict[str, Any]) -> Policy:
    return Policy(**{**data, "in_place": tuple(data.get("in_place", ()))})
