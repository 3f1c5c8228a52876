"""Starts a fresh interpreter for each session: slower than a fork, and the reference behaviour."""

from __future__ import annotations

import functools
import shutil
from contextlib import ExitStack

from workers.sandbox import filetree, folders, in_force, plain, seccomp
from workers.sandbox.conversation import Ends, begin_message, converse, open_ends
from workers.sandbox.interpreter import inspect
from workers.sandbox.isolation import Isolation
from workers.sandbox.launch import Wall, launch
from workers.sandbox.limits import Limits, resource_limits
from workers.sandbox.process import ColdProcess
from workers.sandbox.program import Program, Runtime
from workers.sandbox.session import Session

# Several libraries may each start as many threads as they are told.
_PROCESSES_PER_THREAD = 4


def start(program: Program, limits: Limits, *, isolation: Isolation) -> Session:
    """Start `program` and return while it still imports; calls queue until it serves.

    Raises `SandboxUnavailable` when it cannot be walled in here.
    """
    if isolation.bwrap is None:
        return plain.start(program, limits)
    rlimits = resource_limits(limits, address_space=counts_addresses(isolation, program.runtime), processes=True)
    ends = open_ends()
    return converse(
        ends,
        functools.partial(_launch, program, limits, isolation, ends),
        limits,
        begin=begin_message(program.module, program.code_folder, rlimits),
        limits_in_force=lambda process: in_force.walled(isolation, limits, process, rlimits, "cold"),
        folders={inside: inside for inside in program.folders},
    )


def _launch(program: Program, limits: Limits, isolation: Isolation, ends: Ends) -> ColdProcess:
    def enter_group(process: ColdProcess) -> None:
        if isolation.groups is not None:
            process.group = isolation.groups.create(limits)
            process.group.add(process.init_pid)

    interpreter = inspect(program.runtime.python)
    with ExitStack() as cleanup:
        binds = {**filetree.code_binds(program.module), **filetree.interpreter_binds(interpreter)}
        for inside, folder in program.folders.items():
            binds[inside] = (
                folder
                if isolation.setpriv is None
                else folders.readable(folder, lambda place: cleanup.callback(shutil.rmtree, place, ignore_errors=True))
            )
        wall = Wall(
            binds,
            limits.tmp_mb,
            program.runtime.devices,
            filter_or_none(),
            most_threads=limits.processes // _PROCESSES_PER_THREAD,
        )
        process = launch(
            isolation,
            wall,
            interpreter,
            child_fd=ends.child.fileno(),
            output_fd=ends.output_write,
            before_start=enter_group,
        )
        process.on_release(cleanup.pop_all().close)
        return process


def counts_addresses(isolation: Isolation, runtime: Runtime) -> bool:
    """Whether memory is limited by address space: not with a group, and not for a GPU's huge reservations."""
    return isolation.groups is None and not runtime.devices


def filter_or_none() -> bytes | None:
    """The system call filter, or None on a machine without a table (`limits_in_force` says so)."""
    try:
        return seccomp.filter_program()
    except seccomp.UnknownMachine:
        return None
