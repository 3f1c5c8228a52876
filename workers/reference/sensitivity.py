"""How strongly an output reacts to rounding: the S and the K of the judge's error budget.

A kernel that rounds every operand and intermediate value v by a relative δ_v, |δ_v| ≤ u, has to first
order the error Σ_v δ_v·v·∂f_j/∂v in output element j, hence at most u·S_j with

    S_j = Σ_v |v·∂f_j/∂v|,

the componentwise condition number times |f_j| (Skeel 1979; Gohberg and Koltracht, SIAM J. Matrix Anal.
Appl. 14, 1993).  For a dot product it is Σ|a_i·b_i|, the S of Higham and Mary's √K·u·S.  Three sources:

* **linear**.  Where f is affine in each floating input and has no negative coefficients, S = f(|x|)
  exactly.  Affine is tested on random draws, f(a + b) + f(0) = f(a) + f(b) in each input; that no
  coefficient is negative by √3·(m + 1)·S ≥ 0.9·T, which a cancelling f(|x|) misses (T as below, m inputs).
* **first-order**.  For independent relative perturbations h·s_v with s_v uniform, of variance 1, the mean
  of (Δ_j/h)² is T_j² = Σ_v (v·∂f_j/∂v)².  By Cauchy and Schwarz T_j ≤ S_j ≤ √n·T_j for n terms.  The ratio
  R = S/T is measured, not bounded: for perturbations h·c_v with c_v from the Cauchy distribution,
  which is 1-stable, Δ_j/h is Cauchy with scale S_j (Indyk, J. ACM 53, 2006), so that the median of
  |Δ_j|/(h·T_j) over output elements and draws is R.  S_j := (1 + 2/√draws)·R·T_j; the factor covers T's
  sampling error.  With fewer than 64 samples R is its bound √n.
* none: the caller falls back to a guess.

In torch every operator's result is perturbed too (Monte Carlo arithmetic: Parker, UCLA CSD-970002, 1997),
because an error in an intermediate value is not always one in an input: sum(x - mean(x)) is 0 for every
x, its rounding noise is not.  Elsewhere inputs alone are perturbed.  An operator that returns a narrower
format than float64 is perturbed by that format's unit roundoff, if that is more than h.

K, the longest sum behind one element: in torch the longest of the operators that ran; elsewhere, from one
input element at a time, changed: if it moves c of N output elements, and the input has n, then an output
element has n·c/N input elements behind it on average (both sides count the pairs that influence each other).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.reference.noise import Seen, Source, changed_inputs, floating_sizes, values_of, watched
from workers.wire.tensors import pack

Outputs = list[Any]  # a float64 or complex128 array each, None for integers
Prepare = Callable[[Callable[[Any], Any]], Any]  # fresh float64 inputs, every leaf changed by a function

H = 2.0**-24
ROUNDS, FEWEST, SKETCHES = 16, 3, 8
POOL, ENOUGH = 4096, 64
LINEAR_UP_TO = 4  # floating inputs
LINEAR_TOLERANCE = 2.0**-20
SINGLE_PROBES = 4
BUSY = 10.0  # a machine that is shared by more than this makes us give up


@dataclass
class Sensitivity:
    """Per output: S (float32, the output's shape; `None` for integers), K and how S was found."""

    scales: list[NDArray[np.float32] | None]
    length: int
    method: str  # linear | first-order
    draws: int


def measure(function: Callable[[Any], Any], prepare: Prepare, seed: int, seconds: float) -> Sensitivity | None:
    """S and K of `function` at the inputs that `prepare` makes; `None` where nothing floats or time is short.

    Short: fewer than 3 draws fit into `seconds` of our own (`Stopwatch`), checked between draws.  `function` gets what
    `prepare` returns, and may write into it.  Raises whatever the reference raises.
    """
    with np.errstate(all="ignore"):
        return _measured(_Study(function, prepare, np.random.default_rng(seed), seconds), seconds)


def _measured(study: _Study, seconds: float) -> Sensitivity | None:
    if study.once_s > seconds / FEWEST or not any(o is not None for o in study.plain):
        return None
    scales, method = study.linear(study.spread(FEWEST)), "linear"
    if study.draws < FEWEST:
        return None
    if scales is None:
        scales, method = study.first_order(study.spread(ROUNDS)), "first-order"
    return Sensitivity([_single(s) for s in scales], study.length(), method, study.draws)


def told(found: Sensitivity | None) -> tuple[dict[str, Any], list[int]]:
    """S of every output in order (`None` for integers), K, and how S was found; `method` None: it was not."""
    if found is None:
        return {"method": None}, []
    packed, out = pack(found.scales, trim=True)
    return {**packed, "method": found.method, "length": found.length, "draws": found.draws}, out


class Stopwatch:
    """Seconds of our own: neither a busy machine nor our own many threads make them pass faster.

    The lesser of the clock's and the processors' time, but at least a tenth of the clock's: what sleeps is slow too.
    """

    def __init__(self) -> None:
        self.wall, self.processors = time.monotonic(), time.process_time()

    def seconds(self) -> float:
        wall, processors = time.monotonic() - self.wall, time.process_time() - self.processors
        return max(min(wall, processors), wall / BUSY)


class _Study:
    """One set of inputs under perturbation."""

    def __init__(
        self, function: Callable[[Any], Any], prepare: Prepare, random: np.random.Generator, seconds: float
    ) -> None:
        self.function, self.prepare, self.random = function, prepare, random
        self.sizes = floating_sizes(prepare(lambda leaf: leaf))
        self.draws, watch = 0, Stopwatch()
        self.plain, self.seen = self._run(lambda leaf: leaf)
        self.once_s, self.seconds = watch.seconds(), seconds
        self.sums: Outputs = [None if p is None else np.zeros(p.shape) for p in self.plain]
        self.watch = Stopwatch()  # the first run imports and compiles

    def _run(self, change: Callable[[Any], Any], source: Source | None = None) -> tuple[Outputs, Seen]:
        inputs = self.prepare(change)
        with watched(source) as seen:
            answer = self.function(inputs)
        return values_of(answer), seen

    def _late(self) -> bool:
        return self.watch.seconds() > self.seconds

    def _noisy(self, draw: Callable[[Any], NDArray[np.float64]]) -> Outputs:
        """|change| of every output under relative perturbations, in units of H."""
        source = Source(self.random, draw, H)
        noisy, _ = self._run(source.perturbed, source)
        return [
            None if p is None or q is None else _finite(np.abs(q - p)) / H
            for p, q in zip(self.plain, noisy, strict=True)
        ]

    def spread(self, draws: int) -> Outputs:
        """T, by the root mean square over `draws` draws or those that there is time for."""
        while self.draws < draws and not (self._late() and self.draws):
            for n, change in enumerate(self._noisy(self._uniform)):
                if change is not None:
                    self.sums[n] = self.sums[n] + np.square(change)
            self.draws += 1
        return [None if total is None else np.sqrt(total / self.draws) for total in self.sums]

    def linear(self, spread: Outputs) -> Outputs | None:
        """f(|x|), where that is S."""
        if not 0 < len(self.sizes) <= LINEAR_UP_TO or self._late() or any(np.iscomplexobj(p) for p in self.plain):
            return None
        if not all(self._affine(n) for n in range(len(self.sizes))):
            return None
        scales, _ = self._run(abs_of)
        pairs = [(s, t) for s, t in zip(scales, spread, strict=True) if s is not None and t is not None]
        most = math.sqrt(3.0) * (len(self.sizes) + 1)  # |s_v| is at most √3; m inputs and the last operator's result
        return scales if all(bool((most * s >= 0.9 * t).all()) for s, t in pairs) else None

    def _affine(self, position: int) -> bool:
        factors = self.random.uniform(-1, 1, self.sizes[position])
        parts = []
        for own, other in ((1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
            parts.append(self._changed(position, lambda x, m=own + other * factors: x * m.reshape(x.shape)))
        return all(_adds_up(*group) for group in zip(*parts, strict=True))

    def _changed(self, position: int, change: Callable[..., Any]) -> Outputs:
        return self._run(changed_inputs(position, change))[0]

    def first_order(self, spread: Outputs) -> Outputs:
        ratios: list[list[NDArray[np.float64]]] = [[] for _ in spread]
        for n in range(SKETCHES):
            if n and self._late():
                break
            for kept, t, change in zip(ratios, spread, self._noisy(self._cauchy), strict=True):
                if t is not None and change is not None:
                    kept.append(_sampled_ratio(change, t))
        factor = 1 + 2 / math.sqrt(self.draws)
        bound = math.sqrt(max(1, sum(self.sizes)))
        return [None if t is None else factor * _pooled(r, bound) * t for t, r in zip(spread, ratios, strict=True)]

    def length(self) -> int:
        """K."""
        longest = max(self.sizes, default=1)
        if self.seen.operators:
            return max(1, min(self.seen.longest, longest))
        return max([1, *(self._behind(n) for n in range(len(self.sizes)))])

    def _behind(self, position: int) -> int:
        size, most = self.sizes[position], 0.0
        for _ in range(SINGLE_PROBES if size else 0):
            chosen = int(self.random.integers(size))
            outputs = self._changed(position, lambda x, at=chosen: _bumped(x, at))
            for plain, other in zip(self.plain, outputs, strict=True):
                if plain is not None and other is not None and plain.size:
                    most = max(most, size * np.count_nonzero(other != plain) / plain.size)
        return min(size, math.ceil(most))

    def _uniform(self, count: int) -> NDArray[np.float64]:
        """Variance 1.  Not ±1: of two equal terms, half the draws would cancel exactly."""
        width = math.sqrt(12.0)
        return self.random.random(count, dtype=np.float32).astype(np.float64) * width - width / 2

    def _cauchy(self, count: int) -> NDArray[np.float64]:
        tails = 2.0**16
        return self.random.standard_cauchy(count).clip(-tails, tails).astype(np.float64)


def abs_of(leaf: Any) -> Any:
    return abs(leaf)


def _bumped(x: Any, at: int) -> Any:
    """One element moved by 1/256 of itself and of the array's size."""
    flat = x.reshape(-1)
    flat[at] += (abs(float(flat[at])) + float(abs(x).mean())) / 256
    return flat.reshape(x.shape)


def _adds_up(both: Any, neither: Any, first: Any, second: Any) -> bool:
    if both is None:
        return True
    sizes = np.abs(both) + np.abs(neither) + np.abs(first) + np.abs(second)
    allowed = LINEAR_TOLERANCE * (sizes + 1e-3 * sizes.max(initial=0.0))
    return bool((np.abs(both + neither - first - second) <= allowed).all())


def _sampled_ratio(change: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    step = max(1, t.size // POOL)
    change, t = change.reshape(-1)[::step], t.reshape(-1)[::step]
    return change[t > 0] / t[t > 0]


def _pooled(ratios: list[NDArray[np.float64]], bound: float) -> float:
    pool = np.concatenate(ratios) if ratios else np.empty(0)
    return bound if pool.size < ENOUGH else float(np.clip(np.median(pool), 1.0, bound))


def _finite(change: Any) -> Any:
    return np.where(np.isfinite(change), change, 0.0)


def _single(scale: NDArray[np.float64] | None) -> NDArray[np.float32] | None:
    """Few digits matter; what float32 cannot hold becomes its largest number."""
    if scale is None:
        return None
    largest = float(np.finfo(np.float32).max)
    single: NDArray[np.float32] = np.nan_to_num(scale, nan=0.0, posinf=largest).clip(0.0, largest).astype(np.float32)
    return single
