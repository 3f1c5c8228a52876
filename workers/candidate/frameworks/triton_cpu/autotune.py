"""Autotuning without a device: every configuration is recorded, the first valid one runs."""

# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from triton.runtime.autotuner import Autotuner

_UNTIMED = [math.inf] * 3


class FirstValidConfig:
    """Replaces the autotuner's measurements.

    A device runs every configuration on the caller's tensors before the real launch, which spoils kernels that
    update in place without `restore_value`. One trial is enough to show that, so the first valid configuration
    gets one; the others are only recorded.
    """

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._stock_bench = Autotuner._bench
        self._stock_run = Autotuner.run

    def install(self) -> None:
        """Patches the autotuner class; kernels decorated earlier follow too."""
        tuning = self

        def run(autotuner: Any, *arguments: Any, **options: Any) -> Any:
            autotuner._has_trial = False
            return tuning._stock_run(autotuner, *arguments, **options)

        def bench(autotuner: Any, *arguments: Any, config: Any, **meta: Any) -> Any:
            return tuning._bench(autotuner, *arguments, config=config, **meta)

        Autotuner.run, Autotuner._bench = run, bench

    def _bench(self, autotuner: Any, *arguments: Any, config: Any, **meta: Any) -> list[float]:
        autotuner.__dict__["do_bench"] = _once
        if autotuner._has_trial:
            with self._executor.recording_only():
                self._stock_bench(autotuner, *arguments, config=config, **meta)
            return _UNTIMED
        with self._executor.trial():
            timings: list[float] = self._stock_bench(autotuner, *arguments, config=config, **meta)
        autotuner._has_trial = math.isfinite(timings[0])
        return timings


def _once(function: Callable[[], Any], quantiles: Any = None) -> list[float]:
    start = time.perf_counter()
    function()
    return [time.perf_counter() - start] * len(quantiles or (0.5,))
