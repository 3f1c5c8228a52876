"""The files a sandbox shows, as bubblewrap arguments: system, interpreter, a little of ours, the program's folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from workers.sandbox.interpreter import Interpreter
from workers.sandbox.limits import MEBIBYTE

REPOSITORY = Path(__file__).resolve().parents[2]
CODE_INSIDE = "/workbench"
BOOTSTRAP = "workers/sandbox/inside/bootstrap.py"
_OURS = ("app/__init__.py", "app/domain", "workers/__init__.py", "workers/wire", "workers/sandbox/inside")
# What each foreign module is shown beside that; `workbench_checks` is for a task's own code.
_FOREIGN = {
    "workers.candidate": ("workers/candidate",),
    "workers.reference": ("workers/reference", "workbench_checks"),
}
_PRIVATE = ("/tmp", "/work")
# What libraries ask for the number and kind of processors; nothing else of /sys is shown.
_PROCESSOR_FACTS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_READABLE_PARENTS = ("/etc", "/sys", "/sys/devices", "/sys/devices/system")
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


def code_binds(module: str | None) -> dict[str, Path]:
    """Path inside -> host path of what is ours; of candidate and reference only the one that runs."""
    foreign = [known for known in _FOREIGN if module is None or f"{module}.".startswith(f"{known}.")]
    names = [*_OURS, *(name for known in foreign for name in _FOREIGN[known])]
    return {f"{CODE_INSIDE}/{name}": REPOSITORY / name for name in names if (REPOSITORY / name).exists()}


def interpreter_binds(interpreter: Interpreter) -> dict[str, Path]:
    """The interpreter's paths, each at the path it has outside, so that it finds itself."""
    return {str(path): path for path in interpreter.paths}


def shared(binds: Mapping[str, Path]) -> list[str]:
    """The read-only tree."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        if Path(name).is_symlink():
            arguments += ["--symlink", str(Path(name).readlink()), name]
        elif Path(name).is_dir():
            arguments += ["--ro-bind", name, name]
    arguments += [word for name in _READABLE_PARENTS for word in ("--dir", name)]  # before its content: see `_bind`
    for name in ("/etc/alternatives", "/etc/ld.so.cache", *_PROCESSOR_FACTS):
        arguments += ["--ro-bind-try", name, name]
    return arguments + _bind(binds)


def mount_points() -> list[str]:
    """Empty folders for what the inner layer mounts."""
    return [word for name in ("/proc", "/dev", *_PRIVATE) for word in ("--dir", name)]


def private(binds: Mapping[str, Path], tmp_mb: int, devices: Iterable[Path]) -> list[str]:
    """What each sandbox has for itself: /proc, /dev, and size-limited /tmp, /work and /dev/shm."""
    arguments = ["--proc", "/proc", "--dev", "/dev", *device_binds(devices)]
    size = ["--size", str(tmp_mb * MEBIBYTE)]
    arguments += [*size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    for folder in _PRIVATE:
        arguments += [*size, "--tmpfs", folder]
    hidden = shadowed(binds)  # the new /tmp and /work lie over these
    return [*arguments, *_bind({inside: Path(inside) for inside in hidden}), "--remount-ro", "/"]


def device_binds(devices: Iterable[Path]) -> list[str]:
    """The device nodes asked for."""
    return [word for device in devices for word in ("--dev-bind-try", str(device), str(device))]


def shadowed(binds: Mapping[str, Path]) -> list[str]:
    """The paths inside that lie under one of the private folders."""
    return [inside for inside in binds if any(Path(inside).is_relative_to(folder) for folder in _PRIVATE)]


def environment(threads: int) -> list[str]:
    """The whole environment of foreign code."""
    values = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/work",
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": str(threads),
        "TRITON_CACHE_DIR": "/tmp/triton",
        "TORCHINDUCTOR_CACHE_DIR": "/tmp/inductor",
        "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",  # 100 MB each, and used once
    }
    return ["--clearenv", *(word for name, value in values.items() for word in ("--setenv", name, value))]


def _bind(binds: Mapping[str, Path]) -> list[str]:
    """Read-only binds in order of depth; bubblewrap makes missing parents unreadable, so they come first."""
    arguments: list[str] = []
    made: set[str] = set()
    for inside in sorted(binds, key=lambda path: path.count("/")):
        arguments += _parents(inside, made)
        arguments += ["--ro-bind", str(binds[inside]), inside]
    return arguments


def _parents(inside: str, made: set[str]) -> Sequence[str]:
    words: list[str] = []
    for parent in reversed(Path(inside).parents[:-1]):
        if str(parent) not in made:
            made.add(str(parent))
            words += ["--dir", str(parent)]
    return words
