"""Builds a warm job's own root folder out of the fork server's: shared parts read-only, the rest private."""

# Plain system calls between two mounts, on the sandbox's own paths.

from __future__ import annotations

import os
import tarfile

from workers.sandbox.inside import kernel

_NEW_ROOT = "/tmp"
_PRIVATE = ("tmp", "work")
_PLAIN = kernel.NO_SUID | kernel.NO_DEV
_ROOT_BYTES = 96 << 20


def build(tmp_bytes: int, shadowed: list[str], hidden: list[str], archive_fd: int) -> None:
    """Make the root folder and move into it; needs a mount namespace of our own with its powers.

    `shadowed` are the server's paths below /tmp or /work that must stay visible under the job's
    private ones, `hidden` those that must not be.  The archive holds the program's folders.
    """
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    # The old /tmp is about to be covered, so what must be taken from it is held by descriptor.
    held = {path: os.open(path, os.O_PATH) for path in shadowed}
    _tmpfs(_NEW_ROOT, _ROOT_BYTES)
    for name in sorted(set(os.listdir("/")) - {"tmp", "work", "proc"}):
        _take_over(name)
    for name in _PRIVATE:
        os.mkdir(f"{_NEW_ROOT}/{name}")
        _tmpfs(f"{_NEW_ROOT}/{name}", tmp_bytes)
    _tmpfs(f"{_NEW_ROOT}/dev/shm", tmp_bytes)
    # Terminals of its own: jobs of one server are one user, and could write to each other's.
    kernel.mount(
        "devpts",
        f"{_NEW_ROOT}/dev/pts",
        "devpts",
        kernel.NO_SUID | kernel.NO_EXEC,
        "newinstance,ptmxmode=0666,mode=620",
    )
    for path, fd in held.items():
        os.makedirs(_NEW_ROOT + path)
        kernel.mount(f"/proc/self/fd/{fd}", _NEW_ROOT + path, flags=kernel.BIND | kernel.RECURSIVE)
        os.close(fd)
    os.mkdir(f"{_NEW_ROOT}/proc")
    kernel.mount("proc", f"{_NEW_ROOT}/proc", "proc", _PLAIN | kernel.NO_EXEC)
    for path in hidden:
        kernel.mount("tmpfs", _NEW_ROOT + path, "tmpfs", _PLAIN | kernel.READ_ONLY, "size=4k,mode=0755")
    _unpack(archive_fd)
    kernel.pivot_root(_NEW_ROOT)
    kernel.mount("none", "/", flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | _PLAIN)
    os.chdir("/work")


def _tmpfs(target: str, size_bytes: int) -> None:
    kernel.mount("tmpfs", target, "tmpfs", _PLAIN, f"size={size_bytes},mode=0755")


def _take_over(name: str) -> None:
    old, new = f"/{name}", f"{_NEW_ROOT}/{name}"
    if os.path.islink(old):
        os.symlink(os.readlink(old), new)
    elif os.path.isdir(old):
        os.mkdir(new)
        kernel.mount(old, new, flags=kernel.BIND | kernel.RECURSIVE)


def _unpack(archive_fd: int) -> None:
    """The program's folders; links come last, so that nothing is written through one."""
    with open(archive_fd, "rb") as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
        tar.extraction_filter = lambda member, _: member  # ours, and the links stay inside
        members = tar.getmembers()
        for member in sorted(members, key=lambda each: (each.issym(), each.name.count("/"))):
            tar.extract(member, _NEW_ROOT, set_attrs=not member.issym(), numeric_owner=True)
