"""What templates can say: the filters and functions that every page shares."""

from __future__ import annotations

from typing import Any

from app.domain.report import VERDICT_TITLES, Verdict
from app.kit import assets, figures, pages, prose, source

_VERDICT_WORDS = {verdict.value: title for verdict, title in VERDICT_TITLES.items()}


def visible(value: Any) -> str:
    """Foreign text, escaped by the template as all text is, with its hidden characters shown."""
    return source.visible(str(value)) if value is not None else ""


def words(value: Any) -> str:
    """`not_measured` as people write it."""
    return str(getattr(value, "value", value)).replace("_", " ")


def verdict_title(value: Verdict | str) -> str:
    return _VERDICT_WORDS.get(str(value), str(value))


pages.FILTERS.update(
    significant=figures.significant, duration=figures.seconds, size=figures.size, ago=figures.ago, clock=figures.clock,
    visible=visible, words=words, verdict_title=verdict_title, prose=prose.prose,
)
pages.GLOBALS.update(static=assets.static)
