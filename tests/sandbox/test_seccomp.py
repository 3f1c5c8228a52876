"""The system call filter, run step by step as the kernel would."""

from __future__ import annotations

import struct

import pytest

from workers.sandbox import seccomp, syscalls

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97


def verdict(program, arch, number, argument=0):
    data = struct.pack("<IIQ6Q", number, arch, 0, argument, 0, 0, 0, 0, 0)
    steps = [struct.unpack_from("<HBBI", program, 8 * n) for n in range(len(program) // 8)]
    at, loaded = 0, 0
    while True:
        code, jump_true, jump_false, value = steps[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
            continue
        holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
        at += jump_true if holds else jump_false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request):
    return syscalls.MACHINES[request.param], seccomp.filter_program(request.param)


def test_each_named_call_is_refused(machine):
    table, program = machine
    for number in table.refused.values():
        assert verdict(program, table.audit_arch, number) == ERRNO | EPERM


def test_every_other_call_is_allowed(machine):
    table, program = machine
    others = set(range(600)) - {*table.refused.values(), syscalls.CLONE3, table.clone, table.socket}
    assert {verdict(program, table.audit_arch, number, argument=2) for number in others} == {ALLOW}


def test_clone_makes_threads_and_processes_but_no_namespaces(machine):
    table, program = machine
    thread, fork = 0x003D0F00, 0x01200011
    assert verdict(program, table.audit_arch, table.clone, thread) == ALLOW
    assert verdict(program, table.audit_arch, table.clone, fork) == ALLOW
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(program, table.audit_arch, table.clone, fork | flag) == ERRNO | EPERM
    assert verdict(program, table.audit_arch, syscalls.CLONE3) == ERRNO | ENOSYS


def test_only_unix_sockets_are_made(machine):
    table, program = machine
    assert verdict(program, table.audit_arch, table.socket, 1) == ALLOW
    for family in (0, 2, 10, 16, 17, 38, 40):
        assert verdict(program, table.audit_arch, table.socket, family) == ERRNO | EAFNOSUPPORT


def test_calls_of_another_machine_kill():
    program = seccomp.filter_program("x86_64")
    i386 = 0x40000003
    assert verdict(program, i386, 1) == KILL
    assert verdict(program, syscalls.X86_64.audit_arch, 0x40000000 | 101) == ERRNO | ENOSYS


def test_a_machine_without_a_table_is_named():
    with pytest.raises(seccomp.UnknownMachine, match="riscv64"):
        seccomp.filter_program("riscv64")
