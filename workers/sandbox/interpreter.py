"""Finds which host files an interpreter needs, so that only those are shown inside."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.errors import SandboxUnavailable

_QUESTION = """
import json, sys, sysconfig
names = ("stdlib", "platstdlib", "purelib", "platlib")
print(json.dumps({"prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
                  "folders": [sysconfig.get_path(name) for name in names] + [sysconfig.get_config_var("LIBDIR")]}))
"""
# Folders that would show a whole home or the whole host.
_TOO_WIDE = frozenset({"/", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/var"})


@dataclass(frozen=True)
class Interpreter:
    """An interpreter and the host paths it lives in (folders, or single files of its link chain)."""

    executable: Path
    paths: tuple[Path, ...]


@functools.lru_cache(maxsize=32)
def inspect(python: Path) -> Interpreter:
    """Ask the interpreter where it lives; raises `SandboxUnavailable` when it does not answer."""
    try:
        answer = subprocess.run(
            [python, "-I", "-S", "-c", _QUESTION], capture_output=True, text=True, timeout=30, check=True, env={}
        )
        told = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxUnavailable(f"the interpreter {python} does not run: {error}") from error
    # Without `site`, sys.prefix is the base's; the environment's own folder is found by its marker file.
    own = python.parent.parent
    prefixes = [str(own)] if (own / "pyvenv.cfg").exists() else []
    wanted = [*prefixes, *told["prefixes"], *filter(None, told["folders"]), *_link_chain(python)]
    return Interpreter(python, _without_nested(Path(path) for path in wanted))


def _link_chain(python: Path) -> list[str]:
    """Every file the interpreter's symbolic links lead through, and the folder it really lies in."""
    chain, here = [], python
    for _ in range(40):
        chain.append(str(here))
        if not here.is_symlink():
            break
        here = Path(os.path.normpath(here.parent / here.readlink()))
    return [*chain, str(python.resolve().parent.parent)]


def _without_nested(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Drop what does not exist, what /usr holds anyway, and what lies in another of the paths."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda each: len(each.parts)):
        if not path.exists() or path.is_relative_to("/usr") or path.parts[1:2] in (("bin",), ("lib",), ("lib64",)):
            continue
        if str(path) in _TOO_WIDE or path == Path.home():
            raise SandboxUnavailable(f"the interpreter lives in {path} itself; showing that would show too much")
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return tuple(kept)
