"""Which library operators ran during a call, told apart from allocation, views, copies and casts."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

# Always allowed by every policy: making, filling, viewing, copying and casting tensors, and RNG state.
_FREE = frozenset(
    """
    empty empty_like empty_strided new_empty new_empty_strided empty_permuted zeros zeros_like ones ones_like full
    full_like new_zeros new_ones new_full zero_ fill_ arange linspace eye scalar_tensor tensor lift_fresh
    view _unsafe_view reshape as_strided slice select unsqueeze squeeze expand permute transpose t alias detach
    split split_with_sizes chunk unbind unfold diagonal narrow view_as_real view_as_complex movedim unsafe_split
    copy_ clone contiguous _to_copy to cpu cuda pin_memory set_ resize_ resize_as_ _local_scalar_dense item
    is_same_size sym_size sym_stride sym_numel is_contiguous size stride record_stream random_ uniform_ normal_
    rand randn randint randperm bernoulli_ rand_like randn_like manual_seed _reshape_alias constant_pad_nd pad
    stack cat
    """.split()  # noqa: SIM905 - words, without quotes
)


# The results kept of each size: the last, and one before it, which a step for show may follow.
_KEPT = 2


class OperatorTrace:
    """Counts the operators that ran while it is entered, with the elements that each went over in all its calls.

    The results of those named in `hollow` are multiplied by `factor`: what then stays the same never needed them.
    Of those named in `capture["operators"]`, results with as many elements as one of `capture["sizes"]` are kept, the
    last few of each size, as they were when the operator returned.
    """

    def __init__(
        self, hollow: frozenset[str] = frozenset(), factor: float = 0.0, capture: dict[str, Any] | None = None
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.worked_on: Counter[str] = Counter()
        self.hollow, self.factor = hollow, factor
        self._capture = frozenset(capture["operators"]) if capture else frozenset()
        self._kept: dict[int, list[Any]] = {size: [] for size in capture["sizes"]} if capture else {}
        self._mode: Any = None

    def __enter__(self) -> Self:
        self._mode = _mode(self)
        self._mode.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)

    def note(self, name: str, tensors: list[Any]) -> None:
        """One operator ran on, and to, these tensors."""
        self.counts[name] += 1
        sizes = [t.numel() for t in tensors if _is_floating(t)]
        self.worked_on[name] += max(sizes, default=0)

    def take_away(self, result: Any) -> None:
        """Whole numbers and truths have no factor: they stay, or become zero like everything else."""
        if not self.factor:
            result.zero_()
        elif _is_floating(result):
            result.mul_(self.factor)

    def keep(self, name: str, results: list[Any]) -> None:
        """An operator returned these."""
        for tensor in results if name in self._capture else []:
            if tensor.numel() in self._kept:
                kept = self._kept[tensor.numel()]
                kept[:] = [*kept, tensor.detach().clone()][-_KEPT:]

    def captured(self) -> list[Any]:
        return [tensor for kept in self._kept.values() for tensor in kept]

    def work(self) -> dict[str, int]:
        """The operators that compute, with their counts."""
        return {name: count for name, count in self.counts.items() if name not in _FREE}

    def elements(self) -> dict[str, int]:
        """The same with the elements of the largest floating tensor of each call, added up: chunks are a whole too."""
        return {name: size for name, size in self.worked_on.items() if name not in _FREE}


def _mode(trace: OperatorTrace) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Tracing(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # else torch imports its compiler for this class alone, which takes seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            name = func.__name__.split(".")[0]
            trace.note(name, _tensors([args, list(kwargs.values()), result]))
            if name in trace.hollow:
                for tensor in _tensors(result):
                    trace.take_away(tensor)
            trace.keep(name, _tensors(result))
            return result

    return Tracing()


def _is_floating(tensor: Any) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value for t in _tensors(item)] if isinstance(value, list | tuple) else []
