"""The machine: interpreter, disk, compilers, browser, isolation, devices."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.config import Settings
from app.doctor.result import Result, answer

FREE_GIB_MIN = 2.0
_GIB = 1 << 30


def machine(settings: Settings) -> Iterator[Result]:
    version = platform.python_version()
    is_new_enough = sys.version_info >= (3, 11)
    yield Result("machine", "python", is_new_enough, version, "Install Python 3.11 or newer.", required=True)
    yield _disk(settings.data_dir)
    works, detail = answer(("g++", "--version"))
    how = "apt-get install g++: nvcc and the emulation of CUDA on the CPU need it."
    yield Result("machine", "g++", works, detail, how)
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    how = "apt-get install chromium: only browser tests need it."
    yield Result("machine", "chromium", bool(browser), browser or "not found", how)


def _disk(data_dir: Path) -> Result:
    existing = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    free_gib = shutil.disk_usage(existing).free / _GIB
    return Result(
        *("machine", "disk", free_gib >= FREE_GIB_MIN, f"{free_gib:.0f} GiB free under {existing}"),
        how=f"Free {FREE_GIB_MIN:.0f} GiB, or set WORKBENCH_DATA_DIR to another disk.",
        required=True,
    )


def isolation(findings: Iterable[tuple[str, bool, str, str]]) -> Iterator[Result]:
    """What the sandbox says of itself: (name, works, detail, how).

    It comes from outside, since `app` knows no worker.
    """
    for name, works, detail, how in findings:
        yield Result("isolation", name, works, detail, how, required=name == "sandbox self-test")


def devices() -> Iterator[Result]:
    works, detail = answer(("nvidia-smi", "-L"))
    how = "Needs an NVIDIA GPU and driver; kernels are interpreted and emulated without."
    yield Result("devices", "CUDA device", works, detail, how)
    yield _device_file("AMD device", "/dev/kfd", "Needs an AMD GPU with ROCm; kernels are compiled without.")
    yield _device_file("TPU", "/dev/accel0", "Needs a TPU; kernels are interpreted and compiled without.")
    yield _device_file(
        "Neuron device", "/dev/neuron0", "Needs a Trainium or Inferentia; kernels are simulated without."
    )


def _device_file(name: str, path: str, how: str) -> Result:
    is_there = Path(path).exists()
    return Result("devices", name, is_there, path if is_there else f"no {path}", how)
