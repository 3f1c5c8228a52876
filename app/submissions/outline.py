"""What a source defines at its top level, read from its lines alone: nothing is run, and nothing is guessed deeper.

Python by indentation, C and its kin by braces.  Another language has no outline, which is not an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FEATURES_MAX = 300
_PYTHON = re.compile(r"(?:async +)?(def|class) +(\w+)")
_C_NAME = re.compile(r"(\w+)[ \t]*\(")
_C_START = re.compile(r"[A-Za-z_]")
_C_NOT = re.compile(
    r"(?:typedef|using|namespace|struct|class|enum|union|return|if|for|while|switch|static_assert)\b|TORCH_"
)
_ATTRIBUTES = re.compile(r"__launch_bounds__[ \t]*\([^()]*\)|__attribute__[ \t]*\(\([^()]*\)\)|template[ \t]*<[^>]*>")
_KERNEL = "__global__"
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//.*')
# A line of the signature or of its closing bracket, and words to the reader, end no block.
_GOES_ON = (")", "]", "}", "#", "@")


@dataclass(frozen=True)
class Feature:
    """A function, kernel or class, from its first decorator or template to its last line."""

    name: str
    kind: str
    start: int
    end: int


def features(path: str, lines: Sequence[str]) -> list[Feature] | None:
    """In order; None where the language is not one that is read here."""
    suffix = path.rpartition(".")[2].lower()
    if suffix == "py":
        return _python(lines)[:FEATURES_MAX]
    if suffix in ("cu", "cuh", "hip", "c", "cc", "cpp", "h", "hpp"):
        return _braces(lines)[:FEATURES_MAX]
    return None


def _python(lines: Sequence[str]) -> list[Feature]:
    found = []
    for at, line in enumerate(lines):
        match = _PYTHON.match(line)
        if match:
            start = _first_decorator(lines, at)
            is_kernel = any(".jit" in above or "kernel" in above for above in lines[start:at])
            kind = "kernel" if is_kernel else "class" if match[1] == "class" else "function"
            found.append(Feature(match[2], kind, start + 1, _end_of_block(lines, at) + 1))
    return found


def _first_decorator(lines: Sequence[str], at: int) -> int:
    """Decorators may run over lines: those between one and what it decorates are indented or close a bracket."""
    first = at
    for above in range(at - 1, -1, -1):
        line = lines[above]
        if line.startswith("@"):
            first = above
        elif not (line.startswith((" ", "\t", ")", "]", "#")) and line.strip()):
            break
    return first


def _end_of_block(lines: Sequence[str], at: int) -> int:
    last = at
    for below in range(at + 1, len(lines)):
        line = lines[below]
        if line.strip() and not line.startswith((" ", "\t", *_GOES_ON)):
            break
        if line.startswith((" ", "\t", ")", "]", "}")) and line.strip():
            last = below
        if line.startswith("@"):
            break
    return last


def _braces(lines: Sequence[str]) -> list[Feature]:
    found: list[Feature] = []
    depth, head, begun = 0, "", 0
    open_one: tuple[str, str, int] | None = None
    for at, line in enumerate(_without_comments(lines)):
        text = _QUOTED.sub("", line)
        if depth == 0 and open_one is None and not text.lstrip().startswith("#"):
            begun = at if not head.strip() else begun
            head = f"{head} {text}"
            before = head.partition("{")[0]
            if "{" in head and (named := _function(before)):
                open_one = (*named, begun)
            if "{" in head or ";" in head:
                head = ""
        opened, closed = text.count("{"), text.count("}")
        # What stands in `extern "C" { }` or a namespace is at the top all the same.
        if opened and depth == 0 and open_one is None:
            opened -= 1
        depth = max(0, depth + opened - closed)
        if open_one is not None and depth == 0 and "}" in text:
            found.append(Feature(open_one[0], open_one[1], open_one[2] + 1, at + 1))
            open_one = None
    return found


def _function(head: str) -> tuple[str, str] | None:
    """Name and kind of what a head declares; None where it declares no function."""
    said = _ATTRIBUTES.sub(" ", head).strip()
    name = _C_NAME.search(said)
    if name is None or not _C_START.match(said) or _C_NOT.match(said) or "=" in said.partition("(")[0]:
        return None
    return name[1], "kernel" if _KERNEL in said else "function"


def _without_comments(lines: Sequence[str]) -> list[str]:
    """The same lines, blank where a /* comment */ stands."""
    found, inside = [], False
    for line in lines:
        kept = ""
        rest = line
        while rest:
            before, mark, rest = rest.partition("*/" if inside else "/*")
            kept += "" if inside else before
            inside = inside != bool(mark)
        found.append(kept)
    return found
