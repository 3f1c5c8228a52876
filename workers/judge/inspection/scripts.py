"""What of a source only runs as a script: its `if __name__ == "__main__"` blocks, and functions that nothing else uses.

A harness imports a submission and calls its entry; self-tests and benchmarks that authors leave beside it never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def script_only(tree: ast.Module, entry: str | None) -> set[ast.stmt]:
    """The top-level statements that only run as a script; just the blocks where the `entry` is not known.

    A name in a string counts as a use, since a function may be looked up by it.
    """
    blocks = {node for node in tree.body if _is_main_block(node)}
    others = [node for node in tree.body if node not in blocks]
    definitions = {node.name: node for node in others if isinstance(node, Definition)}
    if entry is None or len(definitions) != sum(isinstance(node, Definition) for node in others):
        return set(blocks)
    runs = [name for node in others for name in _names(_run_on_import(node))]
    needed = _reached([entry, *runs], definitions)
    reached = _reached([name for block in blocks for name in _names([block])], definitions)
    return blocks | {definitions[name] for name in reached - needed}


def _is_main_block(node: ast.stmt) -> bool:
    """`if __name__ == "__main__"` as it is always written; `!=`, and whatever has an `else`, runs on import too."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    told = {side.id if isinstance(side, ast.Name) else getattr(side, "value", None) for side in sides}
    return told == {"__name__", "__main__"} and isinstance(node.test.ops[0], ast.Eq) and len(sides) == 2


def _run_on_import(node: ast.stmt) -> Iterable[ast.AST]:
    """Of a function its decorators, defaults and annotations; anything else as a whole, the body of a class too."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
    return [node]


def _reached(names: Iterable[str], definitions: dict[str, Definition]) -> set[str]:
    """The definitions that these names use, directly or through one another."""
    left, found = list(names), set()
    while left:
        name = left.pop()
        if name in definitions and name not in found:
            found.add(name)
            left += _names([definitions[name]])
    return found


def _names(roots: Iterable[ast.AST]) -> set[str]:
    nodes = [node for root in roots for node in ast.walk(root)]
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    return read | {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
