"""Modules with weights, built the same way by a task's reference and by a submission.

`init_args` is a tuple or list of positional arguments, a dict of named ones, or a pair of both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


def build(factory: Callable[..., Any], init_args: Any, state: Mapping[str, Any]) -> Any:
    """`factory` with `init_args`, in the one floating dtype of `state` where that is not torch's default.

    A module is built in torch's default dtype whatever its weights have; with the weights it takes over their dtype,
    in buffers that are no part of the state too.  Nothing in it asks for gradients: nobody calls `backward`.
    Raises whatever `factory` raises.
    """
    positional, named = _arguments(init_args)
    module, torch = factory(*positional, **named), sys.modules.get("torch")
    if torch is None or not isinstance(module, torch.nn.Module):
        return module
    module.requires_grad_(requires_grad=False)
    dtypes = {value.dtype for value in state.values() if isinstance(value, torch.Tensor) and value.is_floating_point()}
    if len(dtypes) == 1 and dtypes != {torch.get_default_dtype()}:
        cast(module, dtypes.pop())
    return module


def cast(module: Any, dtype: Any) -> None:
    """Every floating parameter and buffer of a torch module, kept or not; complex ones stay as they are."""
    module._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)  # noqa: SLF001 - as `half` does


def _arguments(init_args: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(init_args, Mapping):
        return (), dict(init_args)
    if not isinstance(init_args, list | tuple):
        raise TypeError(f"init_args is a tuple, a list or a dict, not {type(init_args).__name__}")
    if len(init_args) == 2 and isinstance(init_args[0], list | tuple) and isinstance(init_args[1], Mapping):
        return tuple(init_args[0]), dict(init_args[1])
    return tuple(init_args), {}
