"""Ranking: what a person says of two to four kernels for one task, shown to them as A to D.

Places are best first, and members that share a place are tied.  Strength belongs to each step from one place down to
the next, and not to the whole: of three kernels the first may be slightly better than the second and the third far
behind both, and one word for the whole would be wrong about one of the two.  A step is all that has to be said: what
holds between places further apart follows, as at least the strongest step between them, and is marked as following.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

MEMBERS_MIN, MEMBERS_MAX = 2, 4
LETTERS = "ABCD"
REASON_LENGTH_MIN = 1


class Strength(StrEnum):
    """How much better one place is than the next, weakest first."""

    SLIGHTLY = "slightly"
    CLEARLY = "clearly"
    MUCH = "much"


_ORDER = tuple(Strength)


@dataclass(frozen=True)
class Ranking:
    """`places` best first, each with the letters that share it; `strengths[n]` is of the step below `places[n]`."""

    places: tuple[tuple[str, ...], ...]
    strengths: tuple[Strength, ...]
    reason: str = ""


@dataclass(frozen=True)
class Pair:
    """Two members as a ranking has them; `strength` is None for a tie, in which neither is better.

    `is_stated`: tied, or neighbours, so that a person said it; else it follows, and `strength` is the least it can be.
    """

    better: str
    worse: str
    strength: Strength | None
    is_stated: bool

    @property
    def is_tie(self) -> bool:
        return self.strength is None


def places_of(ranks: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """Member -> rank, 1 the best, as places; equal ranks are a tie."""
    return tuple(
        tuple(sorted(member for member, other in ranks.items() if other == rank))
        for rank in sorted(set(ranks.values()))
    )


def problems(
    members: Sequence[str], ranks: Mapping[str, int | None], strengths: Sequence[str], reason: str
) -> dict[str, str]:
    """What keeps it from being a ranking of `members`: `ranking`, `strengths` or `reason` -> a sentence."""
    found: dict[str, str] = {}
    given = {member: rank for member, rank in ranks.items() if rank is not None}
    if fault := _fault_of_ranks(members, given):
        found["ranking"] = fault
    elif fault := _fault_of_strengths(len(set(given.values())) - 1, strengths):
        found["strengths"] = fault
    if len(reason.strip()) < REASON_LENGTH_MIN:
        found["reason"] = "say why you rank them so"
    return found


def ranking(ranks: Mapping[str, int], strengths: Sequence[str], reason: str) -> Ranking:
    """Of values in which `problems` finds nothing; raises `ValueError` for a strength that there is not."""
    return Ranking(places_of(ranks), tuple(Strength(said) for said in strengths), reason.strip())


def pairs(of: Ranking) -> Iterator[Pair]:
    """Every two members once, those of the best place first."""
    standing = [(place, member) for place, members in enumerate(of.places) for member in members]
    for (upper, better), (lower, worse) in combinations(standing, 2):
        steps = of.strengths[upper:lower]
        strongest = max(steps, key=_ORDER.index) if steps else None
        yield Pair(better, worse, strongest, is_stated=lower - upper <= 1)


def shown_order(person: str, item: str, members: Sequence[str]) -> list[str]:
    """`members` as this person sees them, by public ids: the same on every day, another for another person or item.

    Sorted by a hash of all three, so that what is shown first says nothing of who came first.
    """
    return sorted(members, key=lambda member: hashlib.sha256(f"{person}\n{item}\n{member}".encode()).digest())


def _fault_of_ranks(members: Sequence[str], ranks: Mapping[str, int]) -> str:
    if strange := sorted(ranks.keys() - set(members)):
        return f"there is no {strange[0]!r} here, only {' and '.join(members)}"
    if left := [member for member in members if member not in ranks]:
        return f"give {' and '.join(left)} a place; equal places are a tie"
    used = sorted(set(ranks.values()))
    wanted = list(range(1, len(used) + 1))
    if used != wanted:
        gap = next((n for n in wanted if n not in used), len(members))
        return f"place {gap} is empty: count on from 1 without a gap, after a tie too"
    return ""


def _fault_of_strengths(steps: int, strengths: Sequence[str]) -> str:
    if strange := [said for said in strengths if said and said not in _ORDER]:
        return f"there is no strength {strange[0]!r}, only {', '.join(_ORDER)}"
    said = [n for n, one in enumerate(strengths, 1) if one]
    if left := [n for n in range(1, steps + 1) if n not in said]:
        return f"say how much better place {left[0]} is than place {left[0] + 1}"
    if said and said[-1] > steps:
        return f"there is no place {said[-1] + 1} for place {said[-1]} to be better than"
    return ""
