"""Plain torch programs on the CPU; `device="cuda"` in them is redirected where there is no device."""

from __future__ import annotations

from typing import Any

from workers.candidate.frameworks.cuda_shim import CudaShim


class TorchFramework:
    """No kernels of its own: the operators do the work, and the shim stands in for a device."""

    name = "torch"

    def __init__(self) -> None:
        self.shim = CudaShim()

    def setup(self) -> None:
        self.shim.install()

    def before_call(self, *, budget_seconds: float, skip_launches: bool, watch: bool = False) -> None:
        del budget_seconds, skip_launches, watch
        self.shim.reset()

    def after_call(self) -> dict[str, Any]:
        return {
            "launches": [],
            "observations": [],
            "shim": sorted(self.shim.used),
            "unjoined": self.shim.unjoined_work(),
        }

    def refusals(self) -> dict[str, list[str]]:
        return {}
