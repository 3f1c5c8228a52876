"""Runtimes and what they carry: frameworks at their pinned versions, and compilers for devices that are not here."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

from app.config import REPOSITORY, Settings
from app.doctor.result import Result, answer
from app.domain.task import FRAMEWORKS

RUNTIMES = ("torch", "jax")
_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try: found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError: found[name] = None
print(json.dumps(found))
"""
# A vector addition in Triton's interpreter: the cheapest thing that fails when the runtime is broken.
_CLEAN = {"PATH": "/usr/bin:/bin"}
_TRITON_SELF_TEST = Path(__file__).with_name("triton_self_test.py")
_PALLAS_SELF_TEST = Path(__file__).with_name("pallas_self_test.py")


def runtimes(settings: Settings) -> Iterator[Result]:
    """Every runtime first, then the frameworks in them, then the targets that they compile for."""
    found = {name: python for name in RUNTIMES if (python := settings.runtimes.get(name)) and python.exists()}
    for name in RUNTIMES:
        # One is enough to evaluate something; torch is the one that most tasks are written in.
        required = name == "torch"
        if name in found:
            yield _pins(name, found[name], required=required)
        else:
            yield Result(*("runtimes", name, False, "not installed"), _how(name), required)
    yield _triton(found.get("torch"))
    yield _pallas(found.get("jax"))
    yield from _cuda_compilers(found.get("torch"))
    yield _in_runtime("hip (triton)", found.get("torch"), "triton/backends/amd", "torch")
    yield _in_runtime("tpu (libtpu)", found.get("jax"), "libtpu/libtpu.so", "jax")


def without_runner(with_runner: Collection[str]) -> Iterator[Result]:
    """Frameworks that a task may name and that this version cannot run: such a verdict is inconclusive."""
    for name in FRAMEWORKS:
        if name not in with_runner:
            yield Result("runners", name, works=False, detail="this version inspects the source, and runs nothing")


def _how(name: str) -> str:
    return f'WORKBENCH_RUNTIMES="{name}" make setup'


def _pins(name: str, python: Path, *, required: bool) -> Result:
    wanted = pins(name)
    found = _versions(python, list(wanted))
    wrong = [
        f"{package} {found.get(package) or 'missing'} (pinned {pin})"
        for package, pin in wanted.items()
        if not _fits(found.get(package), pin)
    ]
    detail = ", ".join(f"{package} {version}" for package, version in found.items()) if not wrong else "; ".join(wrong)
    return Result(
        "runtimes",
        name,
        not wrong,
        detail,
        f"Remove .runtimes/{name} and its stamp, then {_how(name)}",
        required,
    )


def pins(name: str) -> dict[str, str]:
    """What `runtimes/<name>.txt` asks for: package to version, in its order."""
    lines = (REPOSITORY / "runtimes" / f"{name}.txt").read_text().splitlines()
    return dict(re.fullmatch(r"([\w.-]+)==([\w.*]+)", line).groups() for line in lines if line and line[0] != "#")  # type: ignore[union-attr,misc]


def _versions(python: Path, packages: list[str]) -> dict[str, str | None]:
    command = (str(python), "-I", "-c", _VERSIONS, *packages)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        return dict(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        return dict.fromkeys(packages)


def _fits(version: str | None, pin: str) -> bool:
    """A local version (`+cpu`) satisfies its pin, as it does for pip; `0.0.42.*` is a prefix."""
    if version is None:
        return False
    public = version.partition("+")[0]
    return public.startswith(pin[:-1]) or public == pin[:-2] if pin.endswith(".*") else public == pin


def _triton(python: Path | None) -> Result:
    if python is None:
        return Result("frameworks", "torch, triton", works=False, detail="needs the torch runtime", how=_how("torch"))
    works, detail = answer((str(python), "-I", str(_TRITON_SELF_TEST)), 120.0, {**_CLEAN, "TRITON_INTERPRET": "1"})
    return Result("frameworks", "torch, triton", works, detail, _how("torch"))


def _pallas(python: Path | None) -> Result:
    if python is None:
        return Result("frameworks", "jax, pallas", works=False, detail="needs the jax runtime", how=_how("jax"))
    works, detail = answer((str(python), "-I", str(_PALLAS_SELF_TEST)), 120.0, {**_CLEAN, "JAX_PLATFORMS": "cpu"})
    return Result("frameworks", "jax, pallas", works, detail, _how("jax"))


def _cuda_compilers(python: Path | None) -> Iterator[Result]:
    toolkit = _installed(python, "nvidia/cu13")
    for tool in ("nvcc", "cuobjdump", "nvdisasm"):
        path = toolkit / "bin" / tool if toolkit else None
        works, detail = _release(path) if path and path.exists() else (False, "not installed")
        yield Result("targets", f"cuda ({tool})", works, detail, _how("torch cuda"))


def _in_runtime(target: str, python: Path | None, path: str, runtime: str) -> Result:
    found = _installed(python, path) is not None
    return Result("targets", target, found, "compiles without a device" if found else "not installed", _how(runtime))


def _installed(python: Path | None, path: str) -> Path | None:
    """`path` under the runtime's site-packages, where it is."""
    return next(python.parents[1].glob(f"lib/python*/site-packages/{path}"), None) if python else None


def _release(tool: Path) -> tuple[bool, str]:
    try:
        done = subprocess.run((str(tool), "--version"), capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return False, str(error)
    found = re.search(r"release [\d.]+, V[\d.]+", done.stdout)
    return found is not None, found[0] if found else "says no version"
