"""Assembles the interpreter's operation set from our corrections."""

# mypy: disable-error-code="misc"

from __future__ import annotations

import dataclasses
from typing import Any

from triton.runtime import interpreter as stock

from .atomics import Bf16Atomics
from .dot import ScaledDotSemantic, TensorCoreDot
from .libdevice import DeviceLibrary
from .memory import CheckedMemory
from .numerics_bf16 import NarrowArithmetic, QuietMinMax
from .numerics_fp8 import FloatConversions
from .overflow import PointerProvenance
from .records import Unsupported

# Order matters: provenance sees every result, memory checks come before atomics touch anything.
CORRECTIONS: tuple[type, ...] = (
    PointerProvenance, CheckedMemory, Bf16Atomics, TensorCoreDot, FloatConversions, NarrowArithmetic, QuietMinMax,
    DeviceLibrary,
)  # fmt: skip


class DeviceAssertion(RuntimeError):
    """A `tl.device_assert` failed; on a GPU the launch ends with a runtime error as well."""


class _Base(stock.InterpreterBuilder):
    def create_assert(self, condition: Any, message: str) -> None:
        if not condition.data.all():
            raise DeviceAssertion(f"device-side assert triggered: {message}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("create_"):
            raise Unsupported(f"the interpreter has no {name.removeprefix('create_')}")
        raise AttributeError(name)


def make_builder(corrections: tuple[type, ...] = CORRECTIONS) -> Any:
    """A builder with the given corrections; leaving one out is how tests see the self-test fail."""
    builder = type("CpuBuilder", (*corrections, _Base), {})()
    precisions = (*builder.options.allowed_dot_input_precisions, "bf16x3", "bf16x6")
    builder.options = dataclasses.replace(
        builder.options, debug=True, sanitize_overflow=False, allowed_dot_input_precisions=precisions
    )
    return builder


def make_semantic(builder: Any) -> ScaledDotSemantic:
    """The language's rules on top of a builder."""
    return ScaledDotSemantic(builder)
