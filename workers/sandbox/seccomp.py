"""Assembles the kernel's system call filter for foreign code; the rules are in `filter_program`."""

from __future__ import annotations

import errno
import platform
import socket
import struct

from workers.sandbox.syscalls import CLONE3, MACHINES

# struct sock_filter { u16 code; u8 jt; u8 jf; u32 k; } and offsets into struct seccomp_data.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT_LOW = 0, 4, 16

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32_BIT = 0x40000000
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = 0x7E020000


class UnknownMachine(Exception):
    """No system call table for this architecture."""


def filter_program(machine_name: str | None = None) -> bytes:
    """The filter as an array of `sock_filter`, for `machine_name` or the machine we run on.

    Raises `UnknownMachine` for an architecture without a table.
    """
    name = machine_name or platform.machine()
    if name not in MACHINES:
        raise UnknownMachine(f"no system call filter for {name}; known: {', '.join(sorted(MACHINES))}")
    machine = MACHINES[name]
    code = [_step(_LOAD, _ARCH), _step(_EQUAL, machine.audit_arch, jump_true=1), _give(_KILL), _step(_LOAD, _NUMBER)]
    if name == "x86_64":  # the x32 numbers name the same calls again
        code += [_step(_AT_LEAST, _X32_BIT, jump_false=1), _give(_ERRNO | errno.ENOSYS)]
    for number in sorted(machine.refused.values()):
        code += _when_call(number, [_give(_ERRNO | errno.EPERM)])
    # clone3 hides its flags behind a pointer; on ENOSYS the C library falls back to clone.
    code += _when_call(CLONE3, [_give(_ERRNO | errno.ENOSYS)])
    code += _when_call(machine.clone, _unless_argument(_ANY_BIT, _NEW_NAMESPACES, refuse_if=True, error=errno.EPERM))
    code += _when_call(
        machine.socket, _unless_argument(_EQUAL, socket.AF_UNIX, refuse_if=False, error=errno.EAFNOSUPPORT)
    )
    return b"".join([*code, _give(_ALLOW)])


def refused_count() -> int:
    """How many system calls are refused outright on this machine."""
    return len(MACHINES[platform.machine()].refused)


def _step(code: int, value: int, jump_true: int = 0, jump_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, jump_true, jump_false, value)


def _give(verdict: int) -> bytes:
    return _step(_RETURN, verdict)


def _when_call(number: int, body: list[bytes]) -> list[bytes]:
    return [_step(_EQUAL, number, jump_false=len(body)), *body]


def _unless_argument(test: int, value: int, *, refuse_if: bool, error: int) -> list[bytes]:
    """Load the first argument, refuse when the test comes out as `refuse_if`, else allow."""
    over = {"jump_false": 1} if refuse_if else {"jump_true": 1}
    return [_step(_LOAD, _FIRST_ARGUMENT_LOW), _step(test, value, **over), _give(_ERRNO | error), _give(_ALLOW)]
