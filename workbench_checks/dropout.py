"""Dropout by any generator: kept values are scaled, the rest is zero, and the zeros fall as chance has it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench_checks import tails
from workbench_checks.arrays import Array, as_array, close, first, same_shape, spacing
from workbench_checks.result import Result, passed, refused
from workbench_checks.sampling import FALSE_REJECT

Mask = NDArray[np.bool_]


def dropped_out(
    outputs: Any, inputs: Any, rate: float, *, scale: float | None = None, atol: float = 0.0, rtol: float | None = None,
    false_reject: float = FALSE_REJECT,
) -> Result:  # fmt: skip
    """Each element of `inputs` is 0 in `outputs` with probability `rate`, else itself times `scale` (1 / (1 - rate)).

    Kept values agree within atol + rtol·|wanted|, `rtol` being four spacings of the outputs' format unless given.
    Elements whose wanted value is not finite or no more than `atol` away from 0 tell nothing of the mask.

    The mask of the others is tested with exact binomial tails (`tails.binomial`): how many are dropped in all; in each
    of about √n blocks of neighbours; and, along each axis, how many neighbours (2i, 2i+1) are dropped together, which
    for independent masks has the chance rate².  All of these together refuse an honest mask with a probability of at
    most `false_reject` (at most 1e-6) a call, by Bonferroni's inequality.

    Power: a rate that is √(ln(2·tests/false_reject)/2n) + √(ln(1000)/2n) off is missed once in a thousand at most
    (Hoeffding's inequality); a mask that is the same along an axis shows in pairs dropped with `rate` instead of
    rate².  `ValueError` where even keeping everything or dropping everything would pass for chance.
    """
    got, given = as_array(outputs), as_array(inputs)
    if not 0 <= rate <= 1:
        raise ValueError(f"a rate of {rate}")
    if not (shaped := same_shape("the output", got, given.shape)):
        return shaped
    factor = scale if scale is not None else 1 / (1 - rate) if rate < 1 else 1.0
    with np.errstate(all="ignore"):
        wanted = given.astype(np.float64) * factor
        tells = np.isfinite(wanted) & (np.abs(wanted.astype(got.dtype).astype(np.float64)) > atol)
    dropped = got == 0
    relative = 4 * spacing(outputs) if rtol is None else rtol
    return _kept_are_scaled(got, wanted, dropped, atol, relative) and _falls_by_chance(
        dropped, tells, rate, tails.checked_rate(false_reject)
    )


def _kept_are_scaled(got: Array, wanted: Array, dropped: Mask, atol: float, rtol: float) -> Result:
    # A dropped NaN or infinity is NaN where it was multiplied by 0.
    fine = dropped | close(got, wanted, atol, rtol) | (~np.isfinite(wanted) & np.isnan(got))
    if fine.all():
        return passed()
    at = first(~fine)
    return refused(f"the output at {list(at)} is {got[at]}, neither 0 nor {wanted[at]:.8g}")


def _falls_by_chance(dropped: Mask, tells: Mask, rate: float, false_reject: float) -> Result:
    n, count = int(tells.sum()), int((dropped & tells).sum())
    if not n:
        raise ValueError("no element tells whether it was dropped")
    sizes = _blocks(tells)
    axes = [axis for axis, size in enumerate(dropped.shape) if size > 1]
    share = false_reject / (1 + len(axes) + sizes.size)
    extremes = [e for e in (0, n) if rate not in (0.0, 1.0) or e == n * (1 - rate)]
    if (tails.binomial(extremes, n, rate) > share).any():
        raise ValueError(f"{n} elements are too few to tell a rate of {rate} from keeping or dropping all")
    if tails.binomial(count, n, rate) <= share:
        return refused(f"{count / n:.6g} of {n} elements are dropped instead of {rate:.6g}")
    counts = _blocks(dropped & tells)
    unlikely = tails.binomial(counts, sizes, rate) <= share
    if unlikely.any():
        block = int(np.argmax(unlikely))
        start = np.unravel_index(block * _block_size(tells.size), dropped.shape)
        return refused(
            f"{int(counts[block])} of {int(sizes[block])} elements from {[int(i) for i in start]} on are dropped,"
            f" at a rate of {rate:.6g}"
        )
    for axis in axes:
        if not (apart := _neighbours_are_independent(dropped, tells, axis, rate, share)):
            return apart
    seen = (math.sqrt(math.log(2 / share)) + math.sqrt(math.log(1000))) / math.sqrt(2 * n)
    return passed(f"{count / n:.6g} of {n} elements are dropped; a rate that is {seen:.2g} off would have been seen")


def _neighbours_are_independent(dropped: Mask, tells: Mask, axis: int, rate: float, share: float) -> Result:
    even, odd = (range(start, dropped.shape[axis] // 2 * 2, 2) for start in (0, 1))
    told = np.take(tells, even, axis) & np.take(tells, odd, axis)
    both = int((np.take(dropped, even, axis) & np.take(dropped, odd, axis) & told).sum())
    pairs = int(told.sum())
    if not pairs or tails.binomial(both, pairs, rate * rate) > share:
        return passed()
    return refused(
        f"along axis {axis}, {both} of {pairs} neighbours are dropped together; independently it would be about"
        f" {pairs * rate * rate:.6g}"
    )


def _block_size(size: int) -> int:
    return max(1, math.isqrt(size))


def _blocks(mask: Mask) -> NDArray[Any]:
    """How many are set in each block of about √n neighbours; the last one may be shorter."""
    flat = mask.reshape(-1)
    return np.add.reduceat(flat.astype(np.int64), np.arange(0, flat.size, _block_size(flat.size)))
