"""The review form as typed: read into the content of a review or of a draft."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData

from app.domain.ranking import LETTERS, MEMBERS_MAX
from app.domain.rubric import CANNOT_JUDGE, NOT_APPLICABLE
from app.kit.figures import whole_number
from app.reviews.scoring import Fate

LEVEL_WORDS = ("0", "1", "2", "3")
LINK_FIELDS = ("left_path", "left_start", "left_end", "right_path", "right_start", "right_end", "how", "note")
COMMENT_FIELDS = ("path", "line", "end", "body", "criterion", "severity", "category", "evidence")


@dataclass(frozen=True)
class ReviewForm:
    """`content` keeps everything typed; `version` is the draft that it was typed upon."""

    content: dict[str, Any]
    version: int
    token: str
    then: str

    def for_submit(self) -> dict[str, Any]:
        """Without the criteria that only carry text: not scored is not scored."""
        scores = {k: s for k, s in self.content["scores"].items() if s["level"] is not None or s["state"] != "scored"}
        content = {**self.content, "scores": scores}
        return content | {"ranking": _for_submit(content["ranking"])} if "ranking" in content else content


async def read_review_form(request: Request) -> ReviewForm:
    """A dependency; unknown fields are left out and nothing typed is refused here."""
    form = await request.form()
    return ReviewForm(_content(form), _number(form, "version"), str(form.get("token", "")), str(form.get("then", "")))


def _content(form: FormData) -> dict[str, Any]:
    keys = {name.partition(".")[2] for name in form if name.startswith(("rationale.", "score."))}
    return _ranking(form) | {
        "scores": {key: _score(form, key) for key in sorted(keys) if _is_touched(form, key)},
        "comments": [_comment(row) for row in _rows(form, "comment", COMMENT_FIELDS) if row["body"].strip()],
        "links": [link_of(row) for row in _rows(form, "link", LINK_FIELDS) if row["left_path"]],
        "feedback": _text(form, "feedback"),
        "decision": _text(form, "decision") or None,
        "confidence": _number(form, "confidence") or None,
        "what_changed": _text(form, "what_changed"),
        "acknowledged": [str(ruling) for ruling in form.getlist("acknowledged")],
        "active_seconds": _number(form, "active_seconds"),
        "suggestions_shown": True,
    }


def _ranking(form: FormData) -> dict[str, Any]:
    """What only the form of a comparison has."""
    if "ranking.reason" not in form:
        return {}
    ranks = {letter: _number(form, f"rank.{letter}") or None for letter in LETTERS if f"rank.{letter}" in form}
    notes = {letter: text for letter in LETTERS if (text := _text(form, f"note.{letter}")).strip()}
    strengths = [_text(form, f"strength.{step}") for step in range(1, MEMBERS_MAX)]
    return {
        "ranking": {"ranks": ranks, "strengths": strengths, "reason": _text(form, "ranking.reason")}, "notes": notes,
    }  # fmt: skip


def _for_submit(ranking: dict[str, Any]) -> dict[str, Any]:
    """Without the steps below the last place: the form offers them, since it cannot know how many places there are."""
    ranks = {letter: rank for letter, rank in ranking["ranks"].items() if rank is not None}
    steps = max(0, len(set(ranks.values())) - 1)
    return {**ranking, "ranks": ranks, "strengths": ranking["strengths"][:steps]}


def _is_touched(form: FormData, key: str) -> bool:
    return any(_text(form, f"{part}.{key}").strip() for part in ("score", "rationale", "evidence", "false"))


def _score(form: FormData, key: str) -> dict[str, Any]:
    answer = _text(form, f"score.{key}")
    return {
        "level": int(answer) if answer in LEVEL_WORDS else None,
        "state": answer if answer in (NOT_APPLICABLE, CANNOT_JUDGE) else "scored",
        "rationale": _text(form, f"rationale.{key}"),
        "evidence": _cells(_text(form, f"evidence.{key}")),
        "false_because": _text(form, f"false.{key}"),
    }


def _rows(form: FormData, what: str, fields: Sequence[str]) -> list[dict[str, str]]:
    """Repeated fields, one of each in the order of the page: the first of all of them are the first row."""
    columns = [[str(value) for value in form.getlist(f"{what}.{name}")] for name in fields]
    return [dict(zip(fields, row, strict=True)) for row in zip_longest(*columns, fillvalue="")]


def link_of(row: Mapping[str, str]) -> dict[str, Any]:
    """Of one line only its first number need be given; what was dropped has no target."""
    numbers = {name: whole_number(row[name]) or None for name in LINK_FIELDS if name.endswith(("_start", "_end"))}
    is_dropped = row["how"] == Fate.DROPPED
    return {
        "left_path": row["left_path"],
        "left_start": numbers["left_start"],
        "left_end": numbers["left_end"] or numbers["left_start"],
        "right_path": None if is_dropped else row["right_path"] or None,
        "right_start": None if is_dropped else numbers["right_start"],
        "right_end": None if is_dropped else numbers["right_end"] or numbers["right_start"],
        "how": row["how"] or Fate.TRANSLATED.value,
        "note": _lines(row["note"]).strip(),
    }


def _comment(row: dict[str, str]) -> dict[str, Any]:
    return {
        "path": row["path"] or None,
        "line": whole_number(row["line"]) or None,
        "end_line": whole_number(row["end"]) or None,
        "body": _lines(row["body"]),
        "criterion": row["criterion"] or None,
        "severity": row["severity"] or None,
        "category": row["category"] or None,
        "evidence": _cells(row["evidence"]),
    }


def _cells(text: str) -> list[str]:
    return [cell for cell in re.split(r"[\s,]+", text) if cell]


def _text(form: FormData, name: str) -> str:
    return _lines(str(form.get(name, "")))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _number(form: FormData, name: str) -> int:
    return whole_number(str(form.get(name, ""))) or 0
