"""What the rules of other harnesses say of an output, all from one pass over it.

`RuleTally` counts violations, `rules` turns the counts into pass or fail.  a = |got - ref| and r = ref,
where ref is the *native* reference, as these harnesses compare (they have no float64 oracle).  Thresholds
are those published: KernelBench `eval.py` (v0: 1e-2 for every dtype), reference-kernels `utils.py`
(`verbose_allclose`), pygpubench `check.cu` (a task brings its tolerances; 1e-6 is its own example's),
flashinfer-bench and SOL-ExecBench evaluator defaults, BackendBench `allclose`, robust-kbench `eval`,
torch 2.13 `_comparison.py`, JAX `public_test_util.py`, NumPy `allclose`.  flashinfer-bench and
SOL-ExecBench cast to float32 first; here values stay as they are, which differs for float64 outputs
beyond float32's range alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.report import OutputResult, WorkloadResult
from workers.judge.numerics.formats import COMPONENTS, Floats, Mask, is_exact

Bounds = tuple[float, float]  # (atol, rtol)
Inside = Callable[[Floats, Floats, Bounds], Mask]
FAIL, PASS = "fail", "pass"
WORD = 8  # bytes
TINY = 1e-8  # flashinfer-bench's divisor


def _sum(a: Floats, r: Floats, bounds: Bounds) -> Mask:
    """Within atol + rtol·|r|."""
    inside: Mask = a <= bounds[0] + bounds[1] * r
    return inside


def _either(a: Floats, r: Floats, bounds: Bounds) -> Mask:
    """Within atol or within rtol·|r|."""
    return (a <= bounds[0]) | (a <= bounds[1] * r)


def _not_both(a: Floats, r: Floats, bounds: Bounds) -> Mask:
    """Not beyond both atol and rtol."""
    return ~((a > bounds[0]) & (a / (r + TINY) > bounds[1]))


INSIDE = (_sum, _either, _not_both)


@dataclass(frozen=True)
class NamedRule:
    """One harness's rule.

    `bounds`: (atol, rtol) by dtype, `other` for the rest.  `nan`: what a NaN in the reference asks for:
    "never" (nothing passes), "equal" (a NaN), "any" (anything passes).  `finite`: any NaN or infinity, on
    either side, fails the whole output.  `ratio`: the share of elements that must pass.  `no_zeros`: an
    output of zeros fails where the reference has others.
    """

    name: str
    other: Bounds
    bounds: dict[str, Bounds] = field(default_factory=dict)
    inside: Inside = _sum
    nan: str = "never"
    finite: bool = False
    ratio: float = 1.0
    no_zeros: bool = False

    def of(self, dtype: np.dtype[Any]) -> Bounds:
        return self.bounds.get(COMPONENTS.get(dtype.name, dtype.name), self.other)

    def violated(self, got: NDArray[Any], ref: NDArray[Any], bounds: Bounds) -> int:
        """How many elements miss it; float64 or complex128, one-dimensional."""
        a, r = np.abs(got - ref), np.abs(ref)
        inside = (got == ref) | (np.isfinite(a) & np.isfinite(r) & self.inside(a, r, bounds))
        if self.nan != "never":
            wanted = np.isnan(ref)
            inside = np.where(wanted, np.isnan(got) if self.nan == "equal" else True, inside)
        return int(inside.size - np.count_nonzero(inside))


def _both(value: float) -> Bounds:
    return value, value


_LOW = {"float16": _both(1e-2), "bfloat16": _both(1e-2)}
_JAX = {
    "float64": _both(1e-15),
    "float32": _both(1e-6),
    "float16": _both(1e-3),
    "bfloat16": _both(1e-2),
    **{f"float8_{kind}": _both(1e-1) for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz")},
    **{f"float8_{kind}": _both(1e-1) for kind in ("e3m4", "e4m3")},
    "float4_e2m1fn": _both(1.0),
    "float8_e8m0fnu": _both(1.0),
}
_TORCH = {"float64": (1e-7, 1e-7), "float32": (1e-5, 1.3e-6), "float16": (1e-5, 1e-3), "bfloat16": (1e-5, 1.6e-2)}

RULES = (
    NamedRule("kernelbench-v0", _both(1e-2)),
    NamedRule("kernelbench", _both(1e-4), _LOW),
    NamedRule("kernelbot", (1e-8, 1e-5), nan="equal"),
    NamedRule("pygpubench", _both(1e-6), inside=_either, nan="any"),
    NamedRule("flashinfer-bench", _both(1e-2), inside=_not_both, finite=True),
    NamedRule("sol-execbench", _both(1e-2), finite=True, ratio=0.99, no_zeros=True),
    NamedRule("backendbench", _both(1e-2), nan="equal"),
    NamedRule("robust-kbench", _both(1e-5)),
    NamedRule("torch.testing", _both(0.0), _TORCH),
    NamedRule("jax", _both(0.0), _JAX, nan="equal"),
    NamedRule("numpy.allclose", (1e-8, 1e-5)),
)


@dataclass
class RuleTally:
    """Counts over the pieces of one output of `dtype`; two of them add up with `merge`."""

    dtype: np.dtype[Any]
    elements: int = 0
    nonfinite: int = 0  # in either, elements
    got_zero: bool = True
    ref_zero: bool = True
    violations: dict[str, int] = field(default_factory=lambda: dict.fromkeys((rule.name for rule in RULES), 0))

    def add(self, got: NDArray[Any], ref: NDArray[Any], *, finite: bool = False) -> None:
        """Take in a piece, one-dimensional; both have `dtype`.  `finite`: neither holds NaN or infinities."""
        self.elements += got.size
        self.got_zero = self.got_zero and not got.any()
        self.ref_zero = self.ref_zero and not ref.any()
        if finite:  # then equal bits are within every rule
            other = np.flatnonzero(_bits(got) != _bits(ref))
            got, ref = got[other], ref[other]
        if got.size:
            got, ref = _wide(got), _wide(ref)
            suspects = self._suspects(got, ref)
            self._add_suspects(got[suspects], ref[suspects])

    def _suspects(self, got: NDArray[Any], ref: NDArray[Any]) -> NDArray[np.intp]:
        """Where some rule may be missed: not within the smallest atol and rtol of them all."""
        atol, rtol = tightest(self.dtype)
        with np.errstate(all="ignore"):
            allowed = np.abs(ref)
            allowed *= rtol
            allowed += atol
            return np.flatnonzero(~(np.abs(got - ref) <= allowed))

    def _add_suspects(self, got: NDArray[Any], ref: NDArray[Any]) -> None:
        if not got.size:
            return
        self.nonfinite += int(np.count_nonzero(~(np.isfinite(got) & np.isfinite(ref))))
        with np.errstate(all="ignore"):
            for rule in RULES:
                self.violations[rule.name] += rule.violated(got, ref, rule.of(self.dtype))

    def merge(self, other: RuleTally) -> None:
        self.elements += other.elements
        self.nonfinite += other.nonfinite
        self.got_zero, self.ref_zero = self.got_zero and other.got_zero, self.ref_zero and other.ref_zero
        for name, count in other.violations.items():
            self.violations[name] += count


@functools.cache
def tightest(dtype: np.dtype[Any]) -> Bounds:
    """An (atol, rtol) such that a <= atol + rtol·|r| is within every rule.

    The larger of two bounds is at least half their sum: hence half for the rules that do not add them.
    """
    parts = [(rule.of(dtype), 1.0 if rule.inside is _sum else 0.5) for rule in RULES]
    return min(share * b[0] for b, share in parts), min(share * b[1] for b, share in parts)


def rules(counts: RuleTally) -> dict[str, str]:
    """`pass` or `fail` by every rule's name; an output without elements passes."""
    return {rule.name: PASS if _passes(rule, counts) else FAIL for rule in RULES}


