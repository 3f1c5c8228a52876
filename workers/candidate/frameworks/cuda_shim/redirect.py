"""Sends torch calls that name a CUDA device to the CPU, and tells the stream model about them."""

# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .streams import StreamModel

_CPU = torch.device("cpu")

# No work is queued by these: they make views, allocate, or read metadata.
_NO_WORK = frozenset(
    """__get__ __set__ __getitem__ __len__ __repr__ __hash__ _is_view as_strided backward chunk data_ptr
    detach device dim element_size empty empty_like empty_strided expand expand_as flatten get_device
    has_names is_complex is_contiguous is_floating_point movedim narrow ndimension nelement new_empty
    new_empty_strided numel permute record_stream requires_grad_ reshape select set_ size split squeeze
    storage_offset stride swapaxes t transpose type unbind unflatten unsqueeze untyped_storage view
    view_as""".split()  # noqa: SIM905 - words, without quotes
)
# The host gets the value of the current stream's work from these, so it waits for that stream.
_HOST_READS = frozenset(
    ("item", "tolist", "cpu", "numpy", "nonzero", "equal", "allclose", "__bool__", "__int__", "__float__", "__index__")
)


def is_cuda(device: Any) -> bool:
    """Whether a device argument (a name or a torch.device) means a CUDA device."""
    if isinstance(device, str):
        return device == "cuda" or device.startswith("cuda:")
    return isinstance(device, torch.device) and device.type == "cuda"


class CudaToCpu(TorchFunctionMode):
    """Rewrites CUDA devices in arguments; costs about a microsecond per call."""

    def __init__(self, model: StreamModel, note: Callable[[str], None]) -> None:
        super().__init__()
        self._model = model
        self._note = note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if kwargs:
            kwargs = self._redirect_options(kwargs)
        for value in args:
            if type(value) in (str, torch.device) and is_cuda(value):
                self._note(f"{name}(cuda)")
                args = tuple(_CPU if type(v) in (str, torch.device) and is_cuda(v) else v for v in args)
                break
        if len(self._model.stack) > 1 or self._model.stack[0].number:
            self._count(name)
        return func(*args, **(kwargs or {}))

    def _redirect_options(self, options: dict[str, Any]) -> dict[str, Any]:
        options = dict(options)
        device = options.get("device")
        if is_cuda(device) or type(device) is int:
            self._note("device=cuda")
            options["device"] = _CPU
        if options.get("pin_memory"):
            options["pin_memory"] = False
        return options

    def _count(self, name: str) -> None:
        if name not in _NO_WORK:
            self._model.queue(name)
        if name in _HOST_READS:
            self._model.current.synchronize()
