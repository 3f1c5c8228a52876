"""Follows which tensor a pointer came from, and whether 32-bit index arithmetic wrapped on the way."""

# mypy: disable-error-code="misc"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from triton.runtime import interpreter as stock

from .formats import Array
from .location import current_location

_INT32 = np.dtype(np.int32)
_CAN_WRAP = (np.add, np.subtract, np.multiply, np.left_shift)

# Handles are made in many places of the stock interpreter; a class attribute gives all of them a default.
stock.TensorHandle.origin = None
stock.TensorHandle.wrap = None


@dataclass(frozen=True)
class Wrap:
    """Where a signed 32-bit operation overflowed, and what it should have given."""

    file: str | None
    line: int | None
    operation: str
    exact_value: int


def _wrap_of(lhs: Array, rhs: Array, got: Array, operation: Any) -> Wrap | None:
    exact = operation(lhs.astype(np.int64), rhs.astype(np.int64))
    differs = exact != got
    if not differs.any():
        return None
    where = current_location() or {"file": None, "line": None}
    return Wrap(where["file"], where["line"], operation.__name__, int(exact[differs].flat[0]))


def inherit(result: Any, *sources: Any) -> Any:
    """Gives a result the tensor its operands point into (if they agree) and any wrap among them."""
    origins = {s.origin for s in sources if s.origin is not None}
    if len(origins) == 1:
        result.origin = origins.pop()
    for source in sources:
        if source.wrap is not None:
            result.wrap = source.wrap
            break
    return result


def _following(name: str) -> Any:
    """A builder method that passes provenance from its operands to its results."""

    def method(self: Any, *operands: Any) -> Any:
        result = getattr(super(PointerProvenance, self), name)(*operands)
        sources = [o for o in operands if isinstance(o, stock.TensorHandle)]
        if all(s.origin is None and s.wrap is None for s in sources):
            return result
        for one in result if isinstance(result, tuple) else (result,):
            inherit(one, *sources)
        return result

    method.__name__ = name
    return method


class PointerProvenance(stock.InterpreterBuilder):
    """Every handle remembers its tensor and the first wrapped operation behind it."""

    def binary_op(self, lhs: Any, rhs: Any, op: Any) -> Any:
        result = super().binary_op(lhs, rhs, op)
        if lhs.wrap is not None or rhs.wrap is not None or lhs.origin is not None or rhs.origin is not None:
            inherit(result, lhs, rhs)
        if lhs.data.dtype == _INT32 and op in _CAN_WRAP and rhs.data.dtype == _INT32 and result.wrap is None:
            result.wrap = _wrap_of(lhs.data, rhs.data, result.data, op)
        return result


_FOLLOWED = (
    "ternary_op", "cast_impl", "create_bitcast", "create_int_to_ptr", "create_ptr_to_int", "create_idiv",
    "create_ashr", "create_reshape", "create_trans", "create_addptr", "create_expand_dims", "create_broadcast",
    "create_cat", "create_join", "create_split", "create_splat", "create_unsplat", "create_gather",
)  # fmt: skip
for _name in _FOLLOWED:
    setattr(PointerProvenance, _name, _following(_name))


def pointers_of_blocks(materialise: Any) -> Any:
    """Wraps a block pointer's or descriptor's address computation so that its base's provenance survives."""

    def with_origin(self: Any, *arguments: Any) -> Any:
        pointers, mask = materialise(self, *arguments)
        inherit(pointers, self.base, *[o for o in getattr(self, "offsets", ()) if o.wrap is not None])
        return pointers, mask

    return with_origin
