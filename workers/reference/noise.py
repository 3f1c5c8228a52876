"""Relative noise on values: on the inputs of a reference, and in torch on the result of every operator."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Operators that move values, or choose among them, and round nothing.
EXACT = frozenset({
    "clone", "detach", "cat", "stack", "copy", "contiguous", "lift_fresh", "repeat", "roll", "flip", "tril", "triu",
    "index", "index_select", "index_put", "gather", "take", "scatter", "where", "masked_fill", "masked_select",
    "slice_scatter", "select_scatter", "embedding", "constant_pad_nd", "fill", "zero", "neg", "abs", "relu", "clamp",
    "clamp_min", "clamp_max", "max", "min", "amax", "amin", "maximum", "minimum", "sort", "topk",
    "max_pool2d_with_indices",
})  # fmt: skip
ALONG_DIM = frozenset({"_softmax", "_log_softmax", "cumsum", "cumprod", "logcumsumexp"})
INNER = frozenset({"mm", "bmm", "mv", "dot", "vdot", "addmm", "baddbmm", "addmv", "addbmm"})
SCATTERED = frozenset({"scatter_add", "scatter_reduce", "index_add", "index_reduce"})


@dataclass
class Seen:
    """What ran: how many torch operators, and the longest sum among them."""

    operators: int = 0
    longest: int = 1


class Source:
    """Perturbs by `h` times what `draw(count)` returns: float64, one value an element."""

    def __init__(self, random: np.random.Generator, draw: Callable[[int], NDArray[np.float64]], h: float) -> None:
        self.random, self.draw, self.h = random, draw, h

    def factors(self, value: Any, unit: float = 0.0) -> Any:
        """1 + noise, float64, in the shape and kind of `value`; `unit` is its format's roundoff."""
        noise = 1.0 + self.draw(_size(value)) * max(self.h, unit)
        shaped = noise.reshape(tuple(value.shape))
        return _torch().from_numpy(shaped) if _is_torch(value) else shaped

    def perturbed(self, value: Any) -> Any:
        """A floating input with noise; anything else as it is."""
        return value * self.factors(value) if is_floating(value) else value


@contextlib.contextmanager
def watched(source: Source | None) -> Iterator[Seen]:
    """Count torch's operators while this is open and, with a source, perturb what they return."""
    seen = Seen()
    if _torch() is None:
        yield seen
        return
    with _mode(source, seen):
        yield seen


def _mode(source: Source | None, seen: Seen) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    class Watch(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # else the first operator imports torch's compiler, for seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            name = func.overloadpacket.__name__
            if func.is_view or name.rstrip("_") in EXACT or not _tensors(args):
                return result
            seen.operators += 1
            seen.longest = max(seen.longest, _length(name, args, result))
            if source is None:
                return result
            in_place = name.endswith("_") and not name.startswith("__")
            return tree_map(lambda leaf: _perturb(leaf, source, in_place=in_place), result)

    return Watch()


def _perturb(leaf: Any, source: Source, *, in_place: bool) -> Any:
    if not is_floating(leaf) or not leaf.numel():
        return leaf
    torch = _torch()
    unit = 0.0 if leaf.dtype in (torch.float64, torch.complex128) else torch.finfo(leaf.dtype).eps / 2
    changed = (leaf.to(torch.promote_types(leaf.dtype, torch.float64)) * source.factors(leaf, unit)).to(leaf.dtype)
    return leaf.copy_(changed) if in_place else changed


def _length(name: str, args: Any, result: Any) -> int:
    """How many terms one element of the result sums up; 1 where nothing says so."""
    tensors = _tensors(args)
    if name in INNER:
        return int(tensors[-2].shape[-1])
    if name in ALONG_DIM:
        return int(tensors[0].shape[args[1]]) if tensors[0].dim() else 1
    if name.startswith("linalg_"):
        return int(tensors[0].shape[-1])
    if name.rstrip("_") in SCATTERED:
        return int(tensors[-1].numel())
    if name == "convolution":
        weight = tensors[1]
        return int(weight.numel() // max(1, weight.shape[0]))
    if "attention" in name:
        return int(max(tensors[0].shape[-1], tensors[1].shape[-2]))
    outputs = [r for r in (result if isinstance(result, list | tuple) else [result]) if is_floating(r) and r.numel()]
    smallest = min((r.numel() for r in outputs), default=0)
    return int(max(1, tensors[0].numel() // smallest)) if smallest else 1


def _tensors(args: Any) -> list[Any]:
    return [a for a in args if _is_torch(a) and (a.is_floating_point() or a.is_complex())]


def floating_sizes(inputs: Any) -> list[int]:
    """The number of elements of every floating leaf, in order."""
    return [_size(leaf) for leaf in leaves(inputs) if is_floating(leaf)]


def changed_inputs(position: int, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function for one pass over the inputs' leaves that changes the floating one at `position` only."""
    met = iter(range(1 << 30))

    def once(leaf: Any) -> Any:
        if not is_floating(leaf) or next(met) != position:
            return leaf
        if not _is_torch(leaf):
            return change(leaf.copy())
        return _torch().from_numpy(np.ascontiguousarray(change(leaf.detach().numpy().copy())))

    return once


def values_of(answer: Any) -> list[NDArray[Any] | None]:
    """Every leaf of an answer as a float64 or complex128 array; `None` for what does not float."""
    return [_wide(leaf) if is_floating(leaf) else None for leaf in leaves(answer)]


def _wide(leaf: Any) -> NDArray[Any]:
    if _is_torch(leaf):
        torch = _torch()
        return np.array(leaf.detach().to(torch.promote_types(leaf.dtype, torch.float64)).resolve_conj().numpy())
    array = np.asarray(leaf)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def leaves(value: Any) -> list[Any]:
    """In the order in which they cross to the judge."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def is_floating(value: Any) -> bool:
    """Floating or complex, a tensor or an array (NumPy's or one that converts, such as JAX's)."""
    if _is_torch(value):
        return bool(value.is_floating_point() or value.is_complex())
    dtype = getattr(value, "dtype", None)
    return dtype is not None and (dtype.kind in "fc" or dtype.name.startswith(("bfloat", "float")))


def _size(value: Any) -> int:
    return int(value.numel()) if _is_torch(value) else int(value.size)


def _torch() -> Any:
    return sys.modules.get("torch")


def _is_torch(value: Any) -> bool:
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)
