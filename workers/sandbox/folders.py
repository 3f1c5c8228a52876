"""Prepares a program's host folders for a sandbox: readable copies for binds, archives for warm jobs."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ARCHIVE_BYTES = 64 << 20


class TooLarge(Exception):
    """The folders hold more than may be sent to a warm job."""


def readable(folder: Path, remove_later: Callable[[Path], object]) -> Path:
    """The folder itself when any user may read all of it, else a temporary copy that any user may.

    `remove_later` is called with what must be removed after the session.  Symbolic links are copied as
    links, never followed: one in an uploaded folder could name any file of the host.
    """
    if all(_open_to_all(path) for path in _walk(folder)):
        return folder
    place = Path(tempfile.mkdtemp(prefix="workbench-folder-"))
    remove_later(place)
    copy = place / "folder"
    shutil.copytree(folder, copy, symlinks=True, ignore=_irregular)
    for path in _walk(copy):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    return copy


def archive(folders: Mapping[str, Path]) -> int:
    """A memfd with a tar of all folders at their paths inside; the caller closes it.

    Raises `TooLarge` beyond 64 MiB of content.
    """
    fd = os.memfd_create("folders", os.MFD_CLOEXEC)
    total_bytes = 0
    with (
        os.fdopen(os.dup(fd), "wb") as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for inside, folder in folders.items():
            for path in _walk(folder):
                total_bytes += _add(tar, path, inside.strip("/") + "/" + str(path.relative_to(folder)))
                if total_bytes > ARCHIVE_BYTES:
                    os.close(fd)
                    raise TooLarge(f"more than {ARCHIVE_BYTES >> 20} MiB of folders for a warm job")
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _walk(folder: Path) -> Iterator[Path]:
    """The folder and everything below it, each folder before its content; links are not followed."""
    yield folder
    for place, folders, files in os.walk(folder):
        yield from (Path(place) / name for name in sorted([*folders, *files]))


def _open_to_all(path: Path) -> bool:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return True
    wanted = 0o005 if stat.S_ISDIR(mode) else 0o004
    return mode & wanted == wanted


def _irregular(place: str, names: list[str]) -> list[str]:
    """Names in a folder that are no file, folder or link: a pipe would block the copy."""
    modes = {name: (Path(place) / name).lstat().st_mode for name in names}
    return [n for n, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))]


def _add(tar: tarfile.TarFile, path: Path, name: str) -> int:
    entry = tarfile.TarInfo(name)
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(entry)
    elif stat.S_ISLNK(mode):
        entry.type, entry.linkname = tarfile.SYMTYPE, str(path.readlink())
        tar.addfile(entry)
    elif stat.S_ISREG(mode):
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
            content = stream.read(ARCHIVE_BYTES + 1)
        entry.size, entry.mode = len(content), 0o755 if mode & 0o100 else 0o644
        tar.addfile(entry, io.BytesIO(content))
        return len(content)
    return 0
