"""Which foreign program a sandbox runs: an interpreter, a module, and the folders it may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Runtime:
    """An interpreter that foreign code may run under.

    Attributes:
        name: what settings and reports call it, for example "torch".
        python: the interpreter of a virtual environment (or a plain one), anywhere on the host.
        preload: modules that a fork server imports before any job; nothing is computed with them.
        devices: device nodes to show inside (for example /dev/nvidia0); missing ones are skipped.
    """

    name: str
    python: Path
    preload: tuple[str, ...] = ("torch", "triton")
    devices: tuple[Path, ...] = ()


def accelerator_devices() -> tuple[Path, ...]:
    """The device nodes of this machine's GPUs and other accelerators, for `Runtime.devices`."""
    patterns = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm*", "dri", "kfd", "accel*", "neuron*", "vfio")
    return tuple(path for pattern in patterns for path in sorted(Path("/dev").glob(pattern)))


@dataclass(frozen=True)
class Program:
    """A module to serve in a runtime.

    The child runs `importlib.import_module(module + ".serve").serve(sock)`.

    Attributes:
        runtime: the interpreter.
        module: "workers.candidate", "workers.reference", or a package in `code_folder`.
        folders: path inside -> host folder, read-only inside.
        code_folder: one of the paths inside, put in front of the child's module path.
    """

    runtime: Runtime
    module: str
    folders: Mapping[str, Path] = field(default_factory=dict)
    code_folder: str | None = None

    def __post_init__(self) -> None:
        for inside in self.folders:
            parts = inside.split("/")
            if parts[0] or parts[1] in _RESERVED or {"", ".", ".."} & {*parts[1:]}:
                raise ValueError(f"{inside!r} is no free absolute path inside a sandbox")
        if self.code_folder is not None and self.code_folder not in self.folders:
            raise ValueError(f"code_folder {self.code_folder!r} is none of the bound folders")


# The first part of the paths that the sandbox fills itself.
_RESERVED = frozenset(
    {"", "proc", "dev", "sys", "tmp", "work", "usr", "bin", "sbin", "lib", "lib64", "etc", "workbench"}
)
