"""Numbers and times as people read them: three significant figures, units, and never a bare zero for "none"."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

MINUS, TIMES, THIN = "\u2212", "\u00d7", "\u2009"
_SUPERSCRIPT = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_GROUPED_BELOW = 1_000_000
_DIGITS_MAX = 9
_DIGITS_APART_MIN, _DIGITS_MAX_FLOAT = 4, 17
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e5


def significant(value: Any, digits: int = 3) -> str:
    """`value` to three significant figures; whole numbers below a million stay whole."""
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return {"nan": "NaN", "inf": "\u221e", "-inf": f"{MINUS}\u221e"}.get(value, value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if math.isnan(value) or math.isinf(value):
        return significant(str(float(value)), digits)
    return _signed(value, digits)


def _signed(value: float, digits: int) -> str:
    size = abs(value)
    sign = MINUS if value < 0 else ""
    if size == int(size) and size < _GROUPED_BELOW:
        return sign + f"{int(size):,}".replace(",", THIN)
    if _PLAIN_FROM <= size < _PLAIN_BELOW:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        return sign + f"{round(size, places):,.{places}f}".replace(",", THIN)
    mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
    return f"{sign}{mantissa}{THIN}{TIMES}{THIN}{power_of_ten(int(exponent))}"


def power_of_ten(exponent: int) -> str:
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"


def apart(first: Any, second: Any) -> tuple[str, str]:
    """Both values with as many digits as tell them apart, and one more; at least four."""
    if not all(isinstance(v, int | float) and math.isfinite(v) for v in (first, second)):
        return significant(first, _DIGITS_APART_MIN), significant(second, _DIGITS_APART_MIN)
    digits = next((d for d in range(2, _DIGITS_MAX_FLOAT) if f"{first:.{d}g}" != f"{second:.{d}g}"), 2)
    digits = min(max(digits + 1, _DIGITS_APART_MIN), _DIGITS_MAX_FLOAT)
    return significant(first, digits), significant(second, digits)


def seconds(value: float | None) -> str:
    """A duration with the unit that keeps it between 1 and 1000."""
    if value is None:
        return "\u2013"
    for limit, factor, unit in ((1e-3, 1e6, "\u00b5s"), (1, 1e3, "ms"), (120, 1, "s")):
        if value < limit:
            return f"{significant(value * factor)} {unit}"
    return f"{int(value // 60)} min {int(value % 60)} s" if value < 3600 else f"{significant(value / 3600)} h"


def size(value: int | None) -> str:
    """Bytes in binary units."""
    if value is None:
        return "\u2013"
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            return f"{significant(amount)} {unit}"
        amount /= 1024
    raise AssertionError


def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """How long ago, or how far ahead, `moment` is: "4 min ago", "in 2 h"."""
    if moment is None:
        return "never"
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    gap = ((now or datetime.now(UTC)) - moment).total_seconds()
    words = _gap(abs(gap))
    if words == "0 s":
        return "just now"
    return f"{words} ago" if gap >= 0 else f"in {words}"


def _gap(gap: float) -> str:
    for limit, per, unit in ((60, 1, "s"), (3600, 60, "min"), (172_800, 3600, "h")):
        if gap < limit:
            return f"{int(gap // per)} {unit}"
    return f"{int(gap // 86_400)} days"


def clock(moment: datetime | None) -> str:
    """The moment in UTC, for titles and tables."""
    return "\u2013" if moment is None else moment.strftime("%Y-%m-%d %H:%M UTC")


def whole_number(text: str) -> int | None:
    """A typed number, or None for anything else and for more digits than any field of ours holds."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS_MAX else None
