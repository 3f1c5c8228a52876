"""Rules over Python's syntax tree: what is called, never which words stand in the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workers.judge.inspection.scripts import script_only


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
    "sys.modules.values": "integrity.scans_memory",
    "sys.modules.items": "integrity.scans_memory",
    "sys.modules.copy": "integrity.scans_memory",
    "sys.settrace": "integrity.reads_caller_frame",
    "sys.setprofile": "integrity.reads_caller_frame",
    "torch.initial_seed": "integrity.seed_replay",
    "os._exit": "integrity.process_exit",
    "os.kill": "integrity.process_exit",
    "os.abort": "integrity.process_exit",
    "sys.exit": "integrity.process_exit",
}
_FRAMES = ("f_back", "f_locals", "tb_frame", "gi_frame", "cr_frame")
_PATCHED_OWNERS = ("time", "timeit", "builtins", "torch.cuda", "torch.testing", "triton.testing", "torch.cuda.Event")
_MEMORY_FILES = re.compile(r"/proc/(self|thread-self|\d+)/(mem|maps|smaps)\b")
_SEEDERS = ("manual_seed", "seed", "default_rng", "RandomState", "PRNGKey")
_DRAWS = ("randn", "rand", "randint", "randperm", "normal", "standard_normal", "uniform", "random", "integers")


def inspect_python(file: str, source: str, entry: str | None = None) -> list[Hit]:
    """Every hit in `source`; none for text that is no Python (the loader says so itself).

    `entry`: what a harness calls in this file, if known; what then only runs as a script is left out.
    """
    try:
        return _inspect(file, ast.parse(source), entry)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return []


def _inspect(file: str, tree: ast.Module, entry: str | None) -> list[Hit]:
    names, left_out = _imported_names(tree), script_only(tree, entry)
    imported = [node for top in tree.body if top not in left_out for node in ast.walk(top)]
    nodes = [node for node in imported if isinstance(node, ast.expr | ast.stmt)]
    hits = [Hit(code, file, node.lineno, what) for node in nodes for code, what in _hits(node, names)]
    return hits + [Hit("integrity.seed_replay", file, node.lineno, what) for node, what in _guessed_seeds(nodes)]


def _hits(node: ast.AST, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Call) and (dotted := _dotted(node.func, names)) in _CALLS:
        yield _CALLS[dotted], dotted
    elif isinstance(node, ast.Attribute) and node.attr in _FRAMES:
        yield "integrity.reads_caller_frame", node.attr
    elif isinstance(node, ast.Constant) and node.value in _FRAMES:
        yield "integrity.reads_caller_frame", repr(node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MEMORY_FILES.search(node.value):
        yield "integrity.scans_memory", repr(node.value[:80])
    elif isinstance(node, ast.For) and _dotted(node.iter, names) == "sys.modules":
        yield "integrity.scans_memory", "sys.modules"
    elif patched := _patched(node, names):
        yield "integrity.timer_patched", patched


def _patched(node: ast.AST, names: dict[str, str]) -> str:
    """The owner of an attribute that is bound anew, by assignment, `setattr` or its `__dict__`; "" for none."""
    owners: list[ast.AST] = []
    if isinstance(node, ast.Assign):
        owners = [_owner(target) for target in node.targets]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
        owners = [node.args[0]]
    return next((dotted for owner in owners if (dotted := _dotted(owner, names)) in _PATCHED_OWNERS), "")


def _owner(target: ast.AST) -> ast.AST:
    if isinstance(target, ast.Attribute):
        return target.value
    if not isinstance(target, ast.Subscript):
        return target
    space = target.value
    if isinstance(space, ast.Attribute) and space.attr == "__dict__":
        return space.value
    if isinstance(space, ast.Call) and isinstance(space.func, ast.Name) and space.func.id == "vars" and space.args:
        return space.args[0]
    return space


def _guessed_seeds(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.Call, str]]:
    """Generators seeded with numbers of the author's choice, in a file that draws random numbers."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not any(_last(call) in _DRAWS for call in calls):
        return
    looped = {n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
    for call in calls:
        seed = call.args[0] if call.args else None
        guessed = isinstance(seed, ast.Constant) or (isinstance(seed, ast.Name) and seed.id in looped)
        if _last(call) in _SEEDERS and guessed:
            yield call, f"{_last(call)}({ast.unparse(call.args[0])})"


def _last(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _imported_names(tree: ast.AST) -> dict[str, str]:
    """Local name -> dotted name, so that `from sys import _getframe as g` is seen through."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                (a.asname or a.name.split(".")[0]): (a.name if a.asname else a.name.split(".")[0]) for a in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {(a.asname or a.name): f"{node.module}.{a.name}" for a in node.names}
    return names


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return ""
