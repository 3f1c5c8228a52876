"""What a foreign process says beside its outputs, cut down to types and sizes that nothing here can trip over.

A claim is JSON of the sender's choice: any field may have any type, hold a hundred megabytes, or text that
breaks a terminal, a page or a database.  One pass over each answer makes it harmless, so that the rest of
the judge may read it as if our own code had written it.  What is true of it is another question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

MAX_TEXT = 8000
MAX_ITEMS = 4096
MAX_VALUES = 400_000
MAX_CHARACTERS = 4 << 20
MAX_DEPTH = 8
SHORT_ITEMS, SHORT_CHARACTERS = 32, 200
EXACT_IN_JSON = 1 << 53
# Controls (but tab and line feed), lone surrogates, and marks that turn the direction of writing.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def text(value: object, most: int = MAX_TEXT) -> str:
    """Any text as terminals, pages and databases can take it; other values are no text."""
    if not isinstance(value, str):
        return ""
    return _UNPRINTABLE.sub("\ufffd", value[:most].replace("\r\n", "\n"))


def plain(value: object) -> Any:
    """Any JSON value, bounded in depth, number of values and characters; numbers are finite or text."""
    return _Cutter().cut(value, 0)


def facts(message: dict[str, Any]) -> dict[str, Any]:
    """An answer whose known fields have the type that they should have; others are bounded, whatever they are.

    Packed values (`manifest`, `storages`, `outputs`, `gradients`) are left as they came: `Received` checks those.
    """
    told = {}
    for name, value in list(message.items())[:64]:
        if name in _PACKED:
            told[name] = value
        elif name in _FIELDS:
            told[name] = _FIELDS[name](plain(value))
        else:
            told[text(name, 80)] = plain(value)
    return told


class _Cutter:
    def __init__(self) -> None:
        self.values, self.characters = MAX_VALUES, MAX_CHARACTERS

    def cut(self, value: object, depth: int) -> Any:
        self.values -= 1
        if self.values < 0 or depth > MAX_DEPTH:
            return None
        if isinstance(value, str):
            kept = text(value, max(0, min(MAX_TEXT, self.characters)))
            self.characters -= len(kept)
            return kept
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return number(value)
        if isinstance(value, dict):
            return {text(str(k), 200): self.cut(v, depth + 1) for k, v in list(value.items())[:MAX_ITEMS]}
        return [self.cut(item, depth + 1) for item in value[:MAX_ITEMS]] if isinstance(value, list | tuple) else None


def number(value: object) -> int | float | str:
    """A number that every JSON reader gives back unchanged, else its text; 0 for what is no number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0
    if isinstance(value, int):
        return value if abs(value) < EXACT_IN_JSON else f"about 2**{value.bit_length() - 1}"
    return value if math.isfinite(value) else str(value)


def _list(kind: type, convert: Callable[[Any], Any] = lambda item: item) -> Callable[[Any], list[Any]]:
    def read(value: Any) -> list[Any]:
        return [convert(item) for item in value if _is(item, kind)] if isinstance(value, list) else []

    return read


def _table(
    kind: type | None = None, convert: Callable[[Any], Any] = lambda item: item
) -> Callable[[Any], dict[str, Any]]:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            return {}
        return {name: convert(item) for name, item in value.items() if kind is None or _is(item, kind)}

    return read


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _only(kind: type, other: Any) -> Callable[[Any], Any]:
    return lambda value: value if _is(value, kind) else other


def _finite(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


_texts, _counts, _tables = _list(str), _list(int), _list(dict)


def _short(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What goes into every report: the first few, each of a few words."""

    def shorten(value: Any) -> Any:
        if isinstance(value, str):
            return value[:SHORT_CHARACTERS]
        if isinstance(value, list):
            return [shorten(item) for item in value[:SHORT_ITEMS]]
        if isinstance(value, dict):
            return {shorten(name): shorten(item) for name, item in list(value.items())[:SHORT_ITEMS]}
        return value

    return lambda value: shorten(read(value))


def _with(**fields: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """A table of which some fields have a type."""

    def read(value: Any) -> dict[str, Any]:
        table = value if isinstance(value, dict) else {}
        return {name: fields[name](item) if name in fields else item for name, item in table.items()}

    return read


def _error(value: Any) -> Any:
    """An error is a table; any other value is no error, as `ask` reads it."""
    if not isinstance(value, dict):
        return None
    words = dict.fromkeys(("type", "message", "traceback", "file"), _only(str, ""))
    return _with(**words, bases=_texts, line=_only(int, None), out_of_memory=_only(bool, False))(value)


_observation = _with(
    code=_only(str, ""), message=_only(str, ""), file=_only(str, None), line=_only(int, None), evidence=_table()
)
_place = _with(file=_only(str, None), line=_only(int, None))
_stopped = _with(kind=_only(str, ""), reason=_only(str, ""), estimate_seconds=_finite, location=_place)

_PACKED = ("manifest", "storages", "outputs", "gradients", "id")
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "aliases": _with(inputs=_counts, calls=_texts),
    "arguments": _texts,
    "changed": _only(bool, False),
    "detached": _counts,
    "error": _error,
    "events": _with(
        launches=_tables,
        failed_launches=_tables,
        observations=_list(dict, _observation),
        shim=_texts,
        stopped=_stopped,
        unjoined=_list(object),
    ),
    "message": _only(str, ""),
    "left_out": _texts,
    "matched": _only(str, ""),
    "mismatch": _only(str, ""),
    "memory": _table(int),
    "method": _short(_only(str, None)),
    "mutated": _counts,
    "not_a_value": _only(str, "no value"),
    "ok": _only(bool, False),
    "operator_elements": _table(int),
    "operators": _table(int),
    "poison": _only(bool, False),
    "rebound": _texts,
    "refusals": _short(_table(list, _short(_texts))),
    "seconds": _finite,
    "threads": _texts,
    "too_slow": _stopped,
    "unreached": _counts,
    "unsupported": _stopped,
    "versions": _short(_table(str)),
}
