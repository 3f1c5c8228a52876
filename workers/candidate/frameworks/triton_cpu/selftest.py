"""Checks at start-up that this Triton's interpreter computes what a GPU would, operation by operation."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from . import selftest_kernels as kernels
from .builder import make_builder, make_semantic
from .formats import Array
from .language import Language

_LENGTH = 16
_BF16 = ml_dtypes.bfloat16
_ELEMENTWISE = ("add", "sub", "mul", "div", "neg", "abs", "maximum", "minimum", "less_where", "exp", "scale", "fma",
                "clamp")  # fmt: skip
_REDUCTIONS = ("sum", "max", "min", "cumsum", "sort")
_NARROW: dict[str, tuple[Any, Any]] = {
    "bf16": (_BF16, tl.bfloat16),
    "fp16": (np.float16, tl.float16),
    "e4m3fn": (ml_dtypes.float8_e4m3fn, tl.float8e4nv),
    "e5m2": (ml_dtypes.float8_e5m2, tl.float8e5),
    "e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, tl.float8e4b8),
    "e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, tl.float8e5b16),
}
# Halves, carries into the exponent, subnormals and saturation: where wrong roundings show.
_CAST_VALUES = np.array(
    [1.00390625, 1.01171875, 31.48, -31.48, 1.9999, 0.3333333, 1e-3, -2e-7, 0.0, 447.9, 1e6, -1e6, 3.14159, 65.5,
     0.0157, -0.999], dtype=np.float32)  # fmt: skip


class _Bench:
    """Runs a kernel for one program on NumPy arrays with a given operation set."""

    def __init__(self, language: Language, builder: Any) -> None:
        self._language = language
        self._builder = builder

    def run(self, kernel: Any, arrays: list[Array], kinds: list[Any], **constants: Any) -> None:
        before = stock.interpreter_builder, stock.interpreter_semantic
        stock.interpreter_builder, stock.interpreter_semantic = self._builder, make_semantic(self._builder)
        try:
            self._builder.set_grid_dim(1, 1, 1)
            self._builder.grid_idx = (0, 0, 0)
            with self._language.interpreted():
                self._language.function(kernel)(*map(_pointer, arrays, kinds), **constants)
        finally:
            stock.interpreter_builder, stock.interpreter_semantic = before


def _pointer(array: Array, kind: Any) -> tl.tensor:
    pointer = tl.pointer_type(kind)
    return tl.tensor(stock.TensorHandle(np.array([array.ctypes.data], dtype=np.uint64), pointer), pointer)


def _operands(kind: Any) -> tuple[Array, Array]:
    random = np.random.default_rng(7)
    left = random.standard_normal(_LENGTH).astype(np.float32)
    right = (np.abs(random.standard_normal(_LENGTH)) + 0.5).astype(np.float32)
    return left.astype(kind), right.astype(kind)


def _wrong(names: tuple[str, ...], got: Array, want: list[Array], tolerance: float = 0.0) -> list[str]:
    bad = []
    for name, row, expected in zip(names, got, want, strict=True):
        limit = tolerance * np.maximum(1.0, np.abs(expected.astype(np.float64)))
        if not (np.abs(row.astype(np.float64) - expected.astype(np.float64)) <= limit).all():
            bad.append(name)
    return bad


def _check_elementwise(bench: _Bench, kind: Any, triton_kind: Any) -> list[str]:
    x, y = _operands(kind)
    a, b = x.astype(np.float32), y.astype(np.float32)
    want = [a + b, a - b, a * b, a / b, -a, np.abs(a), np.maximum(a, b), np.minimum(a, b), np.where(a < b, a, b),
            np.exp(a), a * np.float32(2.5), a * b + a, np.clip(a, -0.5, 0.5)]  # fmt: skip
    out = np.zeros((len(want), _LENGTH), dtype=np.float32)
    bench.run(kernels.elementwise, [x, y, out], [triton_kind, triton_kind, tl.float32], N=_LENGTH)
    # fp16 fused multiply-add rounds twice in NumPy, so one unit in the last place is allowed there.
    return _wrong(_ELEMENTWISE, out, [w.astype(kind) for w in want], tolerance=0.0 if kind is _BF16 else 1e-3)


def _check_reductions(bench: _Bench, kind: Any, triton_kind: Any) -> list[str]:
    x, _ = _operands(kind)
    a = x.astype(np.float32)
    row = np.ones(_LENGTH, dtype=np.float32)
    want = [row * a.sum(), row * a.max(), row * a.min(), np.cumsum(a), np.sort(a)]
    out = np.zeros((len(want), _LENGTH), dtype=np.float32)
    bench.run(kernels.reductions, [x, out], [triton_kind, tl.float32], N=_LENGTH)
    return _wrong(_REDUCTIONS, out, want, tolerance=1.6e-2 if kind is _BF16 else 2e-3)


def _check_cast(bench: _Bench, name: str) -> list[str]:
    kind, triton_kind = _NARROW[name]
    limit = float(ml_dtypes.finfo(kind).max)
    saturates = name.startswith("e")
    values = np.clip(_CAST_VALUES, -limit, limit) if saturates else np.clip(_CAST_VALUES, -6e4, 6e4)
    given = _CAST_VALUES.copy() if saturates else values.copy()
    out = np.zeros((1, _LENGTH), dtype=np.float32)
    bench.run(kernels.casts, [given, out], [tl.float32, tl.float32], KIND=triton_kind, N=_LENGTH)
    return _wrong((f"cast_{name}",), out, [values.astype(kind).astype(np.float32)])


def _check_product(bench: _Bench, kind: Any, triton_kind: Any, precision: str) -> tuple[Array, Array]:
    random = np.random.default_rng(3)
    x, y = (random.standard_normal((_LENGTH, _LENGTH)).astype(np.float32).astype(kind) for _ in range(2))
    out = np.zeros((_LENGTH, _LENGTH), dtype=np.float32)
    bench.run(kernels.product, [x, y, out], [triton_kind, triton_kind, tl.float32], PRECISION=precision, N=_LENGTH)
    return out, x.astype(np.float64) @ y.astype(np.float64)


def _check_dot(bench: _Bench, name: str) -> list[str]:
    got, want = _check_product(bench, *_NARROW[name], "tf32")
    return _wrong((f"dot_{name}",), got[None], [want], tolerance=1e-5)


def _check_tf32(bench: _Bench) -> list[str]:
    """The default must show TF32's error on fp32 operands, and IEEE must not."""
    got, want = _check_product(bench, np.float32, tl.float32, "ieee")
    bad = _wrong(("dot_ieee",), got[None], [want], tolerance=1e-5)
    got, want = _check_product(bench, np.float32, tl.float32, "tf32")
    error = float(np.abs(got - want).max())
    return bad if 1e-4 < error < 2e-2 else [*bad, "dot_tf32"]


