"""What templates can say: the filters and functions that every page shares."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

from app.domain.report import VERDICT_TITLES, Verdict
from app.kit import assets, figures, pages, prose, source

_TICKED = re.compile(r"`([^`\n]{1,200})`")
_VERDICT_WORDS = {verdict.value: title for verdict, title in VERDICT_TITLES.items()}


def visible(value: Any) -> str:
    """Foreign text, escaped by the template as all text is, with its hidden characters shown."""
    return source.visible(str(value)) if value is not None else ""


def said(value: Any) -> Markup:
    """A sentence of ours or of the judge: escaped, with `code` in backticks set as code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(visible(value)))))  # noqa: S704 - escaped just before


def words(value: Any) -> str:
    """`not_measured` as people write it."""
    return visible(getattr(value, "value", value)).replace("_", " ")


def capital(value: Any) -> str:
    """The first letter large, the others as they are, and no full stop at the end."""
    text = str(value).rstrip(".")
    return text[:1].upper() + text[1:]


def verdict_title(value: Verdict | str) -> str:
    return _VERDICT_WORDS.get(str(value), str(value))


pages.FILTERS.update(
    significant=figures.significant,
    duration=figures.seconds,
    size=figures.size,
    ago=figures.ago,
    clock=figures.clock,
    visible=visible,
    said=said,
    capital=capital,
    words=words,
    verdict_title=verdict_title,
    prose=prose.prose,
)
pages.GLOBALS.update(static=assets.static)
