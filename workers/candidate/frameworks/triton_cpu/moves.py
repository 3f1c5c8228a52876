"""Tells kernels that compute from kernels that only move data from one place to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .formats import Array
from .records import Launch

_LARGEST_BYTES = 1 << 20  # of what one program loaded: beyond it the kernel counts as computing


class Movement:
    """Compares what each program stores with what it loaded, bit for bit, until one value is new."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._program: tuple[int, int, int] | None = None
        self._loaded: list[Array] = []
        launch.computes = False

    def load(self, program: tuple[int, int, int], handle: Any) -> None:
        if self._launch.computes:
            return
        if program != self._program:
            self._program, self._loaded = program, []
        self._loaded.append(_bits(handle.data))
        if sum(loaded.nbytes for loaded in self._loaded) > _LARGEST_BYTES:
            self.compute()

    def store(self, program: tuple[int, int, int], handle: Any, mask: Any) -> None:
        if self._launch.computes:
            return
        stored = _bits(np.broadcast_to(handle.data, mask.data.shape)[mask.data])
        known = [x for x in self._loaded if x.dtype == stored.dtype] if program == self._program else []
        if stored.size and not (known and np.isin(stored, np.concatenate(known)).all()):
            self.compute()

    def compute(self) -> None:
        self._launch.computes = True
        self._loaded = []


def _bits(data: Any) -> Array:
    array = np.ascontiguousarray(data).reshape(-1)
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))
