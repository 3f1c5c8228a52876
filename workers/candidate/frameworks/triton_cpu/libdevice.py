"""CUDA's device math library by name, computed with NumPy and torch."""

# mypy: disable-error-code="misc, no-any-return"
# ruff: noqa: ARG002, SLF001 - the framework's private names are what is replaced

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter as stock

from .formats import Array, as_handle, decode
from .records import Unsupported

Function = Callable[..., Any]


def _by_torch(function: Any) -> Function:
    """A torch special function on arrays, out of sight of any mode that counts the submission's own operators."""

    def compute(values: Array) -> Array:
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            result: Array = function(torch.from_numpy(np.ascontiguousarray(values))).numpy()
            return result

    return compute


_erf = _by_torch(torch.special.erf)


def _round_half_away(x: Array) -> Array:
    return np.trunc(x + np.copysign(0.5, x))


def _bit_count(x: Array) -> Array:
    return np.bitwise_count(x.view(f"u{x.itemsize}")).astype(np.int32)


def _leading_zeros(x: Array) -> Array:
    bits = 8 * x.itemsize
    wide = x.view(f"u{x.itemsize}").astype(object)
    return np.array([bits - int(v).bit_length() for v in wide.reshape(-1)], dtype=np.int32).reshape(x.shape)


def _reverse_bits(x: Array) -> Array:
    bits = 8 * x.itemsize
    unsigned = x.view(f"u{x.itemsize}").reshape(-1)
    turned = [int(f"{int(v):0{bits}b}"[::-1], 2) for v in unsigned]
    return np.array(turned, dtype=unsigned.dtype).view(x.dtype).reshape(x.shape)


def _first_set(x: Array) -> Array:
    values = [(int(v) & -int(v)).bit_length() for v in x.view(f"u{x.itemsize}").reshape(-1)]
    return np.array(values, dtype=np.int32).reshape(x.shape)


def _high_product(x: Array, y: Array) -> Array:
    bits = 8 * x.itemsize
    product = (x.astype(object) * y.astype(object)) >> bits
    return product.astype(x.dtype)


FUNCTIONS: dict[str, Function] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "brev": _reverse_bits, "cbrt": np.cbrt,
    "ceil": np.ceil, "clz": _leading_zeros, "copysign": np.copysign, "cos": np.cos, "cosh": np.cosh,
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)), "cyl_bessel_i0": _by_torch(torch.special.i0),
    "cyl_bessel_i1": _by_torch(torch.special.i1), "erf": _erf, "erfc": _by_torch(torch.special.erfc),
    "erfcx": _by_torch(torch.special.erfcx), "erfinv": _by_torch(torch.special.erfinv), "exp": np.exp,
    "exp10": lambda x: np.power(x.dtype.type(10), x), "exp2": np.exp2, "expm1": np.expm1, "fabs": np.abs,
    "fdim": lambda x, y: np.where(x > y, x - y, x.dtype.type(0)), "fdividef": np.divide, "ffs": _first_set,
    "finite": np.isfinite, "float_as_int": lambda x: x.view(np.int32), "floor": np.floor,
    "fma": lambda x, y, z: x.astype(np.float64) * y + z, "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod,
    "hypot": np.hypot, "ilogb": lambda x: np.floor(np.log2(np.abs(x))), "int_as_float": lambda x: x.view(np.float32),
    "isfinited": np.isfinite, "isinf": np.isinf, "isinfd": np.isinf, "isnan": np.isnan, "isnand": np.isnan,
    "j0": _by_torch(torch.special.bessel_j0), "j1": _by_torch(torch.special.bessel_j1), "ldexp": np.ldexp,
    "lgamma": _by_torch(torch.special.gammaln), "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "logb": lambda x: np.floor(np.log2(np.abs(x))), "max": np.maximum, "min": np.minimum, "mulhi": _high_product,
    "umulhi": _high_product, "mul64hi": _high_product, "umul64hi": _high_product, "nearbyint": np.rint,
    "nextafter": np.nextafter, "normcdf": _by_torch(torch.special.ndtr), "normcdfinv": _by_torch(torch.special.ndtri),
    "popc": _bit_count, "pow": np.power, "powi": np.power, "rcbrt": lambda x: 1 / np.cbrt(x), "rcp": np.reciprocal,
    "remainder": lambda x, y: x - y * np.rint(x / y), "rhypot": lambda x, y: 1 / np.hypot(x, y), "rint": np.rint,
    "round": _round_half_away, "rsqrt": lambda x: 1 / np.sqrt(x), "saturate": lambda x: np.clip(np.nan_to_num(x), 0, 1),
    "signbit": np.signbit, "signbitd": np.signbit, "sin": np.sin, "sinh": np.sinh,
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)), "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "tgamma": lambda x: np.exp(FUNCTIONS["lgamma"](x)), "trunc": np.trunc,
    "llrint": np.rint, "llround": _round_half_away, "lrint": np.rint, "lround": _round_half_away,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "mul24": np.multiply,
}  # fmt: skip


def function_of(symbol: str) -> Function:
    """The function behind a library symbol such as `__nv_fast_expf`; raises Unsupported for unknown ones."""
    base = symbol.removeprefix("__nv_").removeprefix("__ocml_").removeprefix("fast_")
    for suffix in ("_f32", "_f64", "_rn", "_rz", "_ru", "_rd"):
        base = base.removesuffix(suffix)
    names = [base, base.removesuffix("ll"), base.removesuffix("f"), base[1:]]
    for name in names:
        if name in FUNCTIONS and not (symbol.endswith(("_rz", "_ru", "_rd"))):
            return FUNCTIONS[name]
    raise Unsupported(f"the library function {symbol} has no model here")


class DeviceLibrary(stock.InterpreterBuilder):
    """External elementwise functions by their symbol, and a fast `erf`."""

    def create_extern_elementwise(
        self, lib_name: str, lib_path: str, symbol: str, arguments: Any, ret_type: Any, is_pure: bool
    ) -> Any:
        values = function_of(symbol)(*(decode(a) for a in arguments))
        return as_handle(np.asarray(values), ret_type.scalar)

    def create_erf(self, arg: Any) -> Any:
        return stock.TensorHandle(_erf(arg.data), arg.dtype.scalar)

    def create_inline_asm(self, *_: Any) -> Any:
        raise Unsupported("inline assembly has no model here")

    def create_print(self, prefix: str, hex: bool, values: Any, is_signed: Any) -> None:
        """Device prints are dropped: they would flood the candidate's output once a program."""


def generic_stub(name: str) -> Function:
    """A replacement for the empty functions of Triton's backend-neutral library module.

    It keeps their module and name, by which the real compiler finds the backend's own function.
    """

    def stub(*arguments: Any, _semantic: Any = None) -> tl.tensor:
        from triton.language.extra.cuda import libdevice

        known = getattr(libdevice, name, None)
        if known is None:
            raise Unsupported(f"the library function {name} has no model here")
        return getattr(known, "__wrapped__", known)(*arguments, _semantic=stock.interpreter_semantic)

    stub.__name__ = name
    stub.__module__ = "triton.language.extra.libdevice"
    return stub
