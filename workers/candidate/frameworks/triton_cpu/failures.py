"""Turns what interpretation raised into the exception the submission's author would see on a device."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import ast
import linecache
import os
from pathlib import Path
from typing import Any

import numpy as np
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime import interpreter as stock

from .builder import DeviceAssertion
from .language import StaticAssertFailed
from .location import innermost_file, raised_at
from .records import TooSlow, Unsupported

_PASSED_ON = (TooSlow, DeviceAssertion, MemoryError, CompilationError)
_NUMPY = str(Path(np.__file__).parent) + os.sep
_OURS = str(Path(__file__).absolute().parent) + os.sep


def as_seen_by_author(error: Exception) -> Exception:
    """The front end's errors become compilation errors; the interpreter's own limits become Unsupported."""
    where = raised_at(error.__traceback__)
    if isinstance(error, _PASSED_ON):
        return error
    if isinstance(error, Unsupported):
        error.location = error.location or where
        return error
    source = innermost_file(error.__traceback__)
    if isinstance(error, NotImplementedError) or "Did you forget to add @triton.jit" in str(error):
        return Unsupported(str(error), where)
    if isinstance(error, StaticAssertFailed):
        return _compilation_error(CompileTimeAssertionFailure, str(error), where)
    if source == stock.__file__ and isinstance(error, AssertionError):
        return RuntimeError(str(error))
    if source == stock.__file__ or source.startswith((_NUMPY, _OURS)):
        return Unsupported(f"the interpreter failed: {type(error).__name__}: {error}", where)
    return _compilation_error(CompilationError, f"{type(error).__name__}: {error}", where)


def _compilation_error(kind: type[CompilationError], message: str, where: dict[str, Any] | None) -> CompilationError:
    if where is None:
        return kind(None, ast.Pass(), message)
    node = ast.Pass(lineno=where["line"], col_offset=0)
    return kind("".join(linecache.getlines(where["file"])) or None, node, message)
