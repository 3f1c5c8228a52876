"""The reference's gradients: native, in float64, and how they react to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workers.reference.sensitivity import Sensitivity, Stopwatch, measure, told
from workers.wire.autograd import NoGradient, Question, backward, floating, forward, memory
from workers.wire.tensors import pack

Run = Callable[..., Any]


def draw_cotangents(run: Run, inputs: tuple[Any, ...], wrt: list[int], in_place: list[int], seed: int) -> Question:
    """Standard normal numbers in the dtype of each floating output that depends on an input at `wrt`.

    Raises `NoGradient` where no output does, and whatever `run` raises.
    """
    import torch

    _, result = forward(run, inputs, wrt, in_place)
    generator = torch.Generator().manual_seed(seed)

    def drawn(output: Any) -> Any:
        wide = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        return wide.to(output.dtype) if output.requires_grad else None

    cotangents = [drawn(output) for output in floating(result)]
    if all(cotangent is None for cotangent in cotangents):
        raise NoGradient("no output of the reference depends on these inputs in a way that autograd follows")
    return Question(wrt, in_place, cotangents)


class Gradients:
    """One question asked of the reference on one set of inputs.

    `run` calls the reference itself, `run_wide` what gives the float64 answer; `copied` and `widened` make inputs for
    them.  Everything raises what these raise.
    """

    def __init__(
        self, run: Run, run_wide: Run, copied: Callable[[], Any], prepare: Callable[[Callable[[Any], Any]], Any]
    ) -> None:
        self.run, self.run_wide, self.copied, self.prepare = run, run_wide, copied, prepare
        self.question: Question | None = None

    def ask(self, wrt: list[int], in_place: list[int], seed: int) -> list[Any]:
        """The cotangents, None for outputs that no gradient is asked of."""
        self.question = draw_cotangents(self.run, self.copied(), wrt, in_place, seed)
        return list(self.question.cotangents)

    def native(self) -> list[Any]:
        assert self.question is not None
        return backward(self.run, self.copied(), self.question).gradients

    def wide(self) -> list[Any]:
        """In float64; the cotangents are the same numbers."""
        return self._wide(self.prepare(lambda leaf: leaf))

    def sensitivity(self, seed: int, seconds: float) -> Sensitivity | None:
        """How the float64 gradients react to rounding of inputs and operators, both passes'."""
        return measure(self._wide, self.prepare, seed, seconds)

    def memory(self) -> dict[str, int]:
        """What the reference's own two passes need, to set a submission's beside it."""
        assert self.question is not None
        return memory(self.run, self.copied(), self.question)

    def _wide(self, inputs: tuple[Any, ...]) -> list[Any]:
        assert self.question is not None
        return backward(self.run_wide, inputs, self.question).gradients


def answer(found: Gradients, message: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """One question of the judge; `part` is one of `cotangents`, `native`, `wide`, `rounding` and `memory`."""
    part = message["part"]
    if part == "cotangents":
        return pack(found.ask(message["wrt"], message["in_place"], message["seed"]), trim=True)
    if part == "rounding":
        return told(found.sensitivity(message["seed"], message["seconds"]))
    if part == "memory":
        return {"memory": found.memory()}, []
    watch = Stopwatch()
    packed, out = pack(found.native() if part == "native" else found.wide(), trim=True)
    return {**packed, "seconds": watch.seconds()}, out
