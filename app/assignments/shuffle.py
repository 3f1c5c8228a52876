"""A stable shuffle for each person that a database can walk by an index.

Every subject has one number, `shuffle`, drawn once.  A person goes through the subjects of one rank in the order of

    turn = (step * shuffle + start) mod 2 ** SHUFFLE_BITS

with a small odd `step` and a `start` of their own.  Sorting by that would read the whole queue; but `shuffle` cut into
`step + 1` stretches has turns that only grow within each, so the next n of a person are a merge of the first n of
each stretch.  Two people start in different places, and with different steps they meet different neighbours, too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from app.models import SHUFFLE_BITS

SPACE = 1 << SHUFFLE_BITS
_STEPS = (3, 5, 7)


@dataclass(frozen=True)
class Shuffle:
    step: int
    start: int

    def turn(self, shuffle: Any) -> Any:
        """The place of a subject in this person's order; of a number or of a column."""
        return (shuffle * self.step + self.start) % SPACE

    def stretches(self, after: int = -1) -> list[tuple[int, int]]:
        """Half-open ranges of `shuffle` that hold exactly the turns above `after`, each in growing order."""
        ranges = []
        for lap in range(self.step + 1):
            low = _divided_up(lap * SPACE + after + 1 - self.start, self.step)
            high = _divided_up((lap + 1) * SPACE - self.start, self.step)
            low, high = max(low, 0), min(high, SPACE)
            if low < high:
                ranges.append((low, high))
        return ranges


def shuffle_of(person: str) -> Shuffle:
    """The same for the same person on every day and in every process."""
    digest = int.from_bytes(hashlib.sha256(person.encode()).digest())
    return Shuffle(step=_STEPS[digest % len(_STEPS)], start=(digest // len(_STEPS)) % SPACE)


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)
