"""Small trees of files: how an uploaded folder is checked, hashed, stored and laid out again.

A tree is a mapping of relative POSIX paths to bytes.  Everything that comes from outside passes
`read_archive` or `check_tree` before anything is kept.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from app.errors import Invalid, TooLarge
from app.kit.blobs import BlobStore

Tree = dict[str, bytes]

_UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError)
# The largest window that `xz -9` asks for, with room; a hostile header may ask for gigabytes.
_LZMA_MEMORY = 128 << 20
_BLOCK = 512
_LEFT_OUT = ("__pycache__", ".git", "__MACOSX", ".DS_Store")
_PATH_LENGTH_MAX = 200
_NAME_BYTES_MAX = 255  # what file systems hold


@dataclass(frozen=True)
class TreeLimits:
    bytes_max: int
    files_max: int


def read_archive(data: bytes, limits: TreeLimits) -> Tree:
    """Unpack a zip or tar in memory; refuses links, devices, escapes, bombs and what cannot be read."""
    if len(data) > limits.bytes_max:
        raise _too_many_bytes(limits)
    try:
        members = _zip_members(data) if zipfile.is_zipfile(io.BytesIO(data)) else _tar_members(data, limits)
        return _without_single_top_folder(_collect(members, limits))
    except _UNREADABLE as error:
        reason = str(error).partition("\n")[0].rstrip(": ") or type(error).__name__
        if isinstance(error, tarfile.ReadError) and data[:2] == b"PK":
            reason = "it begins like a zip and its end is missing"
        raise Invalid(
            f"the archive cannot be read: {reason}",
            what_to_do="Send a .zip, .tar or .tar.gz, or send the files one by one.",
        ) from None


def check_tree(tree: Mapping[str, bytes], limits: TreeLimits) -> Tree:
    """The same rules for files that came one by one."""
    return _collect(((path, len(data), partial(bytes, data)) for path, data in tree.items()), limits)


def joined(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> Tree:
    """Two uploads as one tree; neither hides a file of the other."""
    if both := sorted(set(first) & set(second)):
        raise Invalid(
            f"`{both[0]}` is there twice", what_to_do="Keep one file for each path; pack folders as an archive."
        )
    return {**first, **second}


def looks_like_archive(filename: str) -> bool:
    return filename.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2"))


def read_folder(folder: Path, limits: TreeLimits) -> Tree:
    """A folder on this machine as a tree; links are left out."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return check_tree({p.relative_to(folder).as_posix(): p.read_bytes() for p in files}, limits)


