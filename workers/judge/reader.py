"""One workload's inputs and answers, as its task's own process gives them."""

from __future__ import annotations

import copy

import numpy as np

from app.domain.task import TaskBundle, Workload
from workers.judge import numerics
from workers.judge.answers import LARGE_BYTES, Answers, Draw, in_place_positions, is_floating, shapes
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised
from workers.judge.health import largest_difference
from workers.judge.received import ANSWER, Received
from workers.judge.rounding import Rounding, ask_rounding
from workers.judge.seeds import Seeds
from workers.wire.values import NotAValue

ROUNDING_UP_TO_SECONDS, ROUNDING_UP_TO_BYTES = 0.5, 64 << 20


class Reader:
    """Draws one workload's inputs and answers; raises `Raised` or `NotAValue` for what the task's code does not do."""

    def __init__(
        self,
        process: ForeignProcess,
        bundle: TaskBundle,
        workload: Workload,
        seeds: Seeds,
        answers: Answers,
        own_oracle: bool,
    ) -> None:
        self.process, self.workload, self.seeds = process, workload, seeds
        self.in_place = in_place_positions(bundle, answers.arguments)
        self.timeout_s = bundle.spec.limits.seconds + IMPORT_SECONDS
        self.own_oracle, self.has_state = own_oracle, answers.has_state
        self.drawn: list[Draw] = []

    def on(self, workload: Workload) -> Reader:
        """The same for another workload, with nothing drawn."""
        other = copy.copy(self)
        other.workload, other.drawn = workload, []
        return other

    def draws(self) -> list[Draw]:
        first = self._draw(0)
        self.drawn.append(first)
        if first.inputs.total_bytes() <= LARGE_BYTES:
            second = self._draw(1)
            if second.inputs.same_values(first.inputs) and _same_state(second, first):
                second.close()  # make_inputs ignores the seed: there is one set of values only
            else:
                self.drawn.append(second)
        return self.drawn

    def _draw(self, n: int) -> Draw:
        seed, slot = self.seeds.of(self.workload.name, "task", n), str(n)
        params, limit = dict(self.workload.params), self.timeout_s
        inputs = self.process.receive(
            "draw", seed=seed, params=params, slot=slot, state_seed=self._state_seed(n), timeout_s=limit
        )
        return self._answered(inputs, slot, seed, n)

    def _state_seed(self, n: int) -> int | None:
        """Weights of their own for each draw, unless they are large; None where the task has none."""
        if not self.has_state:
            return None
        return self.seeds.of(self.workload.name, "state", 0 if self._has_large_state() else n)

    def _has_large_state(self) -> bool:
        first = self.drawn[0].state if self.drawn else None
        return first is not None and first.total_bytes() > LARGE_BYTES

    def _give_state(self, draw: Draw, slot: str, n: int) -> None:
        if not self.has_state:
            return
        if self.drawn and (n == 0 or self._has_large_state()):
            draw.state, draw.idle_weights = self.drawn[0].state, self.drawn[0].idle_weights
            return
        told, fds = self.process.fetch("state", slot=slot, in_place=self.in_place, timeout_s=self.timeout_s)
        draw.state = Received.of(told, fds)
        draw.idle_weights = [str(name) for name in told.get("idle") or []]

    def redraw(self) -> None:
        """The first draw again in its slot, which another workload may have taken."""
        seed, params = self.drawn[0].seed, dict(self.workload.params)
        self.process.receive(
            "draw", seed=seed, params=params, slot="0", state_seed=self._state_seed(0), timeout_s=self.timeout_s
        ).close()

    def varied(self, *, family: str = "", layout: str = "", rounding: bool = True) -> Draw | None:
        """The first draw with other values or in another layout; None where it has no input that this applies to.

        Without `rounding` the error budget is guessed, which costs nothing.
        """
        seed = self.seeds.of(self.workload.name, family or layout, 0)
        told, fds = self.process.fetch(
            "vary", slot="0", into="varied", seed=seed, family=family, layout=layout, timeout_s=self.timeout_s
        )
        inputs = Received.of(told, fds)
        if told.get("changed") is not True:
            inputs.close()
            return None
        draw = self._answered(inputs, "varied", seed, 0, rounding=rounding)
        draw.family = family
        return draw

    def _answered(self, inputs: Received, slot: str, seed: int, n: int, *, rounding: bool = True) -> Draw:
        """The `n`th inputs, which lie in `slot` over there, with their answers."""
        limit = self.timeout_s
        native = self.process.receive("native", in_place=self.in_place, slot=slot, timeout_s=limit, room=ANSWER)
        draw = Draw(inputs, native, self._oracle(native, slot), seed, self.seeds.of(self.workload.name, "candidate", n))
        self._give_state(draw, slot, n)
        draw.systematic = numerics.is_systematic([leaf.array for leaf in inputs.leaves()])
        if draw.oracle is not None and rounding:
            draw.rounding = self._rounding(draw, slot, n)
        return draw

    def _rounding(self, draw: Draw, slot: str, n: int) -> Rounding:
        """S and K of the error budget, where asking for them costs little."""
        if draw.native.seconds > ROUNDING_UP_TO_SECONDS:
            return Rounding(f"guessed: the reference takes {draw.native.seconds:.2f} s")
        if draw.inputs.total_bytes() > ROUNDING_UP_TO_BYTES:
            return Rounding(f"guessed: the inputs have {draw.inputs.total_bytes() >> 20} MiB")
        seed = self.seeds.of(self.workload.name, "rounding", n)
        return ask_rounding(self.process, slot=slot, in_place=self.in_place, seed=seed, timeout_s=self.timeout_s)

    def _oracle(self, native: Received, slot: str) -> Received | None:
        if not any(is_floating(leaf.array) for leaf in native.leaves()):
            return None  # integers and booleans have nothing to gain from float64
        try:
            return self.process.receive(
                "oracle", slot=slot, in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
            )
        except (Raised, NotAValue) as error:
            if isinstance(error, Raised) and error.ended is not None:
                raise
            return None  # a reference that insists on its dtype has no automatic oracle

    def sensitivity(self, relative: float) -> list[float]:
        """Per output, how far the float64 answer moves when the inputs are disturbed by `relative`; [] if unknown."""
        oracle, seed = self.drawn[0].oracle, self.seeds.of(self.workload.name, "disturb", 0)
        if oracle is None or self.drawn[0].inputs.total_bytes() > LARGE_BYTES:
            return []
        try:
            self.process.ask(
                "redraw", slot="0", into="disturbed", seed=seed, relative=relative, timeout_s=self.timeout_s
            )
            other = self.process.receive(
                "oracle", slot="disturbed", in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
            )
        except (Raised, NotAValue):
            return []
        pairs = zip(oracle.leaves(), other.leaves(), strict=False)
        moves = [largest_difference(a.array, b.array) for a, b in pairs]
        other.close()
        return moves

    def moves(self) -> bool | None:
        """Whether the output depends on the input values; None where no other values could be drawn."""
        first = [leaf.array for leaf in self.drawn[0].native.leaves()]
        if not any(array.size for array in first):
            return None
        if len(self.drawn) > 1:
            other = [leaf.array for leaf in self.drawn[1].native.leaves()]
            truths = _arrays(self.drawn[0].oracle), _arrays(self.drawn[1].oracle)
            if shapes(first) != shapes(other) or numerics.moved(first, other, truths):
                return True
        return self._moves_when_redrawn(first)

    def _moves_when_redrawn(self, first: list[np.ndarray]) -> bool | None:
        """Perturb the floating inputs; what the reference makes of them must differ."""
        tried = len(self.drawn) > 1
        if self.drawn[0].inputs.total_bytes() > LARGE_BYTES:
            return None
        for n in range(2):
            seed = self.seeds.of(self.workload.name, "redraw", n)
            try:
                told = self.process.ask("redraw", slot="0", into="redrawn", seed=seed, timeout_s=self.timeout_s)
                if not told.get("changed"):
                    break
                other = self.process.receive(
                    "native", slot="redrawn", in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
                )
            except (Raised, NotAValue):
                return None  # values outside what the reference takes: nothing can be said
            arrays = [leaf.array for leaf in other.leaves()]
            if shapes(first) != shapes(arrays) or (numerics.moved(first, arrays) and self._truth_moves(first, arrays)):
                return True
            tried = True
        return False if tried else None

    def _truth_moves(self, first: list[np.ndarray], redrawn: list[np.ndarray]) -> bool:
        """The same question in float64, where it can be asked: noise around a true zero is no movement."""
        if self.drawn[0].oracle is None:
            return True
        try:
            oracle = self.process.receive(
                "oracle", slot="redrawn", in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
            )
        except (Raised, NotAValue):
            return True
        moved = numerics.moved(first, redrawn, (_arrays(self.drawn[0].oracle), _arrays(oracle)))
        oracle.close()
        return moved


def _same_state(a: Draw, b: Draw) -> bool:
    return a.state is b.state or (a.state is not None and b.state is not None and a.state.same_values(b.state))


def _arrays(answer: Received | None) -> list[np.ndarray]:
    return [leaf.array for leaf in answer.leaves()] if answer else []
