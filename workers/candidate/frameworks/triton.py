"""The Triton framework of the candidate process: interpretation on CPU with a stand-in for CUDA."""

from __future__ import annotations

from typing import Any

from .cuda_shim import CudaShim
from .triton_cpu import TooSlow, TritonOnCpu, Unsupported


class TritonFramework:
    """Prepares this process for Triton submissions and reports, per call, what they did.

    `setup()` runs after the fork and before the submission is imported.
    """

    name = "triton"

    def __init__(self) -> None:
        self.interpreter: TritonOnCpu | None = None
        self.shim: CudaShim | None = None
        self._refusals: dict[str, list[str]] | None = None

    def setup(self) -> None:
        """Installs the interpreter and the CUDA stand-in in this process."""
        self.interpreter = TritonOnCpu()
        self.interpreter.install()
        self.shim = CudaShim()
        self.shim.install()
        self.interpreter.on_launch = self.shim.note_launch

    def before_call(self, *, budget_seconds: float, skip_launches: bool = False, watch: bool = False) -> None:
        """Forgets the previous call.

        With `skip_launches`, kernels are recorded but do nothing; with `watch`, races between programs are looked
        for, and whether a kernel computes or only moves data.
        """
        interpreter, shim = self._ready()
        interpreter.reset()
        shim.reset()
        interpreter.budget_seconds = budget_seconds
        interpreter.skip_launches = skip_launches
        interpreter.detect_races = watch

    def after_call(self) -> dict[str, Any]:
        """What happened since `before_call`, in plain JSON types."""
        interpreter, shim = self._ready()
        return {
            "launches": [launch.as_json() for launch in interpreter.launches],
            "observations": [observation.as_json() for observation in interpreter.observations],
            "stopped": _reason(interpreter.stopped),
            "shim": sorted(shim.used),
            "unjoined": shim.unjoined_work(),
        }

    def refusals(self) -> dict[str, list[str]]:
        """Operations that this installation computes wrongly, per group; measured once."""
        if self._refusals is None:
            self._refusals = self._ready()[0].self_test()
        return self._refusals

    def _ready(self) -> tuple[TritonOnCpu, CudaShim]:
        if self.interpreter is None or self.shim is None:
            raise RuntimeError("setup() has to come first")
        return self.interpreter, self.shim


def _reason(stopped: Unsupported | TooSlow | None) -> dict[str, Any] | None:
    if stopped is None:
        return None
    if isinstance(stopped, TooSlow):
        return {"kind": "too_slow", "kernel": stopped.kernel, "estimate_seconds": stopped.estimate_seconds}
    return {"kind": "unsupported", "reason": stopped.reason, "location": stopped.location}
