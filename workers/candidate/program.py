"""The submission as a loaded module and its callable."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SUBMISSION_FOLDER = "/submission"


class NoEntry(Exception):
    """The submission defines no callable of the name that the task asks for."""


def import_libraries(folder: str = SUBMISSION_FOLDER) -> None:
    """Import the installed libraries that the submission names, without running any of its code."""
    sources = [path.read_bytes() for path in Path(folder).rglob("*.py")]
    for name in ("torch", "triton"):
        if any(name.encode() in source for source in sources) and importlib.util.find_spec(name):
            importlib.import_module(name)


def load(main: str, entry: str, folder: str = SUBMISSION_FOLDER) -> Callable[..., Any]:
    """Import `main` (a file of the submission) and return its `entry`; whatever it raises goes up."""
    path = Path(folder) / main
    name = path.stem
    if _is_installed(name):  # `triton.py`, `copy.py`: neither the name nor the folder may hide what it imports itself
        name = f"submitted_{name}"
        sys.path.append(str(path.parent))
    else:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found = getattr(module, entry, None)
    if not callable(found):
        raise NoEntry(f"{main} defines no callable named {entry!r}")
    return found


def _is_installed(name: str) -> bool:
    return name.isidentifier() and (name in sys.modules or importlib.util.find_spec(name) is not None)