def _check_extrema(bench: _Bench) -> list[str]:
    x, y = _operands(np.float32)
    x[::2] = np.nan
    out = np.zeros((2, _LENGTH), dtype=np.float32)
    bench.run(kernels.extrema, [x, y, out], [tl.float32] * 3, N=_LENGTH)
    return _wrong(("maximum_nan", "minimum_nan"), out, [np.fmax(x, y), np.fmin(x, y)])


def _check_atomic(bench: _Bench) -> list[str]:
    x = np.full(_LENGTH, 0.25, dtype=_BF16)
    out = np.zeros(1, dtype=_BF16)
    bench.run(kernels.atomic_sum, [x, out], [tl.bfloat16, tl.bfloat16], N=_LENGTH)
    return [] if float(out[0]) == 0.25 * _LENGTH else ["atomic_add"]


def _attempt(name: str, check: Callable[[], list[str]]) -> list[str]:
    """A check that cannot even run has failed."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
        return [f"{name}: {type(error).__name__}: {error}"[:200]]


def failing_operations(language: Language, builder: Any = None) -> dict[str, list[str]]:
    """Failing operations per group for a builder (ours by default); every list empty means all is well."""
    bench = _Bench(language, builder or make_builder())
    bf16, fp16 = _NARROW["bf16"], _NARROW["fp16"]
    groups: dict[str, list[tuple[str, Callable[[], list[str]]]]] = {
        "bf16": [
            ("elementwise", lambda: _check_elementwise(bench, *bf16)),
            ("cast", lambda: _check_cast(bench, "bf16")),
            ("dot", lambda: _check_dot(bench, "bf16")),
            ("atomic", lambda: _check_atomic(bench)),
        ],
        "fp16": [("elementwise", lambda: _check_elementwise(bench, *fp16)), ("dot", lambda: _check_dot(bench, "fp16"))],
        "fp8": [
            *((name, lambda name=name: _check_cast(bench, name)) for name in _NARROW if name.startswith("e")),
            ("dot", lambda: _check_dot(bench, "e4m3fn")),
        ],
        "fp32": [("extrema", lambda: _check_extrema(bench))],
        "tf32": [("dot", lambda: _check_tf32(bench))],
        "reduce": [
            ("bf16", lambda: _check_reductions(bench, *bf16)),
            ("fp16", lambda: _check_reductions(bench, *fp16)),
        ],
    }
    return {group: [bad for name, check in checks for bad in _attempt(name, check)] for group, checks in groups.items()}
