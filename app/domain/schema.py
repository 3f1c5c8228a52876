"""A small checker for tables read from TOML: unknown keys, missing keys, types, choices, with line numbers.

A library would do the checking, but none that works with the standard library alone can say on
which line of a TOML file a key stands, and task authors need the line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TYPE_NAMES = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """What one key may hold.  `table` lists a table's keys, `each` describes its keys not listed."""

    kind: type
    required: bool = False
    choices: tuple[Any, ...] | None = None
    pattern: re.Pattern[str] | None = None
    hint: str = ""
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    not_empty: bool = False
    items: Field | None = None
    table: Mapping[str, Field] | None = None
    each: Field | None = None


@dataclass(frozen=True)
class Problem:
    """What is wrong at `path`, a sequence of keys and list indices."""

    path: tuple[str | int, ...]
    message: str

    def located(self, file: str, text: str) -> str:
        """`file:line: field: message`, with the line on which the field stands in `text`."""
        shown = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.path).lstrip(".")
        line = line_of(text, self.path)
        return f"{file}:{line}: {shown or 'top level'}: {self.message}"


def check_table(
    data: dict[str, Any], table: Mapping[str, Field], path: tuple[str | int, ...] = (), each: Field | None = None
) -> list[Problem]:
    """Every problem of `data` against `table`, in the order of the file."""
    problems = [
        Problem((*path, key), f"required ({_TYPE_NAMES[f.kind]})")
        for key, f in table.items()
        if f.required and key not in data
    ]
    for key, value in data.items():
        known = table.get(key) or (each if isinstance(value, dict) else None)
        if known is None:
            problems.append(Problem((*path, key), f"unknown key{_did_you_mean(key, table)}"))
        else:
            problems += _check(value, known, (*path, key))
    return problems


def _did_you_mean(key: str, table: Mapping[str, Field]) -> str:
    close = difflib.get_close_matches(key, table, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known keys: {', '.join(table)}"


def _check(value: Any, known: Field, path: tuple[str | int, ...]) -> list[Problem]:
    if not _is_a(value, known.kind):
        return [Problem(path, f"must be {_TYPE_NAMES[known.kind]}, not {value!r}")]
    if isinstance(value, list):
        return _check_list(value, known, path)
    if isinstance(value, dict):
        if known.table is None and known.each is None:
            return []
        return check_table(value, known.table or {}, path, known.each)
    message = scalar_problem(value, known)
    return [Problem(path, message)] if message else []


def _check_list(value: list[Any], known: Field, path: tuple[str | int, ...]) -> list[Problem]:
    if known.not_empty and not value:
        return [Problem(path, "must not be empty")]
    if known.items is None:
        return []
    return [p for n, item in enumerate(value) for p in _check(item, known.items, (*path, n))]


def scalar_problem(value: Any, known: Field) -> str | None:
    """What is wrong with one value of the right type; None where nothing is."""
    if known.choices is not None and value not in known.choices:
        return f"must be one of {', '.join(map(str, known.choices))}, not {value!r}"
    if known.pattern is not None and not known.pattern.fullmatch(value):
        return f"must be {known.hint}, not {value!r}"
    if known.minimum is not None and not value >= known.minimum:
        return f"must be at least {known.minimum}, not {value!r}"
    if known.above is not None and not value > known.above:
        return f"must be above {known.above}, not {value!r}"
    if known.maximum is not None and not value <= known.maximum:
        return f"must be at most {known.maximum}, not {value!r}"
    return None


def _is_a(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]\s](?:[^\[\]]*[^\[\]\s])?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))((?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=""")


def line_of(text: str, path: tuple[str | int, ...]) -> int:
    """The line (from 1) of the deepest part of `path` that stands in the TOML `text`; 1 when none does."""
    best, depth = 1, 0
    table: tuple[str | int, ...] = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _table_path(header[1] == "[[", header[2], counts)
            here = table
        elif key := _KEY.match(line):
            dotted = re.findall(r"[A-Za-z0-9_-]+", key[4])
            here = (*table, key[1] or key[2] or key[3], *dotted)
        else:
            continue
        shared = _shared(here, path)
        if shared > depth and (shared == len(here) or shared == len(path)):
            best, depth = number, shared
    return best


def _table_path(repeated: bool, name: str, counts: dict[str, int]) -> tuple[str | int, ...]:
    parts = [part.strip().strip("\"'") for part in name.split(".")]
    if not repeated:
        return tuple(parts)
    counts[name] = counts.get(name, -1) + 1
    return (*parts, counts[name])


def _shared(here: tuple[str | int, ...], path: tuple[str | int, ...]) -> int:
    count = 0
    for a, b in zip(here, path, strict=False):
        if a != b:
            break
        count += 1
    return count
