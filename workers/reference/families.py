"""Other values and other layouts in place of a task's own inputs, in the same shapes and dtypes.

Only floating tensors with at least one dimension get other values: indices, masks, scalars and options stay,
so that whatever a task's code derives from them holds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.reference.noise import is_floating

Floats = NDArray[np.float64]
LARGE_BYTES = 256 << 20
SPECIAL_SHARE = 1 / 16  # of the elements are NaN, or infinite
WHOLE_UP_TO = 2  # integer families: sums of products of a million such numbers are exact in float32
OFFSET = 1  # elements: a view that no longer begins where an allocation does
STEP = 2  # of a strided view, along its last axis


@dataclass(frozen=True)
class Format:
    """A floating format's range, as a family needs it."""

    largest: float
    smallest_normal: float
    has_inf: bool
    has_nan: bool


Family = Callable[[Floats, Format, np.random.Generator], Floats]


def _normal(values: Floats, _: Format, random: np.random.Generator) -> Floats:
    """Zero mean: sums cancel."""
    return random.standard_normal(values.shape)


def _positive(values: Floats, _: Format, random: np.random.Generator) -> Floats:
    """Nothing cancels: sums grow, and dropped work shows as a bias."""
    return 1.0 - random.random(values.shape)


def _wide(values: Floats, form: Format, random: np.random.Generator) -> Floats:
    """Magnitudes over a quarter of the format's exponents: products of two still fit."""
    reach = math.log2(form.largest) / 4
    return random.choice([-1.0, 1.0], values.shape) * np.exp2(random.uniform(-reach, reach, values.shape))


def _integers(values: Floats, _: Format, random: np.random.Generator) -> Floats:
    """Small enough that sums are exact in whatever order."""
    return random.integers(-WHOLE_UP_TO, WHOLE_UP_TO, values.shape, endpoint=True).astype(np.float64)


