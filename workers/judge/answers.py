"""What the task's own code said of every workload: inputs and expected answers, kept from the candidate."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.domain.task import TaskBundle, Workload
from workers.judge import numerics
from workers.judge.received import Leaf, Received
from workers.judge.rounding import Rounding
from workers.wire.values import NotAValue

LARGE_BYTES = 256 << 20
ALL_ANSWERS_BYTES = 16 << 30  # they are kept until the end


@dataclass
class Draw:
    """One set of inputs with its answers: `native` as the reference returned it, `oracle` in float64."""

    inputs: Received
    native: Received
    oracle: Received | None
    seed: int  # of the inputs; the candidate is never told
    call_seed: int  # of the generators in the candidate's process
    rounding: Rounding = field(default_factory=lambda: Rounding("not asked for"))
    systematic: bool = False  # whether rounding errors add up on these inputs
    state: Received | None = None  # `init_args` and the weights by name, where the task has them
    idle_weights: list[str] = field(default_factory=list)  # those that no answer depends on
    family: str = ""  # the family of values in place of the task's own

    def expected(self) -> list[numerics.Expected]:
        """Per output: the native array, its oracle (None where there is none), and what its error budget needs."""
        natives = self.native.leaves()
        oracles: list[Leaf | None] = list(self.oracle.leaves()) if self.oracle else [None] * len(natives)
        if len(oracles) != len(natives) or any(
            o is not None and o.array.shape != n.array.shape for o, n in zip(oracles, natives, strict=True)
        ):
            oracles = [None] * len(natives)
        bound = max((leaf.array.size for leaf in self.operands()), default=1)
        scales = self.rounding.matching([n.array for n in natives])
        return [
            numerics.Expected(
                n.array, float64(o.array) if o else None, max(1, self.rounding.length or bound),
                s, self.systematic, self.rounding.basis,
            )
            for n, o, s in zip(natives, oracles, scales, strict=True)
        ]  # fmt: skip

    def operands(self) -> list[Leaf]:
        """Inputs and weights: all that an answer is made of."""
        return [*self.inputs.leaves(), *(self.state.leaves() if self.state else [])]

    def drop_oracle(self) -> None:
        if self.oracle is not None:
            self.oracle.close()
        self.oracle = None

    def answer_bytes(self) -> int:
        return sum(r.total_bytes() for r in (self.native, self.oracle, self.rounding.scales) if r is not None)

    def close(self) -> None:
        self.drop_oracle()
        self.rounding.close()
        self.inputs.close()
        self.state = None  # draws may share it: it is closed with the last of them
        self.native.close()


@dataclass
class Gradients:
    """What a task's gradients are compared with: the inputs' names and positions, and a draw made of gradients.

    In `draw` the inputs are the cotangents and the answers are the gradients; `memory` is what `workers.wire.autograd`
    counts of the reference's own passes, empty where that failed.
    """

    names: list[str]
    positions: list[int]
    draw: Draw
    memory: dict[str, int] = field(default_factory=dict)


@dataclass
class Outside:
    """A family of values that the contract does not name, on a workload; without a draw `reason` says why."""

    workload: Workload
    family: str
    draw: Draw | None
    reason: str = ""


@dataclass
class Answers:
    """Everything the task's own code said.  `draws[workload]` holds one or two draws.

    `drawn` are the workloads that the judge made from the contract, `outside` what goes beyond it.
    """

    arguments: list[str] = field(default_factory=list)
    has_check: bool = False
    has_state: bool = False
    draws: dict[str, list[Draw]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    vacuous: dict[str, bool] = field(default_factory=dict)
    drawn: list[Workload] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)
    gradients: dict[str, Gradients] = field(default_factory=dict)

    def check_size(self) -> None:
        """Raises `NotAValue` when there is more than can be kept."""
        if sum(draw.answer_bytes() for draw in itertools.chain.from_iterable(self.draws.values())) > ALL_ANSWERS_BYTES:
            raise NotAValue(f"all answers together have more than {ALL_ANSWERS_BYTES >> 30} GiB")

    def close(self) -> None:
        others = [other.draw for other in self.outside if other.draw is not None]
        gradients = [asked.draw for asked in self.gradients.values()]
        for draw in itertools.chain(others, gradients, *self.draws.values()):
            draw.close()


class TaskFault(Exception):
    """No answer to this task could be judged; it has been noted."""


def output_names(count: int) -> list[str]:
    return ["out"] if count == 1 else [f"out{n}" for n in range(count)]


def in_place_positions(bundle: TaskBundle, arguments: list[str]) -> list[int]:
    return [arguments.index(name) for name in bundle.spec.policy.in_place if name in arguments]


def tolerance_of(bundle: TaskBundle, output: str, dtype: np.dtype[Any]) -> numerics.Tolerance:
    """What the task grants `output`.

    Integers and booleans are exact unless the output has a table of its own or the task's atol allows
    a whole step: a relative tolerance meant for floating outputs would let large indices slip.
    """
    given, all_outputs = bundle.spec.tolerance.of(output), bundle.spec.tolerance
    if dtype.kind in "iub" and output not in all_outputs.per_output:
        step = given.atol if given.atol is not None and given.atol >= 1 else None
        return numerics.Tolerance(
            step, 0.0 if step is not None else None, None, all_outputs.special, all_outputs.budget
        )
    return numerics.Tolerance(given.atol, given.rtol, given.max_ulp, all_outputs.special, all_outputs.budget)


def shapes(arrays: list[np.ndarray]) -> list[tuple[int, ...]]:
    return [array.shape for array in arrays]


def is_floating(array: np.ndarray) -> bool:
    return array.dtype.kind in "fc" or array.dtype.name.startswith(("bfloat", "float"))


def float64(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    import ml_dtypes

    if dtype.kind in "iub":
        return 0.5
    real = np.dtype(np.float32) if dtype == np.complex64 else np.dtype(np.float64) if dtype == np.complex128 else dtype
    return float(ml_dtypes.finfo(real).eps) / 2  # type: ignore[no-untyped-call]
