"""Values as a JSON manifest and storages: `{"py": 0.25}`, lists, tuples, dicts, tensors.

A torch dtype is `{"dtype": "float16"}`.  A tensor is
`{"tensor": {kind, dtype, shape, strides, offset, storage}}` with the dtype's ml_dtypes name and
strides and offset in elements.  Storages are numbered, so two views of one storage stay
aliased; the descriptors travel in the order of the numbers.  Never pickle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

MAX_DEPTH = 16
MAX_ITEMS = 4096
MAX_DIMENSIONS = 64
TENSOR_KINDS = ("torch", "numpy", "jax")

ML_DTYPES = (
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float8_e4m3", "float8_e3m4", "float8_e4m3b11fnuz",
)  # fmt: skip
NUMPY_DTYPES = (
    "float64", "float32", "float16", "complex128", "complex64", "bool",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip


class NotAValue(Exception):
    """A value that cannot cross, or a manifest that describes none."""


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of a manifest; `strides` and `offset` count elements."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: int
    type: str = ""

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.dtype)

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=object)) if self.shape else 1

    def extent_bytes(self) -> tuple[int, int]:
        """First and one past the last byte of the storage that the tensor can reach; (0, 0) when empty."""
        if self.elements == 0:
            return 0, 0
        reach = [s * (n - 1) for s, n in zip(self.strides, self.shape, strict=True)]
        low = self.offset + sum(r for r in reach if r < 0)
        high = self.offset + sum(r for r in reach if r > 0) + 1
        return low * self.numpy_dtype.itemsize, high * self.numpy_dtype.itemsize

    def to_json(self) -> dict[str, Any]:
        data = {
            "kind": self.kind, "dtype": self.dtype, "shape": list(self.shape),
            "strides": list(self.strides), "offset": self.offset, "storage": self.storage,
        }  # fmt: skip
        return {"tensor": {**data, "type": self.type} if self.type else data}


@dataclass
class Packed:
    """A manifest with the sizes of its storages, in the order of their descriptors."""

    manifest: Any
    storage_bytes: list[int] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {"manifest": self.manifest, "storages": self.storage_bytes}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of an ml_dtypes or NumPy name; raises `NotAValue` for any other."""
    if name in ML_DTYPES:
        return np.dtype(getattr(ml_dtypes, name))
    if name in NUMPY_DTYPES:
        return np.dtype(name)
    raise NotAValue(f"dtype {name!r} cannot cross; known: {', '.join(NUMPY_DTYPES + ML_DTYPES)}")


def describe(value: Any, tensor: Callable[[Any], TensorSpec | None], depth: int = 0) -> Any:
    """The manifest of `value`; `tensor` turns a tensor into its spec and anything else into None."""
    if depth > MAX_DEPTH:
        raise NotAValue(f"values nested deeper than {MAX_DEPTH}")
    spec = tensor(value)
    if spec is not None:
        return spec.to_json()
    if value is None or isinstance(value, bool | int | float | str):
        return {"py": value}
    if isinstance(value, list | tuple):
        items = [describe(item, tensor, depth + 1) for item in value]
        return {"list" if isinstance(value, list) else "tuple": items}
    if isinstance(value, dict):
        return {"dict": [[str(key), describe(item, tensor, depth + 1)] for key, item in value.items()]}
    if f"{type(value).__module__}.{type(value).__name__}" == "torch.dtype":
        return {"dtype": str(value).removeprefix("torch.")}
    raise NotAValue(f"a value of type {type(value).__name__} cannot cross; use tensors, numbers, text, lists and dicts")


def rebuild(
    manifest: Any, tensor: Callable[[TensorSpec], Any], depth: int = 0, dtype: Callable[[str], Any] = str
) -> Any:
    """The value of `manifest`: tensors made by `tensor`, dtypes by `dtype`; raises `NotAValue` for a malformed one."""
    if depth > MAX_DEPTH or not isinstance(manifest, dict) or len(manifest) != 1:
        raise NotAValue("malformed manifest")
    ((kind, body),) = manifest.items()
    if kind == "py" and (body is None or isinstance(body, bool | int | float | str)):
        return body
    if kind == "tensor":
        return tensor(read_spec(body))
    if kind == "dtype" and isinstance(body, str):
        return dtype(body[:32])
    if kind in ("list", "tuple") and isinstance(body, list) and len(body) <= MAX_ITEMS:
        items = [rebuild(item, tensor, depth + 1, dtype) for item in body]
        return items if kind == "list" else tuple(items)
    if kind == "dict" and isinstance(body, list) and len(body) <= MAX_ITEMS:
        return {str(key): rebuild(item, tensor, depth + 1, dtype) for key, item in map(_pair, body)}
    raise NotAValue(f"malformed manifest: {kind!r}")


def _pair(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, list) or len(item) != 2:
        raise NotAValue("malformed manifest: a dict is a list of pairs")
    return item[0], item[1]


def read_spec(body: Any) -> TensorSpec:
    """Check a tensor's description from a hostile process; raises `NotAValue`."""
    try:
        spec = TensorSpec(
            kind=str(body["kind"])[:16],
            dtype=str(body["dtype"])[:32],
            shape=tuple(_whole(n) for n in body["shape"]),
            strides=tuple(_whole(n, negative=True) for n in body["strides"]),
            offset=_whole(body["offset"]),
            storage=_whole(body["storage"]),
            type=str(body.get("type", ""))[:120],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise NotAValue(f"malformed tensor: {error}") from error
    if len(spec.shape) > MAX_DIMENSIONS or len(spec.shape) != len(spec.strides):
        raise NotAValue("malformed tensor: shape and strides disagree")
    numpy_dtype(spec.dtype)
    return spec


def _whole(number: Any, *, negative: bool = False) -> int:
    if (
        not isinstance(number, int)
        or isinstance(number, bool)
        or abs(number) >= 1 << 62
        or (number < 0 and not negative)
    ):
        raise NotAValue(f"malformed tensor: {number!r} is no size")
    return number


def specs(manifest: Any) -> list[TensorSpec]:
    """Every tensor of a manifest, in order."""
    found: list[TensorSpec] = []
    rebuild(manifest, found.append)
    return found


def as_array(spec: TensorSpec, buffer: Any) -> np.ndarray:
    """A view of `buffer` (a storage's bytes) as the tensor says; raises `NotAValue` when it would leave it."""
    low, high = spec.extent_bytes()
    if low < 0 or high > len(buffer):
        raise NotAValue(f"a tensor reaches bytes {low} to {high} of a storage of {len(buffer)}")
    dtype = spec.numpy_dtype
    if spec.elements == 0:
        return np.empty(spec.shape, dtype)
    flat = np.frombuffer(buffer, np.uint8)[low:high].view(_opaque(dtype))
    base = flat[spec.offset - low // dtype.itemsize :]  # negative strides start inside the extent
    return strided(base, spec, writeable=bool(flat.flags.writeable))


def strided(base: np.ndarray, spec: TensorSpec, *, writeable: bool = True) -> np.ndarray:
    """`base`, flat items of the right size, as the tensor that `spec` describes."""
    byte_strides = [s * base.itemsize for s in spec.strides]
    return np.lib.stride_tricks.as_strided(base, spec.shape, byte_strides, writeable=writeable).view(spec.numpy_dtype)


def _opaque(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype of the same size that NumPy's array interface can name: it knows no float8."""
    return dtype if dtype.isbuiltin == 1 else np.dtype(f"V{dtype.itemsize}")
