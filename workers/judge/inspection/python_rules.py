"""Rules over Python's syntax tree: what is called, never which words stand in the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Hit:
    """One place where a rule matches; `what` is the expression as written."""

    code: str
    file: str
    line: int
    what: str


# Dotted names of calls, by the finding that they support.
_CALLS = {
    "sys._getframe": "integrity.reads_caller_frame",
    "sys._current_frames": "integrity.reads_caller_frame",
    "inspect.currentframe": "integrity.reads_caller_frame",
    "inspect.stack": "integrity.reads_caller_frame",
    "inspect.getouterframes": "integrity.reads_caller_frame",
    "gc.get_objects": "integrity.scans_memory",
    "gc.get_referrers": "integrity.scans_memory",
    "gc.get_referents": "integrity.scans_memory",
    "os._exit": "integrity.process_exit",
    "os.kill": "integrity.process_exit",
    "os.abort": "integrity.process_exit",
    "sys.exit": "integrity.process_exit",
}
_ATTRIBUTES = {"f_back": "integrity.reads_caller_frame", "f_locals": "integrity.reads_caller_frame", "tb_frame": "integrity.reads_caller_frame"}
_PATCHED_OWNERS = ("time", "timeit", "torch.cuda", "torch.testing", "triton.testing", "torch.cuda.Event")


def inspect_python(file: str, source: str) -> list[Hit]:
    """Every hit in `source`; none for text that is no Python (the loader says so itself)."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names = _imported_names(tree)
    return [Hit(code, file, node.lineno, what) for node in _placed(tree) for code, what in _hits(node, names)]


def _placed(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt))


def _hits(node: ast.AST, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Call) and (dotted := _dotted(node.func, names)) in _CALLS:
        yield _CALLS[dotted], dotted
    elif isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
        yield _ATTRIBUTES[node.attr], node.attr
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and _dotted(target.value, names) in _PATCHED_OWNERS:
                yield "integrity.timer_patched", f"{_dotted(target.value, names)}.{target.attr}"


def _imported_names(tree: ast.AST) -> dict[str, str]:
    """Local name -> dotted name, so that `from sys import _getframe as g` is seen through."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(a.asname or a.name.split(".")[0]): (a.name if a.asname else a.name.split(".")[0]) for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {(a.asname or a.name): f"{node.module}.{a.name}" for a in node.names}
    return names


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return ""
