"""How much rounding error an honest kernel may have, as the reference's own sandbox measured it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.judge.foreign import ForeignProcess, Raised
from workers.judge.received import ANSWER, Received
from workers.wire.values import NotAValue

SECONDS = 1.0  # for the draws of one set of inputs


@dataclass
class Rounding:
    """`basis` says how S was found, or why it was not; `length` is K, `None` where it is unknown too."""

    basis: str
    length: int | None = None
    scales: Received | None = None

    def matching(self, natives: list[NDArray[Any]]) -> list[NDArray[np.float32] | None]:
        """S of every output; `None` for all where they are not one usable array each."""
        none: list[NDArray[np.float32] | None] = [None] * len(natives)
        leaves = self.scales.leaves() if self.scales else []
        if len(leaves) != len(natives):
            return none
        found = [leaf.array if leaf.array.dtype == np.float32 else None for leaf in leaves]
        fits = all(s is None or s.shape == n.shape for s, n in zip(found, natives, strict=True))
        return found if fits else none

    def close(self) -> None:
        if self.scales is not None:
            self.scales.close()
        self.scales = None


def ask_rounding(
    process: ForeignProcess, *, slot: str, in_place: list[int], seed: int, timeout_s: float, gradients: bool = False
) -> Rounding:
    """Ask the reference's process, of its answer or of its gradients; raises `Raised` only where that ended."""
    op, part = ("gradients", "rounding") if gradients else ("sensitivity", "")
    try:
        told, fds = process.fetch(
            op, part=part, slot=slot, in_place=in_place, seed=seed, seconds=SECONDS, timeout_s=timeout_s
        )
        if told.get("method") is None:
            return Rounding("guessed: too little time for perturbed runs")
        scales = Received.of(told, fds, ANSWER)
        return Rounding(f"{told['method']}, {int(told['draws'])} draws", max(1, int(told["length"])), scales)
    except Raised as raised:
        if raised.ended is not None:
            raise
        return Rounding(f"guessed: a perturbed run failed ({raised.sentence[:80]})")
    except (NotAValue, KeyError, TypeError, ValueError) as error:
        return Rounding(f"guessed: the answer made no sense ({str(error)[:80]})")
