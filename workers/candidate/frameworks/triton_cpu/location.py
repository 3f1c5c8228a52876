"""Finds the line of the submission that is being run, past the frames of the interpreter."""

# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import torch
import triton

_MACHINERY = tuple(
    str(Path(path).absolute().parent) + os.sep for path in (np.__file__, torch.__file__, triton.__file__, __file__)
)


def is_machinery(filename: str) -> bool:
    """Whether a file belongs to a framework or to this runner, rather than to the submission."""
    return filename.startswith(_MACHINERY) or filename.startswith("<frozen ")


def current_location() -> dict[str, Any] | None:
    """File and line of the innermost submission frame on this thread's stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_machinery(frame.f_code.co_filename):
            return {"file": frame.f_code.co_filename, "line": frame.f_lineno}
        frame = frame.f_back
    return None


def raised_at(traceback: TracebackType | None) -> dict[str, Any] | None:
    """File and line of the innermost submission frame that an exception passed through."""
    found = None
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        if not is_machinery(filename):
            found = {"file": filename, "line": traceback.tb_lineno}
        traceback = traceback.tb_next
    return found


def innermost_file(traceback: TracebackType | None) -> str:
    """The file whose code raised, whoever owns it."""
    filename = ""
    while traceback is not None:
        filename = traceback.tb_frame.f_code.co_filename
        traceback = traceback.tb_next
    return filename
