"""Runs unmodified Triton programs on a CPU with a GPU's numerics, and watches what they do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import triton.testing
from triton.language.extra import libdevice as generic_library
from triton.runtime.driver import driver as active_driver

from .autotune import FirstValidConfig
from .driver import CpuDriver, benchmark_once
from .launches import Executor, install_builder, install_launcher
from .libdevice import generic_stub
from .memory import extent_of
from .records import Launch, Observation, TooSlow, Unsupported
from .selftest import failing_operations

__all__ = ["Launch", "Observation", "TooSlow", "TritonOnCpu", "Unsupported"]


class TritonOnCpu:
    """Interprets this process's Triton launches.

    Create, `install()` and `self_test()` after a fork: importing computes nothing.
    `budget_seconds` is the interpretation time of one call; a launch that cannot fit raises TooSlow.
    """

    def __init__(self) -> None:
        self._executor = Executor()

    def self_test(self) -> dict[str, list[str]]:
        """Operations whose result is wrong here, per group (`bf16`, `fp8`, `tf32`, `reduce`...); empty is good."""
        return failing_operations(self._executor.language)

    def install(self) -> None:
        """Takes over Triton; call before the submission is imported, with TRITON_INTERPRET unset."""
        if triton.knobs.runtime.interpret:
            raise RuntimeError("TRITON_INTERPRET must be unset: kernels have to stay JIT functions")
        install_builder()
        install_launcher(self._executor)
        active_driver.set_active(CpuDriver())
        FirstValidConfig(self._executor).install()
        triton.testing.do_bench = benchmark_once
        triton.testing.do_bench_cudagraph = benchmark_once
        for name in [n for n, member in vars(generic_library).items() if callable(member)]:
            setattr(generic_library, name, generic_stub(name))

    @property
    def budget_seconds(self) -> float:
        return self._executor.clock.budget_seconds

    @budget_seconds.setter
    def budget_seconds(self, seconds: float) -> None:
        self._executor.clock.budget_seconds = seconds

    @property
    def skip_launches(self) -> bool:
        return self._executor.skip

    @skip_launches.setter
    def skip_launches(self, skip: bool) -> None:
        self._executor.skip = skip

    @property
    def detect_races(self) -> bool:
        """Whether conflicts between programs are looked for (several times slower)."""
        return self._executor.detect_races

    @detect_races.setter
    def detect_races(self, detect: bool) -> None:
        self._executor.detect_races = detect

    @property
    def on_launch(self) -> Any:
        """Called with the kernel's name at each launch, before it runs."""
        return self._executor.on_launch

    @on_launch.setter
    def on_launch(self, callback: Any) -> None:
        self._executor.on_launch = callback

    @property
    def launches(self) -> list[Launch]:
        return self._executor.launches

    @property
    def observations(self) -> list[Observation]:
        return self._executor.log.observations

    @property
    def stopped(self) -> Unsupported | TooSlow | None:
        """Why interpretation gave up since the last reset, even if the submission swallowed the exception."""
        return self._executor.stopped

    def reset(self) -> None:
        """Starts a new call: no launches, observations, watched tensors or spent time."""
        self._executor.launches = []
        self._executor.log.clear()
        self._executor.watched = []
        self._executor.stopped = None
        self._executor.clock.spent_seconds = 0.0

    def watch(self, tensors: Iterable[torch.Tensor]) -> None:
        """Counts these tensors' storages as valid memory too; only their metadata is read."""
        self._executor.watched += [extent_of("", tensor) for tensor in tensors]
