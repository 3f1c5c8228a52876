"""The task's weights put into what a submission built: by name, else by order, else not at all."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import torch

Tensors = Mapping[str, torch.Tensor]
SHOWN = 6


class StateMismatch(Exception):
    """The weights fit neither by name nor by order; the message says what is left over."""


def load(module: Any, state: Tensors, idle: AbstractSet[str] = frozenset()) -> tuple[str, list[str]]:
    """Copy `state` into `module`; say how it fitted, `name` or `order`, and what was left out; raises `StateMismatch`.

    Those whose names are in `idle` may stay without a place.  A module's own `load_state_dict` has the first word, so
    that a submission may pack weights as it likes.
    """
    if not isinstance(module, torch.nn.Module):
        if state:
            raise StateMismatch(f"{type(module).__name__} is no torch module, so it has nothing to load weights into")
        return "name", []
    try:
        module.load_state_dict(dict(state))
    except Exception:  # noqa: BLE001 - a loader of the submission's own may fail in any way
        return _load_ourselves(module, state, idle)
    return "name", []


def _load_ourselves(module: torch.nn.Module, state: Tensors, idle: AbstractSet[str]) -> tuple[str, list[str]]:
    own = {name: t for name, t in module.state_dict().items() if isinstance(t, torch.Tensor)}
    left_out = sorted((state.keys() & idle) - own.keys())
    state = {name: t for name, t in state.items() if name not in left_out}
    parameters = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    pairs, how = _by_name(own, parameters, state), "name"
    if pairs is None:
        pairs, how = _by_order(own, state), "order"
    if pairs is None:
        raise StateMismatch(_difference(own, state))
    with torch.no_grad():
        for target, source in pairs:
            target.copy_(source)
    return how, left_out


Pairs = list[tuple[torch.Tensor, torch.Tensor]]


def _by_name(own: Tensors, parameters: set[str], state: Tensors) -> Pairs | None:
    """Every weight has a place and every parameter a weight; tied ones may have one name on either side.

    Buffers that the state does not have are the submission's own.
    """
    shared = own.keys() & state.keys()
    taken, filled = {_place(state[name]) for name in shared}, {_place(own[name]) for name in shared}
    left = [name for name in state.keys() - shared if _place(state[name]) not in taken]
    empty = [name for name in (own.keys() - shared) & parameters if _place(own[name]) not in filled]
    if left or empty or any(own[name].shape != state[name].shape for name in shared):
        return None
    return [(own[name], state[name]) for name in shared]


def _by_order(own: Tensors, state: Tensors) -> Pairs | None:
    """One to one, each tied weight once, with the same shapes and dtypes."""
    targets, sources = _distinct(own), _distinct(state)
    if len(targets) != len(sources):
        return None
    pairs = list(zip(targets, sources, strict=True))
    return pairs if all(t.shape == s.shape and t.dtype == s.dtype for t, s in pairs) else None


def _distinct(tensors: Tensors) -> list[torch.Tensor]:
    found: dict[tuple[Any, ...], torch.Tensor] = {}
    for tensor in tensors.values():
        found.setdefault(_place(tensor), tensor)
    return list(found.values())


def _place(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Where it lies; tensors without elements lie nowhere, each for itself."""
    if not tensor.numel():
        return (id(tensor),)
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype


def _difference(own: Tensors, state: Tensors) -> str:
    shapes = [n for n in own if n in state and own[n].shape != state[n].shape]
    told = {
        "weights without a place": [n for n in state if n not in own],
        "places without a weight": [n for n in own if n not in state],
        "other shapes": [f"{n} {tuple(own[n].shape)} for {tuple(state[n].shape)}" for n in shapes],
    }
    words = [f"{what}: {', '.join(names[:SHOWN])}" for what, names in told.items() if names]
    return "; ".join(words) or "the same names with other dtypes"
