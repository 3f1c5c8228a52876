"""The few kernel calls that Python 3.11 does not offer, by way of the C library."""

from __future__ import annotations

import ctypes
import os
import platform

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
NO_SUID, NO_DEV, NO_EXEC, READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 1, 32, 4096, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_PARENT_DEATH_SIGNAL, _DROP_BOUND, _NO_NEW_PRIVILEGES, _SECCOMP, _AMBIENT = 1, 24, 38, 22, 47
_AMBIENT_CLEAR_ALL, _SECCOMP_FILTER, _CAPABILITY_VERSION = 4, 2, 0x20080522
_SIGKILL = 9
_HIGHEST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for fresh ones."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount; empty strings are passed as no value."""
    _check(
        _libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, options.encode() or None),
        f"mount {target}",
    )


def pivot_root(new_root: str) -> None:
    """Make `new_root` the root folder and let go of the old one."""
    os.chdir(new_root)
    _check(_libc.syscall(_PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _DETACH), "umount old root")
    os.chdir("/")


def die_with_parent() -> None:
    """Be killed when the parent process ends."""
    _check(_libc.prctl(_PARENT_DEATH_SIGNAL, _SIGKILL, 0, 0, 0), "parent death signal")


def drop_privileges() -> None:
    """Give up every capability for good, also what an executable file could give back."""
    _check(_libc.prctl(_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient capabilities")
    for capability in range(_HIGHEST_CAPABILITY + 1):
        _libc.prctl(_DROP_BOUND, capability, 0, 0, 0)  # fails for numbers that this kernel lacks
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")


def filter_system_calls(program: bytes) -> None:
    """Install a filter, an array of 8-byte `sock_filter` steps; it cannot be taken off again."""
    wanted = _Program(len(program) // 8, program)
    _check(_libc.prctl(_SECCOMP, _SECCOMP_FILTER, ctypes.byref(wanted), 0, 0), "seccomp")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
