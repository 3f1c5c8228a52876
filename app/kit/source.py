"""Source code as coloured lines: Pygments classes, one HTML string a line, hostile characters made visible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MAX_COLOURED_CHARACTERS = 400_000

_LEXERS = {
    ".py": "python",
    ".cu": "cuda",
    ".cuh": "cuda",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".c": "c",
    ".h": "cpp",
    ".hpp": "cpp",
    ".hip": "cuda",
    ".mlir": "llvm",
    ".ttir": "llvm",
    ".ll": "llvm",
    ".ptx": "gas",
    ".json": "json",
    ".toml": "toml",
    ".md": "markdown",
    ".yaml": "yaml",
    ".yml": "yaml",
}
# Terminal escapes and direction marks: the first hide text from a reader, the second reorder it ("Trojan source").
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class SourceLine:
    number: int
    html: Markup


@dataclass(frozen=True)
class SourceFile:
    name: str
    lines: tuple[SourceLine, ...]

    @property
    def anchor(self) -> str:
        """The file's part of a line's id; a submission's file names may hold anything."""
        return re.sub(r"[^A-Za-z0-9]+", "-", self.name).strip("-") or "file"


def visible(text: str) -> str:
    """`text` with control and direction characters shown as what they are instead of obeyed."""
    return _HIDDEN.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0xA0 else f"\\u{code:04x}"


def coloured(name: str, text: str) -> SourceFile:
    """The file's lines with Pygments' short classes; plain and escaped where the language is unknown."""
    shown = visible(text)
    lexer = _lexer(name) if len(shown) <= MAX_COLOURED_CHARACTERS else get_lexer_by_name("text")
    html = highlight(shown, lexer, HtmlFormatter(nowrap=True))
    rows = html.removesuffix("\n").split("\n")
    return SourceFile(name, tuple(SourceLine(n, Markup(row)) for n, row in enumerate(rows, 1)))  # noqa: S704


def _lexer(name: str) -> Lexer:
    alias = _LEXERS.get(PurePosixPath(name).suffix.lower(), "text")
    try:
        return get_lexer_by_name(alias, stripnl=False)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False)
