"""Rewrites a kernel's Python so that running it means what compiling it means."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import triton.language as tl
from triton.runtime import interpreter as stock

_AS_TENSOR, _COUNT, _LOGIC, _NOT, _LIMIT, _CHECK, _TRUTH, _SEMANTIC = (
    f"__kernel_{name}" for name in ("as_tensor", "count", "logic", "not", "limit", "check", "truth", "semantic")
)


def _as_tensor(value: Any) -> Any:
    """Assigned Python numbers become tensors, as in the compiler."""
    return stock.interpreter_semantic.to_tensor(value, False)


def _count(positions: Any) -> Iterator[Any]:
    """A loop's induction variable is a 32-bit tensor (64-bit where the bounds need it), not a Python int."""
    if not isinstance(positions, range):
        yield from positions
        return
    fits = -(2**31) <= positions.start < 2**31 and -(2**31) <= positions.stop < 2**31
    kind, get = (tl.int32, "get_int32") if fits else (tl.int64, "get_int64")
    for position in positions:
        yield tl.tensor(getattr(stock.interpreter_builder, get)(position), kind)


def _logic(name: str, *operands: Callable[[], Any]) -> Any:
    """`and` and `or`: elementwise on tensors, short-circuit on compile-time values."""
    result = None
    for operand in operands:
        value = operand()
        if not isinstance(value, tl.tensor):
            if bool(value) is (name == "logical_or"):
                return value
            result = value if result is None else result
        elif isinstance(result, tl.tensor):
            result = getattr(result, name)(value)
        else:
            result = value
    return result


def _not(value: Any) -> Any:
    return value.__not__() if isinstance(value, tl.tensor) else not value


def _limit(name: str, *values: Any, **options: Any) -> Any:
    """`min` and `max`: Triton's on tensors, Python's on numbers."""
    if len(values) < 2 or not any(isinstance(v, tl.tensor) for v in values):
        return getattr(builtins, name)(*values, **options)
    pick = tl.minimum if name == "min" else tl.maximum
    result = values[0]
    for value in values[1:]:
        result = pick(result, value)
    return result


def _truth(value: Any) -> bool:
    """A condition must be a scalar; Triton's own code takes the truth of whole tensors to mean "is given"."""
    if isinstance(value, tl.tensor) and value.handle.data.size != 1:
        raise ValueError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(value)


def _check(condition: Any, message: Any = "") -> None:
    """`assert`: on a tensor a device assertion, else decided now."""
    if isinstance(condition, tl.tensor):
        tl.device_assert(condition, str(message))
    else:
        assert condition, message


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=arguments, keywords=[])


class _Meaning(ast.NodeTransformer):
    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if len(node.targets) > 1:
            raise SyntaxError("simultaneous multiple assignment is not supported.")
        self.generic_visit(node)
        node.value = _call(_AS_TENSOR, [node.value])
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        iterates = node.iter.func if isinstance(node.iter, ast.Call) else None
        name = getattr(iterates, "id", getattr(iterates, "attr", None))
        if name == "range":
            node.iter = _call(_COUNT, [node.iter])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return _call(_LOGIC, [ast.Constant(name), *(ast.Lambda(nothing, value) for value in node.values)])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _call(_NOT, [node.operand]) if isinstance(node.op, ast.Not) else node

    def _visit_condition(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = _call(_TRUTH, [node.test])
        return node

    visit_If = visit_While = visit_IfExp = _visit_condition  # noqa: N815 - the visitor's names

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.generic_visit(node)
        return ast.Expr(_call(_CHECK, [node.test, *([node.msg] if node.msg else [])]))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        known = self._names.get(node.func.id)
        if node.func.id in ("min", "max") and known is None:
            node.args.insert(0, ast.Constant(node.func.id))
            node.func = ast.Name(id=_LIMIT, ctx=ast.Load())
        elif tl.core.is_builtin(known):
            # A builtin imported by name is not reached by patching the language's modules.
            node.keywords.append(ast.keyword("_semantic", ast.Name(id=_SEMANTIC, ctx=ast.Load())))
        return node


def _injected() -> dict[str, Any]:
    return {
        _AS_TENSOR: _as_tensor, _COUNT: _count, _LOGIC: _logic, _NOT: _not, _LIMIT: _limit, _CHECK: _check,
        _TRUTH: _truth, _SEMANTIC: stock.interpreter_semantic,
    }  # fmt: skip


def runnable(kernel: Any) -> Callable[..., Any]:
    """The Python function that interprets a JIT function, with the source's own file and lines.

    Its globals are the kernel's own module, to which nothing is added; our names come in as a closure.
    """
    function = kernel.fn
    nonlocals = inspect.getclosurevars(function).nonlocals
    tree = ast.parse(kernel.src)
    definition: Any = tree.body[0]
    definition.decorator_list = []
    definition = _Meaning({**function.__globals__, **nonlocals}).visit(definition)
    injected = {**nonlocals, **_injected()}
    parameters = [ast.arg(arg=name) for name in injected]
    signature = ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
    result = ast.Return(ast.Name(id=definition.name, ctx=ast.Load()))
    factory = ast.FunctionDef("__factory", signature, [definition, result], [])
    module = ast.fix_missing_locations(ast.Module([factory], type_ignores=[]))
    ast.increment_lineno(module, _first_line(kernel) - 1)
    scope: dict[str, Any] = {}
    exec(compile(module, function.__code__.co_filename, "exec"), function.__globals__, scope)  # noqa: S102
    made: Callable[..., Any] = scope["__factory"](**injected)
    return made


def _first_line(kernel: Any) -> int:
    """Line of the `def`, past the decorators."""
    for offset, line in enumerate(kernel.raw_src):
        if line.strip().startswith("def "):
            return int(kernel.starting_line_number) + offset
    return int(kernel.starting_line_number)


def definition_of(kernel: Any) -> tuple[str, int]:
    """File and line of a kernel's `def`."""
    return kernel.fn.__code__.co_filename, _first_line(kernel)
