"""A task's weights, and its reference bound to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workers.wire.modules import build


@dataclass(frozen=True)
class State:
    """What `make_state` returned: how to build a module, and its tensors by name."""

    init_args: Any
    tensors: dict[str, Any]

    @classmethod
    def of(cls, made: Any) -> State:
        """Raises `TypeError` for what is no (init_args, state)."""
        if not isinstance(made, tuple | list) or len(made) != 2 or not isinstance(made[1], Mapping):
            raise TypeError("make_state returns (init_args, state), with state a dict of tensors by name")
        init_args, tensors = made
        if odd := [name for name, value in tensors.items() if not hasattr(value, "shape")]:
            raise TypeError(f"make_state gives {odd[0]!r}, which is no tensor")
        return cls(init_args, {str(name): value for name, value in tensors.items()})

    def to_value(self) -> dict[str, Any]:
        return {"init_args": self.init_args, "state": self.tensors}

    def counters(self) -> list[str]:
        """Names of single whole numbers."""
        return [name for name, t in self.tensors.items() if not len(t.shape) and "int" in str(t.dtype)]

    def changed(self, change: Callable[[Any], Any]) -> State:
        return State(self.init_args, {name: change(value) for name, value in self.tensors.items()})


def bound(reference: Callable[..., Any], state: State) -> Callable[..., Any]:
    """What to call with inputs.  A class is built anew, so that no call sees what an earlier one left in it."""
    if not isinstance(reference, type):
        return lambda *inputs: reference(*inputs, state=dict(state.tensors))
    module = build(reference, state.init_args, state.tensors)
    module.load_state_dict(state.tensors)
    return module


def argument_names(reference: Callable[..., Any]) -> list[str]:
    """The names of the inputs: `forward`'s where the reference is a class."""
    called = getattr(reference, "forward", reference.__call__) if isinstance(reference, type) else reference
    try:
        names = list(inspect.signature(called).parameters)
    except (TypeError, ValueError):
        return []
    return [name for name in names if name not in ("self", "state")]
