"""JSON from outside and into the database: nothing that only some readers take, and nothing bottomless."""

from __future__ import annotations

import json
import re
from typing import Any

from app.errors import Invalid

DEPTH_MAX = 64
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def read(data: bytes | str, what: str) -> Any:
    """Parse what somebody sent; refuses what could not be kept, written out again, or read in two ways."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeated)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Invalid(f"{what} is not JSON: {reason}", what_to_do="Correct it.") from None
    if _is_deeper(value, DEPTH_MAX):
        raise Invalid(f"{what} is nested more than {DEPTH_MAX} deep", what_to_do="Make it flatter.")
    dump(value)
    return value


def dump(value: Any) -> str:
    """JSON text for the database and for files.  Raises `Invalid` for NUL, half characters, NaN and the bottomless."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except UnicodeEncodeError:
        raise unstorable("half of a character (a lone surrogate)") from None
    except RecursionError:
        raise unstorable("something nested too deeply") from None
    except ValueError as error:
        raise unstorable(f"a number that JSON does not have ({error})") from None
    if _NUL.search(text):
        raise unstorable("a NUL character")
    return text


def scrubbed(value: Any) -> Any:
    """`value` with what `dump` would refuse in its texts replaced by a mark: for what processes print, not people."""
    text = json.dumps(value, ensure_ascii=False)
    clean = _NUL.sub("\\1\u2400", text).encode("utf-8", "replace").decode()
    return value if clean == text else json.loads(clean)


def unstorable(what: str) -> Invalid:
    return Invalid(f"what was sent holds {what}, which cannot be kept", what_to_do="Take it out and send it again.")


def _is_deeper(value: Any, depth: int) -> bool:
    level: list[Any] = [value]
    while level and depth >= 0:
        lists = [list(v.values()) if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)]
        level = [inner for values in lists for inner in values]
        depth -= 1
    return bool(level)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)[:80]!r} is there twice")
    return found
