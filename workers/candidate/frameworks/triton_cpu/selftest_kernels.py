"""The kernel that the self-test runs: one program, every operation whose numerics we correct."""

# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _store(out, row, value, N: tl.constexpr):
    tl.store(out + row * N + tl.arange(0, N), value.to(tl.float32))


@triton.jit
def elementwise(x, y, out, N: tl.constexpr):
    """Thirteen operations on two vectors, one row of fp32 results each."""
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.load(y + i)
    _store(out, 0, a + b, N)
    _store(out, 1, a - b, N)
    _store(out, 2, a * b, N)
    _store(out, 3, (a / b).to(a.dtype), N)
    _store(out, 4, -a, N)
    _store(out, 5, tl.abs(a), N)
    _store(out, 6, tl.maximum(a, b), N)
    _store(out, 7, tl.minimum(a, b), N)
    _store(out, 8, tl.where(a < b, a, b), N)
    _store(out, 9, tl.exp(a.to(tl.float32)).to(a.dtype), N)
    _store(out, 10, a * 2.5, N)
    _store(out, 11, tl.fma(a, b, a), N)
    _store(out, 12, tl.clamp(a, -0.5, 0.5), N)


@triton.jit
def extrema(x, y, out, N: tl.constexpr):
    """Minimum and maximum where one side may be NaN."""
    a = tl.load(x + tl.arange(0, N))
    b = tl.load(y + tl.arange(0, N))
    _store(out, 0, tl.maximum(a, b), N)
    _store(out, 1, tl.minimum(a, b), N)


@triton.jit
def reductions(x, out, N: tl.constexpr):
    """Sum, extrema, scan and sort of one vector, one row of fp32 results each."""
    a = tl.load(x + tl.arange(0, N))
    flat = tl.zeros((N,), tl.float32)
    _store(out, 0, flat + tl.sum(a, 0).to(tl.float32), N)
    _store(out, 1, flat + tl.max(a, 0).to(tl.float32), N)
    _store(out, 2, flat + tl.min(a, 0).to(tl.float32), N)
    _store(out, 3, tl.cumsum(a, 0), N)
    _store(out, 4, tl.sort(a), N)


@triton.jit
def casts(x, out, KIND: tl.constexpr, N: tl.constexpr):
    """Rounds fp32 values to a narrow type and back."""
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(KIND).to(tl.float32))


@triton.jit
def product(x, y, out, PRECISION: tl.constexpr, N: tl.constexpr):
    """One square matrix product."""
    tile = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + tile, tl.dot(tl.load(x + tile), tl.load(y + tile), input_precision=PRECISION))


@triton.jit
def atomic_sum(x, out, N: tl.constexpr):
    """Adds every element to one address, atomically."""
    tl.atomic_add(out + tl.zeros((N,), tl.int32), tl.load(x + tl.arange(0, N)))
