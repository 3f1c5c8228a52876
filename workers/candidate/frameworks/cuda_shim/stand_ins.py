"""What `torch.cuda` and CUDA-specific methods of tensors and modules become without a device."""

# mypy: disable-error-code="misc"
# ruff: noqa: ARG002, SLF001 - the framework's private names are what is replaced

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch

from .redirect import is_cuda
from .streams import Event, Stream, StreamContext, StreamModel
from .unsupported import Unsupported

_DEVICE = torch.device("cuda", 0)
_DEVICE_NAME = "CPU standing in for a CUDA device"

# Public figures of a compute capability 9.0 part; programs size their grids with them.
_PROPERTIES = {
    "name": _DEVICE_NAME, "major": 9, "minor": 0, "multi_processor_count": 132, "total_memory": 80 << 30,
    "warp_size": 32, "max_threads_per_multi_processor": 2048, "max_threads_per_block": 1024,
    "shared_memory_per_block": 49152, "shared_memory_per_block_optin": 232448,
    "shared_memory_per_multiprocessor": 233472, "regs_per_multiprocessor": 65536, "L2_cache_size": 50 << 20,
    "is_integrated": 0, "is_multi_gpu_board": 0, "gcnArchName": "", "clock_rate": 1980000,
}  # fmt: skip


def _zero(*_: Any, **__: Any) -> int:
    return 0


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _refuse_graph(*_: Any, **__: Any) -> Any:
    raise Unsupported("CUDA graphs have no model here")


def _eager(model: Any = None, *_: Any, **__: Any) -> Any:
    """`torch.compile` without a compiler: the program as written, which has the same meaning."""
    return (lambda function: function) if model is None else model


class _DeviceContext:
    """Stands for `torch.cuda.device(...)` and `device_of(...)`: there is only one device."""

    def __init__(self, device: Any = None) -> None:
        self.idx = 0
        self.prev_idx = 0

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class _AnyGenerator(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch._C.Generator)


class _Generator(metaclass=_AnyGenerator):
    """A random generator whose CUDA device is the CPU."""

    def __new__(cls, device: Any = "cpu") -> Any:
        return torch._C.Generator("cpu" if is_cuda(device) else device)


class _Autocast(torch.amp.autocast_mode.autocast):
    """Autocast for "cuda" applied to CPU operations, with CUDA's default type."""

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.float16
        super().__init__(device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class _CudaAutocast(_Autocast):
    """The older `torch.cuda.amp.autocast`, whose device is implied."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: Any = None) -> None:
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


def torch_cuda(model: StreamModel, note: Callable[[str], None]) -> dict[str, Any]:
    """Replacements for attributes of `torch.cuda`, by name."""
    seed = torch.random.default_generator.manual_seed

    def set_stream(stream: Stream) -> None:
        model.stack[-1] = stream

    plain: dict[str, Any] = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": _zero, "set_device": _nothing,
        "is_initialized": lambda: True, "init": _nothing, "is_bf16_supported": lambda *_, **__: True,
        "get_device_name": lambda *_: _DEVICE_NAME, "get_device_capability": lambda *_: (9, 0),
        "get_device_properties": lambda *_: SimpleNamespace(**_PROPERTIES), "get_arch_list": lambda: ["sm_90"],
        "synchronize": lambda *_, **__: model.wait_for_all(), "empty_cache": _nothing, "ipc_collect": _nothing,
        "manual_seed": seed, "manual_seed_all": seed,
        "seed": _zero, "seed_all": _zero, "initial_seed": _zero, "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda state, *_: torch.set_rng_state(state), "mem_get_info": lambda *_: (70 << 30, 80 << 30),
        "memory_stats": lambda *_: {}, "memory_summary": lambda *_, **__: "", "reset_peak_memory_stats": _nothing,
        "reset_max_memory_allocated": _nothing, "reset_accumulated_memory_stats": _nothing,
        "device": _DeviceContext, "device_of": _DeviceContext, "Stream": Stream, "ExternalStream": Stream,
        "Event": Event, "stream": StreamContext, "StreamContext": StreamContext, "set_stream": set_stream,
        "current_stream": lambda *_: model.current, "default_stream": lambda *_: model.default,
        "CUDAGraph": _refuse_graph, "graph": _refuse_graph, "make_graphed_callables": _refuse_graph,
        "graph_pool_handle": _refuse_graph, "is_current_stream_capturing": lambda: False,
        "nvtx": SimpleNamespace(range_push=_zero, range_pop=_zero, mark=_nothing, range=lambda *_, **__: nullcontext()),
    }  # fmt: skip
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "utilization"):
        plain[name] = _zero
    functions = {name: value for name, value in plain.items() if callable(value) and not isinstance(value, type)}
    return plain | {name: _noted(f"torch.cuda.{name}", value, note) for name, value in functions.items()}


def _noted(name: str, function: Callable[..., Any], note: Callable[[str], None]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        note(name)
        return function(*arguments, **options)

    return call


def tensor_attributes(note: Callable[[str], None], truthful_code: tuple[str, ...]) -> dict[str, Any]:
    """Replacements for attributes of `torch.Tensor`; code under `truthful_code` sees the real device."""
    real_device = torch._C.TensorBase.device.__get__

    def device(tensor: torch.Tensor) -> torch.device:
        found: torch.device = real_device(tensor)
        if found.type != "cpu" or sys._getframe(1).f_code.co_filename.startswith(truthful_code):
            return found
        return _DEVICE

    def is_on_cuda(_: torch.Tensor) -> bool:
        return not sys._getframe(1).f_code.co_filename.startswith(truthful_code)

    def cuda(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        note("Tensor.cuda")
        return tensor

    return {
        "device": property(device), "is_cuda": property(is_on_cuda), "cuda": cuda, "record_stream": _nothing,
        "get_device": _zero, "pin_memory": lambda tensor, *_: tensor, "is_pinned": lambda *_: False,
    }  # fmt: skip


def torch_names() -> dict[str, Any]:
    """Replacements for attributes of `torch` itself."""
    set_default_device = torch.set_default_device

    def default_device(device: Any) -> None:
        set_default_device("cpu" if is_cuda(device) else device)

    return {"compile": _eager, "Generator": _Generator, "autocast": _Autocast, "Stream": Stream, "Event": Event,
            "set_default_device": default_device}  # fmt: skip


def amp_names() -> dict[str, Any]:
    """Replacements inside `torch.amp`."""
    return {"autocast": _Autocast}


def cuda_amp_names() -> dict[str, Any]:
    """Replacements inside `torch.cuda.amp`."""
    return {"autocast": _CudaAutocast}
