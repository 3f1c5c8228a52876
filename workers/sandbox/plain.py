"""Starts a program with no wall at all, for an operator who allowed that; the results say so."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from workers.sandbox import in_force
from workers.sandbox.conversation import Ends, begin_message, converse, open_ends
from workers.sandbox.errors import SandboxUnavailable
from workers.sandbox.filetree import BOOTSTRAP, REPOSITORY
from workers.sandbox.limits import Limits, resource_limits
from workers.sandbox.process import ColdProcess
from workers.sandbox.program import Program
from workers.sandbox.session import Session


def start(program: Program, limits: Limits) -> Session:
    """Start `program` as a plain child with resource limits only."""
    folders = {inside: str(folder.resolve()) for inside, folder in program.folders.items()}
    code_folder = folders[program.code_folder] if program.code_folder else None
    ends = open_ends()
    return converse(
        ends,
        functools.partial(_launch, program, ends),
        limits,
        begin=begin_message(program.module, code_folder, resource_limits(limits, address_space=True, processes=False)),
        limits_in_force=lambda _: in_force.unsandboxed(limits),
        folders=folders,
    )


def _launch(program: Program, ends: Ends) -> ColdProcess:
    place = tempfile.mkdtemp(prefix="workbench-unsandboxed-")
    child_fd = ends.child.fileno()
    try:
        popen = subprocess.Popen(
            [program.runtime.python, "-I", "-B", "-u", REPOSITORY / BOOTSTRAP, str(child_fd)],
            stdin=subprocess.DEVNULL,
            stdout=ends.output_write,
            stderr=ends.output_write,
            pass_fds=[child_fd],
            start_new_session=True,
            env=_environment(Path(place)),
            cwd=place,
        )
    except OSError as error:
        raise SandboxUnavailable(f"{program.runtime.python} does not start: {error}") from error
    process = ColdProcess(popen)
    process.on_release(functools.partial(shutil.rmtree, place, ignore_errors=True))
    return process


def _environment(place: Path) -> dict[str, str]:
    """Nothing of the worker's environment: it may name databases and keys."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(place),
        "TMPDIR": str(place),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))),
        "TRITON_CACHE_DIR": str(place / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(place / "inductor"),
    }
