"""Markdown that strangers wrote, as HTML that is safe to show: no raw HTML, images, scripts or styles."""

from __future__ import annotations

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from app.kit.source import visible

_TAGS = {
    "p",
    "br",
    "hr",
    "h3",
    "h4",
    "h5",
    "h6",
    "em",
    "strong",
    "del",
    "s",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
    "li",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
_LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def prose(text: str | None) -> Markup:
    """Render and sanitise; headings start at h3, so that the page keeps one outline."""
    tokens = _parser.parse(visible(text or ""))
    for token in tokens:
        token.tag = _LOWER.get(token.tag, token.tag) if token.type.startswith("heading") else token.tag
        token.attrs.pop("style", None)
    html = _parser.renderer.render(tokens, _parser.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(clean)  # noqa: S704 - nh3 has just cleaned it
