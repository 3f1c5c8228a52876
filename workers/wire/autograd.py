"""Vector-Jacobian products in a foreign process, the same for a task's reference and a submission (never the judge's).

It lies beside the wire because both of them see nothing else that they share.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Run = Callable[..., Any]


@dataclass(frozen=True)
class Question:
    """Which gradients: by the inputs at `wrt`; those at `in_place` may be written to, and are what None stands for.

    `cotangents` has a tensor, or None where no gradient is asked of it, for every floating output in order.
    """

    wrt: Sequence[int]
    in_place: Sequence[int]
    cotangents: Sequence[Any]


class NoGradient(Exception):
    """An input cannot have a gradient: it is no floating torch tensor."""


@dataclass
class Backward:
    """One forward and one backward pass.

    Attributes:
        result: what the forward pass returned.
        gradients: one tensor for each input asked for; zeros where nothing of the result depends on it.
        detached: floating outputs (by their place among them) that a gradient was asked of and that have none.
        unreached: the inputs (by position) that no gradient reaches.
    """

    result: Any
    gradients: list[Any]
    detached: list[int]
    unreached: list[int]


def backward(run: Run, inputs: Sequence[Any], question: Question) -> Backward:
    """Call `run(*inputs)` and multiply its Jacobian by the cotangents from the left.

    Raises `NoGradient`, and what the pass raises.
    """
    leaves, result = forward(run, inputs, question.wrt, question.in_place)
    torch, outputs, cotangents = sys.modules["torch"], floating(result), question.cotangents
    asked = [n for n, cotangent in enumerate(cotangents) if cotangent is not None and n < len(outputs)]
    attached = [n for n in asked if outputs[n].requires_grad]
    found: Sequence[Any] = [None] * len(leaves)
    if attached:
        found = torch.autograd.grad(
            [outputs[n] for n in attached], leaves, [cotangents[n].to(outputs[n].dtype) for n in attached],
            allow_unused=True,
        )  # fmt: skip
    gradients = [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, found, strict=True)]
    unreached = [n for n, g in zip(question.wrt, found, strict=True) if g is None]
    return Backward(result, gradients, [n for n in asked if n not in attached], unreached)


def forward(run: Run, inputs: Sequence[Any], wrt: Sequence[int], in_place: Sequence[int]) -> tuple[list[Any], Any]:
    """The leaves whose gradients are asked for, and what `run(*inputs)` returned; raises as `backward` does."""
    torch = sys.modules.get("torch")
    leaves, given = [], list(inputs)
    for n in wrt:
        if torch is None or not isinstance(inputs[n], torch.Tensor) or not inputs[n].is_floating_point():
            raise NoGradient(f"input {n} is no floating torch tensor")
        leaves.append(inputs[n].detach().requires_grad_())
        given[n] = leaves[-1].clone() if n in in_place else leaves[-1]  # a leaf itself must not be written to
    assert torch is not None
    with torch.enable_grad():
        result = run(*given)
    if result is None and in_place:
        changed = tuple(given[n] for n in in_place)
        result = changed[0] if len(changed) == 1 else changed
    return leaves, result


def floating(value: Any) -> list[Any]:
    """The floating torch tensors of an answer in order, dicts by their keys."""
    torch = sys.modules.get("torch")
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in floating(item)]
    return [value] if torch is not None and isinstance(value, torch.Tensor) and value.is_floating_point() else []


def memory(run: Run, inputs: Sequence[Any], question: Question) -> dict[str, int]:
    """Bytes that one more forward and backward pass need, of torch's tensors on this machine.

    `saved_bytes`: distinct storages that autograd keeps from the forward pass for the backward one, through
    `save_for_backward` and torch's own operators; `saved_beyond_inputs_bytes`: of these, what is no input's.  What a
    function keeps in other ways is not seen.  `peak_bytes`: the most that was alive at once of the storages that
    operators made during both passes; memory that an operator needs only inside is not seen.
    """
    torch = sys.modules["torch"]
    own = {t.untyped_storage().data_ptr() for t in inputs if isinstance(t, torch.Tensor)}
    saved: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = weakref.ref(storage)
        return tensor.detach()

    sizes: dict[str, int] = {}

    def counted(*given: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            result = run(*given)
        alive = {address: storage for address, ref in saved.items() if (storage := ref()) is not None}
        sizes["saved_bytes"] = sum(storage.nbytes() for storage in alive.values())
        beyond = [storage.nbytes() for address, storage in alive.items() if address not in own]
        sizes["saved_beyond_inputs_bytes"] = sum(beyond)
        return result

    with _allocations(own) as allocations:
        backward(counted, inputs, question)
    return {**sizes, "peak_bytes": allocations.peak}


def _allocations(own: set[int]) -> Any:
    """A dispatch mode that adds up the storages that operators return, until they are gone."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    torch = sys.modules["torch"]

    class Allocations(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.live = self.peak = 0
            self.known: set[int] = set(own)

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # else the first operator imports torch's compiler, for seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            for leaf in tree_leaves(result):
                if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                    self._note(leaf.untyped_storage())
            return result

        def _note(self, storage: Any) -> None:
            address, size = storage.data_ptr(), storage.nbytes()
            if not size or address in self.known:
                return
            self.known.add(address)
            self.live += size
            self.peak = max(self.peak, self.live)
            weakref.finalize(storage, self._forget, address, size)

        def _forget(self, address: int, size: int) -> None:
            self.known.discard(address)
            self.live -= size

    return Allocations()
