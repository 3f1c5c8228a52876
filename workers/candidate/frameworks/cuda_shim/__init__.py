"""Lets a program written for CUDA run on a torch without a device, and watches its streams."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from . import stand_ins
from .redirect import CudaToCpu
from .streams import make_model
from .unsupported import Unsupported

__all__ = ["CudaShim", "Unsupported"]

_WORKERS = str(Path(__file__).absolute().parents[3]) + os.sep
_LIBRARIES = str(Path(torch.__file__).parents[1]) + os.sep


class CudaShim:
    """Stands in for a CUDA device in this process. Create and `install()` after a fork.

    Code under `truthful_code` (installed libraries and this package by default) sees tensors where they really are.
    `used` names what the program asked of the device that is not there.
    """

    def __init__(self, truthful_code: tuple[str, ...] = (_WORKERS, _LIBRARIES)) -> None:
        self.used: set[str] = set()
        self._model = make_model((_WORKERS, _LIBRARIES))
        self._mode = CudaToCpu(self._model, self.used.add)
        self._truthful_code = truthful_code
        self._installed = False

    def install(self) -> None:
        """Patches torch for the rest of the process; call once, on the thread that will run the program."""
        if self._installed:
            return
        self._installed = True
        replaced: list[tuple[Any, dict[str, Any]]] = [
            (torch.cuda, stand_ins.torch_cuda(self._model, self.used.add)),
            (torch.Tensor, stand_ins.tensor_attributes(self.used.add, self._truthful_code)),
            (torch, stand_ins.torch_names()),
            (torch.amp, stand_ins.amp_names()),
            (torch.cuda.amp, stand_ins.cuda_amp_names()),
        ]
        for owner, attributes in replaced:
            for name, value in attributes.items():
                setattr(owner, name, value)
        self._mode.__enter__()

    def reset(self) -> None:
        """Starts a new call: earlier work no longer counts."""
        self.used.clear()
        self._model.begin_call()

    def note_launch(self, kernel: str) -> None:
        """Counts a kernel launch on the current stream."""
        self._model.queue(kernel)

    def unjoined_work(self) -> list[dict[str, Any]]:
        """Side streams whose queued operations nothing waited for, as plain JSON types."""
        return [
            {
                "code": "integrity.side_stream", "stream": stream.number, "operations": operations,
                "first_operation": first.name, "file": first.file, "line": first.line,
            }
            for stream, operations, first in self._model.unjoined()
        ]  # fmt: skip
