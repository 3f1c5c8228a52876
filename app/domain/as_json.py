"""Dataclasses as plain JSON and back: NaN and infinities are text, since JSON has none."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from enum import StrEnum
from typing import Any


def plain(value: Any) -> Any:
    """`value` in dicts, lists, text, numbers and None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return str(value) if isinstance(value, StrEnum) else value


def built(kind: Any, value: Any) -> Any:
    """Rebuild `value` as `kind`, an annotation of dataclasses, tuples, unions, numbers, text and enumerations."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _build_union(arguments, value)
    if dataclasses.is_dataclass(kind):
        return _build_dataclass(kind, value)
    if origin is tuple:
        return tuple(built(arguments[0], v) for v in value)
    if kind is float:
        return float(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    return value


def _build_union(arguments: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return None
    inner = [a for a in arguments if a is not type(None)]
    if len(inner) == 1:
        return built(inner[0], value)
    return value


def _build_dataclass(kind: Any, value: dict[str, Any]) -> Any:
    hints = typing.get_type_hints(kind)
    known = {f.name: f for f in dataclasses.fields(kind)}
    missing = [
        name
        for name, f in known.items()
        if name not in value and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ValueError(f"{kind.__name__} lacks {', '.join(missing)}")
    return kind(**{name: built(hints[name], value[name]) for name in known if name in value})