def tree_sha256(tree: Mapping[str, bytes]) -> str:
    """One hash for a whole tree, the same that the judge writes into its report."""
    digest = hashlib.sha256()
    for path, data in sorted(tree.items()):
        digest.update(f"{len(path)}:{path}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def store_tree(blobs: BlobStore, tree: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Keep every file; the list that comes back is what a row remembers."""
    return [{"path": path, "sha256": blobs.put(data), "bytes": len(data)} for path, data in sorted(tree.items())]


def load_tree(blobs: BlobStore, files: list[dict[str, Any]]) -> Tree:
    return {entry["path"]: blobs.get(entry["sha256"]) for entry in files}


def lay_out(tree: Mapping[str, bytes], folder: Path) -> Path:
    """Write a tree into a folder that is ours and empty."""
    for path, data in tree.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


_Member = tuple[str, int, Callable[[], bytes]]


def _collect(members: Iterator[_Member], limits: TreeLimits) -> Tree:
    tree: Tree = {}
    room = limits.bytes_max
    for name, size, read in members:
        path = _safe_path(name)
        if any(part in _LEFT_OUT for part in PurePosixPath(path).parts):
            continue
        if path in tree:
            raise Invalid(f"`{path}` is there twice", what_to_do="Keep one file for each path.")
        # The stated size is checked before reading and the real one after it: a bomb may lie.
        if size > room:
            raise _too_many_bytes(limits)
        tree[path] = read()
        room -= len(tree[path])
        if room < 0:
            raise _too_many_bytes(limits)
        if len(tree) > limits.files_max:
            raise TooLarge(f"more than {limits.files_max} files", what_to_do="Leave out what the kernel does not need.")
    if both := sorted(set(tree) & {parent.as_posix() for path in tree for parent in PurePosixPath(path).parents}):
        raise Invalid(f"`{both[0]}` is a file and a folder", what_to_do="Rename one of the two.")
    if not tree:
        raise Invalid("no file in it", what_to_do="Send at least one source file.")
    return tree


def _safe_path(name: str) -> str:
    path = PurePosixPath(name)
    parts = path.parts
    hostile = not parts or path.is_absolute() or ".." in parts or "\\" in name or ":" in parts[0]
    hostile = hostile or not name.isprintable()  # half characters are not printable either
    if hostile or len(name) > _PATH_LENGTH_MAX or any(len(part.encode()) > _NAME_BYTES_MAX for part in parts):
        raise Invalid(
            f"the path {name[:_PATH_LENGTH_MAX]!r} is refused",
            what_to_do="Use relative paths with forward slashes, without `..`, drive letters or control characters.",
        )
    return path.as_posix()


def _zip_members(data: bytes) -> Iterator[_Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if mode & 0o170000 == 0o120000:
                raise _link_refused(info.filename)
            if info.flag_bits & 1:
                raise Invalid(f"`{info.filename}` is encrypted", what_to_do="Send the archive without a password.")
            if not info.is_dir():
                yield info.filename, info.file_size, partial(_read_zip, archive, info)


def _read_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    # One byte more than promised is enough to catch a lying header without unpacking a bomb.
    with archive.open(info) as member:
        return member.read(info.file_size + 1)


def _tar_members(data: bytes, limits: TreeLimits) -> Iterator[_Member]:
    # Unpacked as a whole and bounded first: tarfile itself reads headers of any stated size into memory, and
    # skips what is left out by unpacking it.
    with tarfile.open(fileobj=io.BytesIO(_unpacked(data, limits)), mode="r:") as archive:
        for member in archive:
            if member.issym() or member.islnk():
                raise _link_refused(member.name)
            if not (member.isfile() or member.isdir()):
                raise Invalid(f"`{member.name}` is a device or pipe", what_to_do="Pack plain files only.")
            if member.isfile():
                yield member.name, member.size, partial(_read_tar, archive, member)


def _unpacked(data: bytes, limits: TreeLimits) -> bytes:
    """The tar inside; a plain tar is itself.  Each file may take a few blocks beside its bytes."""
    room = 2 * limits.bytes_max + 16 * _BLOCK * limits.files_max
    if data.startswith(b"\x1f\x8b"):
        file: gzip.GzipFile | bz2.BZ2File = gzip.GzipFile(fileobj=io.BytesIO(data))
    elif data.startswith(b"BZh"):
        file = bz2.BZ2File(io.BytesIO(data))
    elif data.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return _checked_size(lzma.LZMADecompressor(memlimit=_LZMA_MEMORY).decompress(data, room + 1), room, limits)
    else:
        return data
    with file:
        return _checked_size(file.read(room + 1), room, limits)


def _checked_size(data: bytes, room: int, limits: TreeLimits) -> bytes:
    if len(data) > room:
        raise _too_many_bytes(limits)
    return data


def _read_tar(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return b"" if file is None else file.read()


def _without_single_top_folder(tree: Tree) -> Tree:
    """Archives of a folder have it as their first path part; what is inside is what was meant."""
    tops = {PurePosixPath(path).parts[0] for path in tree}
    if len(tops) != 1 or any(len(PurePosixPath(path).parts) == 1 for path in tree):
        return tree
    return {PurePosixPath(*PurePosixPath(path).parts[1:]).as_posix(): data for path, data in tree.items()}


def _too_many_bytes(limits: TreeLimits) -> TooLarge:
    return TooLarge(
        f"larger than {limits.bytes_max // (1 << 20)} MiB",
        what_to_do="Leave out data files; inputs are made by the task, not sent along.",
    )


def _link_refused(name: str) -> Invalid:
    return Invalid(f"`{name}` is a link", what_to_do="Pack plain files only: links are never followed.")
