"""Functions that a harness trusts and that honest code never rebinds: clocks, synchronisation, comparisons."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_WATCHED = {
    "time": (
        "perf_counter",
        "perf_counter_ns",
        "time",
        "time_ns",
        "monotonic",
        "monotonic_ns",
        "process_time",
        "sleep",
    ),
    "timeit": ("default_timer",),
    "builtins": ("abs", "all", "any", "max", "min", "sum", "isinstance", "print", "open", "__import__"),
    "torch": ("allclose", "isclose", "equal", "empty", "empty_like", "zeros", "manual_seed"),
    "torch.testing": ("assert_close",),
    "torch.cuda": ("synchronize", "Event.elapsed_time", "Event.record", "Event.synchronize", "Stream.synchronize"),
    "torch.Tensor": ("allclose", "equal", "isclose", "__eq__"),
    "triton.testing": ("do_bench", "do_bench_cudagraph", "assert_close"),
    "numpy": ("allclose", "array_equal", "isclose"),
    "numpy.testing": ("assert_allclose",),
}


def snapshot() -> dict[str, Any]:
    """The functions as they are now, by dotted name; of modules that are loaded."""
    return {
        f"{owner}.{name}": found
        for owner, names in _WATCHED.items()
        for name in names
        if (found := _find(owner, name)) is not None
    }


def rebound(before: dict[str, Any]) -> list[str]:
    """The dotted names that are bound to something else than in `before`, and not by their own library."""
    return [name for name, was in before.items() if not _honest(_find(*_split(name)), was)]


def _honest(now: Any, was: Any) -> bool:
    """Unchanged, or wrapped by installed code: libraries decorate their own functions when first used."""
    if now is was:
        return True
    code = getattr(now, "__code__", None)
    installed = code is not None and code.co_filename.startswith((sys.prefix, sys.base_prefix))
    return installed and (getattr(now, "__wrapped__", None) is was or now.__name__ == getattr(was, "__name__", None))


def _split(dotted: str) -> tuple[str, str]:
    owner = max((o for o in _WATCHED if dotted.startswith(o + ".")), key=len)
    return owner, dotted[len(owner) + 1 :]


def _find(owner: str, name: str) -> Any:
    module = sys.modules.get(owner)
    if module is None and owner == "torch.Tensor" and "torch" in sys.modules:
        module = importlib.import_module("torch").Tensor
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None) if not isinstance(found, type) else found.__dict__.get(part)
    return found
