"""Eigenvectors and singular vectors: right up to a sign, a phase, or a rotation among equal values.

Residuals follow the backward error that LAPACK promises: a modest multiple of n·eps times the matrix's norm
(LAPACK Users' Guide, 3rd edition, sections 4.7 and 4.9).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench_checks.arrays import Array, all_close, as_array, first, spacing, wide
from workbench_checks.result import Result, passed, refused

_MODEST = 32.0


def same_up_to_phase(got: Any, want: Any, *, axis: int = -2, atol: float = 1e-6, rtol: float = 1e-5) -> Result:
    """Each vector is the wanted one times a number of modulus 1 (±1 for real ones).

    `axis` runs along a vector's components: -2 where vectors are columns.  Right only where the vectors are unique
    otherwise, so not for repeated eigenvalues: there, ask `eigen` or `svd`.
    """
    got, want = wide(as_array(got)), wide(as_array(want))
    if got.shape != want.shape:
        return all_close("vectors", got, want)
    inner = (np.conj(got) * want).sum(axis=axis, keepdims=True)
    size = np.abs(inner)
    phase = np.where(size > 0, inner / np.where(size > 0, size, 1), 1)
    return all_close("up to its vector's sign or phase, component ", got * phase, want, atol, rtol)


def eigen(matrix: Any, values: Any, vectors: Any, *, tolerance: float | None = None) -> Result:
    """Eigenvalues (ascending) and eigenvectors (columns) of a symmetric or Hermitian `matrix` (..., n, n).

    Asks for A·V = V·Λ within `tolerance` times A's largest row sum, and for V* V = 1 within `tolerance`.
    Default: 32·n·eps of the vectors' format.
    """
    a, w, v = (wide(as_array(part)) for part in (matrix, values, vectors))
    limit = _MODEST * a.shape[-1] * spacing(vectors) if tolerance is None else tolerance
    if v.shape != a.shape or w.shape != a.shape[:-1]:
        return refused(f"values {w.shape} and vectors {v.shape} do not fit a matrix {a.shape}")
    scale = _norm(a)
    return (
        _small("A·V - V·Λ ", a @ v - v * w[..., None, :], limit * scale)
        and _orthonormal("V", v, limit)
        and _ascends("eigenvalue ", w, limit * scale[..., 0])
    )


def svd(matrix: Any, u: Any, s: Any, vh: Any, *, tolerance: float | None = None) -> Result:
    """U·diag(s)·Vh = `matrix` (..., m, n) with orthonormal columns of U and rows of Vh, and s falling from s ≥ 0.

    Reduced or full factors.  `tolerance` as in `eigen`, with the larger of m and n.
    """
    a, left, values, right = (wide(as_array(part)) for part in (matrix, u, s, vh))
    m, n = a.shape[-2:]
    k = min(m, n)
    limit = _MODEST * max(m, n) * spacing(u) if tolerance is None else tolerance
    batch = a.shape[:-2]
    fits = left.shape in ((*batch, m, k), (*batch, m, m)) and right.shape in ((*batch, k, n), (*batch, n, n))
    if not fits or values.shape != (*batch, k):
        return refused(f"U {left.shape}, s {values.shape} and Vh {right.shape} do not fit a matrix {a.shape}")
    scale = _norm(a)
    product = (left[..., :k] * values[..., None, :]) @ right[..., :k, :]
    return (
        _small("U·diag(s)·Vh - A ", product - a, limit * scale)
        and _orthonormal("U", left, limit)
        and _orthonormal("Vh", np.conj(np.swapaxes(right, -1, -2)), limit)
        and _ascends("singular value, from the smallest on, ", np.flip(values, -1), limit * scale[..., 0])
        and _small("the negative part of singular value ", np.minimum(values, 0), 0.0)
    )


def _norm(a: Array) -> Array:
    """The largest row sum of each matrix, with two axes of 1; the norm of the transpose where that is larger."""
    size = np.abs(a)
    return np.maximum(size.sum(-1).max(-1, initial=0.0), size.sum(-2).max(-1, initial=0.0))[..., None, None]


def _small(name: str, residual: Array, limit: Any) -> Result:
    large = ~(np.abs(residual) <= limit)
    if not large.any():
        return passed()
    at = first(large)
    allowed = np.broadcast_to(limit, residual.shape)[at]
    return refused(f"{name}{list(at)} is {np.abs(residual[at]):.3g}; at most {allowed:.3g} is rounding")


def _orthonormal(name: str, columns: Array, limit: float) -> Result:
    gram = np.conj(np.swapaxes(columns, -1, -2)) @ columns
    return _small(f"{name}*·{name} - 1 ", gram - np.eye(columns.shape[-1]), limit)


def _ascends(name: str, values: Array, slack: Array) -> Result:
    falls = np.diff(values, axis=-1) < -slack
    if not falls.any():
        return passed()
    at = first(falls)
    return refused(f"{name}{[*at[:-1], at[-1] + 1]} is out of order")