def _one_hot(values: Floats, _: Format, random: np.random.Generator) -> Floats:
    """One 1 in each row, at places that are a permutation as far as they go."""
    rows, columns = values.size // max(1, values.shape[-1]), values.shape[-1]
    hot = np.zeros((rows, columns))
    if columns:
        places = np.concatenate([random.permutation(columns) for _ in range(rows // columns + 1)])
        hot[np.arange(rows), places[:rows]] = 1.0
    return hot.reshape(values.shape)


def _permuted(values: Floats, _: Format, random: np.random.Generator) -> Floats:
    """The task's own values in another order."""
    return random.permutation(values.reshape(-1)).reshape(values.shape)


def _zeros(values: Floats, _: Format, random: np.random.Generator) -> Floats:
    """+0 and -0."""
    return random.choice([0.0, -0.0], values.shape)


def _tiny(values: Floats, form: Format, random: np.random.Generator) -> Floats:
    """Normal numbers whose squares are none."""
    return random.standard_normal(values.shape) * form.smallest_normal**0.75


def _huge(values: Floats, form: Format, random: np.random.Generator) -> Floats:
    """Numbers whose squares and exponentials overflow, and whose sums do not."""
    return random.standard_normal(values.shape) * form.largest**0.75


def _subnormal(values: Floats, form: Format, random: np.random.Generator) -> Floats:
    return random.uniform(-1.0, 1.0, values.shape) * form.smallest_normal


def _inf(values: Floats, form: Format, random: np.random.Generator) -> Floats:
    """The task's own values, a few of them infinite, with either sign."""
    infinities = np.where(random.random(values.shape) < 0.5, -np.inf, np.inf)
    return _some(values, infinities, random) if form.has_inf else values


def _nan(values: Floats, form: Format, random: np.random.Generator) -> Floats:
    """The task's own values, a few of them NaN."""
    return _some(values, np.full(values.shape, np.nan), random) if form.has_nan else values


FAMILIES: dict[str, Family] = {
    "normal": _normal,
    "positive": _positive,
    "wide": _wide,
    "integers": _integers,
    "one-hot": _one_hot,
    "permuted": _permuted,
    "zeros": _zeros,
    "tiny": _tiny,
    "huge": _huge,
    "subnormal": _subnormal,
    "inf": _inf,
    "nan": _nan,
}


def _some(values: Floats, others: Floats, random: np.random.Generator) -> Floats:
    """About one value in sixteen replaced, at least one; a whole row is left out where there are several."""
    chosen = random.random(values.shape) < SPECIAL_SHARE
    if len(values) > 1:
        chosen[0] = False
    if values.size and not chosen.any():
        chosen.reshape(-1)[-1] = True
    return np.where(chosen, others, values)


def filled(leaf: Any, family: str, random: np.random.Generator) -> Any:
    """`leaf` with other values, in its own dtype and strides; itself where the family does not apply to it."""
    if not is_floating(leaf) or not leaf.ndim or _nbytes(leaf) > LARGE_BYTES or _repeats(leaf):
        return leaf
    form = _format(leaf)
    if form is None:
        return leaf
    own = _float64(leaf)
    with np.errstate(all="ignore"):
        values = FAMILIES[family](own, form, random)
        if values is own:
            return leaf
        within = np.clip(values, -form.largest, form.largest)
    return _written(leaf, np.where(np.isfinite(values), within, values))


def laid_out(leaf: Any, layout: str) -> Any:
    """The same values as a view with other strides or another offset; itself where it is no tensor with elements."""
    torch = _torch()
    is_tensor = _is_torch(leaf)
    if not (is_tensor or isinstance(leaf, np.ndarray)) or not leaf.ndim or _nbytes(leaf) > LARGE_BYTES:
        return leaf
    shape = tuple(leaf.shape)
    if layout == "strided":
        wide = (*shape[:-1], STEP * shape[-1])
        room = torch.zeros(wide, dtype=leaf.dtype) if is_tensor else np.zeros(wide, leaf.dtype)
        view = room[..., ::STEP]
    else:
        count = math.prod(shape) + OFFSET
        room = torch.zeros(count, dtype=leaf.dtype) if is_tensor else np.zeros(count, leaf.dtype)
        view = room[OFFSET:].reshape(shape)
    view[...] = leaf.detach() if is_tensor else leaf
    return view


def _format(leaf: Any) -> Format | None:
    """None for complex numbers, whose two parts no family describes."""
    if _is_torch(leaf):
        torch = _torch()
        if leaf.is_complex():
            return None
        info = torch.finfo(leaf.dtype)
        probe = torch.tensor([math.inf, math.nan], dtype=torch.float32).to(leaf.dtype).to(torch.float64).tolist()
        return Format(float(info.max), float(info.smallest_normal), math.isinf(probe[0]), math.isnan(probe[1]))
    if not isinstance(leaf, np.ndarray) or leaf.dtype.kind != "f":
        return None
    limits = np.finfo(leaf.dtype)
    return Format(float(limits.max), float(limits.smallest_normal), has_inf=True, has_nan=True)


def _float64(leaf: Any) -> Floats:
    return np.asarray(leaf.detach().to(_torch().float64).numpy() if _is_torch(leaf) else leaf, np.float64)


def _written(leaf: Any, values: Floats) -> Any:
    """`values` in a copy of `leaf` with its strides, its storage, and what lies in the storage's gaps."""
    if not _is_torch(leaf):
        copy = leaf.copy(order="K")
        copy[...] = values
        return copy
    torch = _torch()
    storage = torch.empty(0, dtype=leaf.dtype).set_(leaf.detach().untyped_storage().clone())
    view = storage.set_(storage.untyped_storage(), leaf.storage_offset(), leaf.shape, leaf.stride())
    return view.copy_(torch.from_numpy(np.ascontiguousarray(values)).to(leaf.dtype))


def _repeats(leaf: Any) -> bool:
    """Whether several elements are one place in memory, which holds no values of theirs."""
    strides = leaf.stride() if _is_torch(leaf) else leaf.strides
    return any(step == 0 and size > 1 for step, size in zip(strides, leaf.shape, strict=True))


def _nbytes(leaf: Any) -> int:
    return int(leaf.untyped_storage().nbytes()) if _is_torch(leaf) else int(leaf.nbytes)


def _torch() -> Any:
    return sys.modules.get("torch")


def _is_torch(value: Any) -> bool:
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)
