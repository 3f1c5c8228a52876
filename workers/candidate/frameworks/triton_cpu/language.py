"""Switches `triton.language` to interpretation for the time of one launch, and back."""

# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock
from triton.runtime import jit

from .overflow import pointers_of_blocks
from .reductions import Reduction, Scan
from .rewrite import runnable

_MISSING = object()
# Hints and loops have interpreted forms of their own, which binding the builtins must not undo.
_STOCK_REPLACES = ("multiple_of", "max_contiguous", "max_constancy", "range", "static_range")


class StaticAssertFailed(AssertionError):
    """A `tl.static_assert` failed; the compiler calls it a compile-time assertion failure."""


def _static_assert(condition: Any, message: str = "", **_: Any) -> None:
    if not getattr(condition, "value", condition):
        raise StaticAssertFailed(getattr(message, "value", message))


def _bind(member: Any) -> Any:
    def bound(*arguments: Any, **options: Any) -> Any:
        options["_semantic"] = stock.interpreter_semantic
        return member(*arguments, **options)

    return bound


def _reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: bool = False, **_: Any) -> Any:
    return Reduction(_axis(axis, input), combine_fn, keep_dims).apply(input)


def _scan(input: Any, axis: Any, combine_fn: Any, reverse: bool = False, **_: Any) -> Any:
    return Scan(_axis(axis, input), combine_fn, reverse).apply(input)


def _axis(axis: Any, input: Any) -> int | None:
    axis = getattr(axis, "value", axis)
    if axis is None:
        return None
    first = input[0] if isinstance(input, tuple) else input
    return operator.index(axis) % len(first.shape) if len(first.shape) else int(axis)


class Language:
    """The attributes that interpretation replaces; the list is made once, each launch only swaps it."""

    def __init__(self) -> None:
        self._changes: list[tuple[Any, str, Any, Any]] = []
        self._functions: dict[int, tuple[Any, Any]] = {}
        self._depth = 0

    @contextmanager
    def interpreted(self) -> Iterator[None]:
        """Inside, kernels are plain Python; outside, the compiler sees the untouched language."""
        if not self._changes:
            self._changes = self._collect()
        self._depth += 1
        try:
            if self._depth == 1:
                for owner, name, new, _ in self._changes:
                    setattr(owner, name, new)
            with np.errstate(all="ignore"):
                yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._restore()

    def function(self, kernel: Any) -> Any:
        """The interpreted form of a JIT function (kept by identity: hashing one reads its sources)."""
        if id(kernel) not in self._functions:
            self._functions[id(kernel)] = (kernel, runnable(kernel))
        return self._functions[id(kernel)][1]

    def _restore(self) -> None:
        for owner, name, _, old in reversed(self._changes):
            if old is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)

    def _collect(self) -> list[tuple[Any, str, Any, Any]]:
        scope = stock._LangPatchScope()
        try:
            for module in (tl, tl.core):
                stock._patch_lang_tensor(module.tensor, scope)
                stock._patch_lang_core(module, scope)
            replaced = {(id(o), n): (o, n, getattr(o, n)) for o, n, _ in scope._changes}
        finally:
            scope.restore()
        for owner, name, new in self._ours():
            replaced[(id(owner), name)] = (owner, name, new)
        return [(o, n, new, o.__dict__.get(n, _MISSING)) for o, n, new in replaced.values()]

    def _ours(self) -> Iterator[tuple[Any, str, Any]]:
        from triton.language.extra.cuda import libdevice

        for owner in (tl, tl.core, tl.math, tl.tensor, tl.core.tensor_descriptor_base, libdevice):
            for name, member in inspect.getmembers(owner, tl.core.is_builtin):
                if name in _STOCK_REPLACES:
                    continue
                yield owner, name, _bind(member)
        for name, member in vars(tl.tensor).items():
            if isinstance(member, jit.JITFunction):
                yield tl.tensor, name, self._method(member)
        for module in (tl, tl.core):
            yield module, "reduce", _reduce
            yield module, "associative_scan", _scan
            yield module, "static_assert", _static_assert
            yield module, "static_print", lambda *_, **__: None
        yield tl.tensor, "reduce", _reduce
        yield tl.tensor, "associative_scan", _scan
        yield tl.dtype, "to_ir", lambda dtype, _builder: dtype
        yield jit.JITFunction, "__call__", self._nested_call
        yield (
            stock.BlockPointerHandle,
            "materialize_pointers",
            pointers_of_blocks(stock.BlockPointerHandle.materialize_pointers),
        )
        yield (
            stock.TensorDescHandle,
            "materialize_pointers",
            pointers_of_blocks(stock.TensorDescHandle.materialize_pointers),
        )

    def _method(self, kernel: Any) -> Any:
        """A library kernel called as a method: JIT functions do not bind their first argument by themselves."""

        def method(tensor: Any, *arguments: Any, **options: Any) -> Any:
            return kernel(tensor, *arguments, **options)

        return method

    @property
    def _nested_call(self) -> Any:
        language = self

        def call(kernel: Any, *arguments: Any, **options: Any) -> Any:
            options.pop("_semantic", None)
            options.pop("_generator", None)
            return language.function(kernel)(*arguments, **options)

        return call
