"""Sandboxes for whoever evaluates: the command line cold, a worker warm.  One mapping of runtimes for both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workers.sandbox import Runtime, Sandboxes

# What a fork server imports before it is given any work; nothing of it computes.
PRELOAD = {
    "torch": ("torch", "numpy", "ml_dtypes", "triton", "triton.language", "triton.runtime.interpreter"),
    "jax": ("jax", "numpy", "ml_dtypes"),
}


def sandboxes_for(pythons: Mapping[str, Path], *, warm: bool, allow_unsandboxed: bool) -> Sandboxes:
    """Sandboxes over the interpreters given by runtime name."""
    runtimes = {name: Runtime(name, python, PRELOAD.get(name, ())) for name, python in pythons.items()}
    return Sandboxes(runtimes=runtimes, warm=warm, allow_unsandboxed=allow_unsandboxed)