def _passes(rule: NamedRule, counts: RuleTally) -> bool:
    if rule.finite and counts.nonfinite:
        return False
    if rule.no_zeros and counts.elements and counts.got_zero and not counts.ref_zero:
        return False
    return counts.violations[rule.name] <= (1.0 - rule.ratio) * counts.elements


def worst(workloads: Iterable[WorkloadResult]) -> dict[str, str]:
    """By rule, over the outputs of the task's own workloads; an output of another shape or dtype fails all.

    Empty where nothing was compared: all outputs belong to a task-defined check, or no workload ran.
    """
    compared = [o for w in workloads if w.family == "task" for o in w.outputs if _is_compared(o)]
    names = [rule.name for rule in RULES] if compared else []
    return {n: FAIL if any(o.rules.get(n, FAIL) == FAIL for o in compared) else PASS for n in names}


def _is_compared(output: OutputResult) -> bool:
    return bool(output.rules) or output.decided_by in ("shape", "dtype")


def _bits(piece: NDArray[Any]) -> NDArray[Any]:
    """The same bytes as unsigned integers, which compare quickly; complex128 as it is."""
    return piece.view(f"u{piece.dtype.itemsize}") if piece.dtype.itemsize <= WORD else piece


def _wide(piece: NDArray[Any]) -> NDArray[Any]:
    """Floats as float64, integers too, complex as complex128."""
    if piece.dtype.kind == "c":
        return piece.astype(np.complex128)
    return piece.astype(np.int64).astype(np.float64) if is_exact(piece.dtype) else piece.astype(np.float64)
