"""A Triton driver without a device: enough for autotuning, warm-up and questions about the hardware."""

# ruff: noqa: ARG002 - signatures are the framework's

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

TARGET = GPUTarget("cuda", 90, 32)

# Public figures of the device class that TARGET names; programs size their grids with them.
_PROPERTIES = {
    "max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32,
    "sm_clock_rate": 1980000, "mem_clock_rate": 2619000, "mem_bus_width": 5120,
}  # fmt: skip


class _DeviceQueries:
    def get_device_properties(self, device: int) -> dict[str, int]:
        return dict(_PROPERTIES)


class CpuDriver(DriverBase):
    """Answers as one device of TARGET's kind whose memory is this process's."""

    def __init__(self) -> None:
        self.utils = _DeviceQueries()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return TARGET

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """There is only one."""

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_benchmarker(self) -> Callable[..., Any]:
        return benchmark_once

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(1)

    def clear_cache(self, cache: torch.Tensor) -> None:
        """Nothing is cached."""


def benchmark_once(
    function: Callable[[], Any], *_: Any, quantiles: Any = None, return_mode: str = "mean", **__: Any
) -> Any:
    """Runs once and answers in milliseconds of interpretation, in the shape `do_bench` answers in.

    The times mean nothing for a GPU: they only let programs that benchmark themselves run on.
    """
    start = time.perf_counter()
    function()
    milliseconds = max((time.perf_counter() - start) * 1e3, 1e-6)
    if quantiles is not None:
        return [milliseconds] * len(quantiles) if len(quantiles) > 1 else milliseconds
    return [milliseconds] if return_mode == "all" else milliseconds
