"""Source code as coloured lines: Pygments classes, one HTML string a line, hostile characters made visible."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# What one page colours and shows.  A lexer takes tens of microseconds a token and blocks every other request
# meanwhile, and a browser chokes on a million rows; a kernel that people can review is far below either.
COLOURED_CHARACTERS_MAX = 100_000
SHOWN_CHARACTERS_MAX, SHOWN_LINES_MAX = 1_000_000, 20_000

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


def coloured_all(files: Iterable[tuple[str, str]]) -> list[SourceFile]:
    """Every file of a page, within what a page colours and shows; what is cut says so in its last line."""
    colours, characters, lines = COLOURED_CHARACTERS_MAX, SHOWN_CHARACTERS_MAX, SHOWN_LINES_MAX
    shown = []
    for name, text in files:
        part = _first_lines(text[:characters], lines)
        file = coloured(name, part) if len(part) <= colours else plain(name, part)
        shown.append(_cut(file, len(text) - len(part)) if len(part) < len(text) else file)
        colours -= len(part) if len(part) <= colours else 0
        characters, lines = max(0, characters - len(part)), max(0, lines - len(shown[-1].lines))
    return shown


@lru_cache(maxsize=32)
def coloured(name: str, text: str) -> SourceFile:
    """The file's lines with Pygments' short classes; plain and escaped where the language is unknown."""
    html = highlight(visible(text), _lexer(name), HtmlFormatter(nowrap=True))
    rows = html.removesuffix("\n").split("\n")
    return SourceFile(name, tuple(SourceLine(n, Markup(row)) for n, row in enumerate(rows, 1)))  # noqa: S704


def plain(name: str, text: str) -> SourceFile:
    rows = visible(text).removesuffix("\n").split("\n")
    return SourceFile(name, tuple(SourceLine(n, escape(row)) for n, row in enumerate(rows, 1)))


def _cut(file: SourceFile, left: int) -> SourceFile:
    said = f"(cut here: {left} more characters are kept but not shown)"
    return SourceFile(file.name, (*file.lines, SourceLine(len(file.lines) + 1, escape(said))))


def _first_lines(text: str, count: int) -> str:
    rows = text.split("\n", count)
    return text if len(rows) <= count else "\n".join(rows[:count])


def _lexer(name: str) -> Lexer:
    alias = _LEXERS.get(PurePosixPath(name).suffix.lower(), "text")
    try:
        return get_lexer_by_name(alias, stripnl=False)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False)
