"""The claims' part of the upload form: a field for each kind that the workbench can check, and words for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.claims import ERRORS
from app.errors import Invalid

FIELDS = (
    "claim_speedup", "claim_baseline", "claim_device", "claim_error", "claim_error_kind", "claim_dtypes",
    "claim_environments", "claim_launches", "claim_memory", "claim_deterministic", "claim_cause", "claim_words",
)  # fmt: skip
ERROR_TITLES = {
    "max_ulp": "ULP",
    "max_abs_error": "absolute",
    "max_rel_error": "relative",
}


def statements(typed: Mapping[str, str]) -> list[Any]:
    """The statements that the fields make, as `claims.json` has them; raises `Invalid` naming the field."""
    said = {name: value.strip() for name, value in typed.items()}
    found: list[Any] = []
    if said["claim_speedup"] or said["claim_baseline"]:
        found.append(_speedup(said))
    if said["claim_error"]:
        kind = said["claim_error_kind"] if said["claim_error_kind"] in ERRORS else ERRORS[-1]
        found.append({kind: _number(said["claim_error"], "largest error")})
    for field, kind in (("claim_dtypes", "dtypes"), ("claim_environments", "environments")):
        if said[field]:
            found.append({kind: [name.strip() for name in said[field].split(",") if name.strip()]})
    if said["claim_launches"]:
        found.append({"max_launches": _whole(said["claim_launches"])})
    if said["claim_memory"]:
        device = {"device": said["claim_device"]} if said["claim_device"] else {}
        found.append({"memory_mb": _number(said["claim_memory"], "memory"), **device})
    if said["claim_deterministic"]:
        found.append({"deterministic": True})
    if said["claim_cause"]:
        found.append({"root_cause": said["claim_cause"]})
    return found + [{"text": line.strip()} for line in said["claim_words"].splitlines() if line.strip()]


def _speedup(said: Mapping[str, str]) -> dict[str, Any]:
    if not (said["claim_speedup"] and said["claim_baseline"] and said["claim_device"]):
        raise Invalid(
            "a claimed speed-up needs a number, what it is against, and a device",
            what_to_do="Fill in all three, for example 1.8, torch.softmax, H100; or empty speed-up and baseline.",
        )
    times = _number(said["claim_speedup"].rstrip("x\u00d7 "), "speed-up")
    return {"speedup": times, "baseline": said["claim_baseline"], "device": said["claim_device"]}


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid(
            f"the claimed {what} is {text!r}, which is no number",
            what_to_do="Write it as 2, 0.5 or 1e-6, without a unit; say anything else in your own words.",
        ) from None


def _whole(text: str) -> int:
    number = _number(text, "number of launches")
    if not number.is_integer():
        raise Invalid(f"the claimed number of launches is {text!r}", what_to_do="Write a whole number, such as 1.")
    return int(number)
