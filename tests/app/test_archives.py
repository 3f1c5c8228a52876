"""Archives from outside: what is hostile is refused by name, and nothing is written."""

from __future__ import annotations

import contextlib
import io
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import Invalid, TooLarge, WorkbenchError
from app.kit.trees import TreeLimits, check_tree, lay_out, read_archive, tree_sha256

LIMITS = TreeLimits(bytes_max=100_000, files_max=5)


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_a_zip_and_a_tar_give_the_same_tree():
    files = {"a.py": b"1", "b/c.cu": b"2"}
    tar = tarred((_member("a.py"), b"1"), (_member("b/c.cu"), b"2"))

    assert read_archive(zipped(files), LIMITS) == read_archive(tar, LIMITS) == files


def test_a_single_top_folder_is_taken_off():
    assert read_archive(zipped({"kernel/a.py": b"1", "kernel/b.py": b"2"}), LIMITS) == {"a.py": b"1", "b.py": b"2"}


def test_what_systems_leave_behind_is_left_out():
    files = {"a.py": b"1", "__MACOSX/a.py": b"x", "__pycache__/a.pyc": b"x", ".git/config": b"x"}

    assert read_archive(zipped(files), LIMITS) == {"a.py": b"1"}


@pytest.mark.parametrize("name", ["../a.py", "b/../../a.py", "/a.py", "C:/a.py", "b\\a.py", "a\n.py", "x" * 300])
def test_paths_that_lead_elsewhere_are_refused(name):
    with pytest.raises(Invalid, match="is refused"):
        read_archive(zipped({name: b"1"}), LIMITS)


@pytest.mark.parametrize(
    "member",
    [_member("a", tarfile.SYMTYPE, "/etc/passwd"), _member("a", tarfile.LNKTYPE, "b"), _member("a", tarfile.FIFOTYPE)],
)
def test_links_and_devices_in_a_tar_are_refused(member):
    with pytest.raises(Invalid):
        read_archive(tarred((member, b"")), LIMITS)


def test_a_link_in_a_zip_is_refused():
    info = zipfile.ZipInfo("a")
    info.external_attr = 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")

    with pytest.raises(Invalid, match="is a link"):
        read_archive(buffer.getvalue(), LIMITS)


def test_a_bomb_is_refused_before_it_is_unpacked():
    bomb = zipped({"a": b"0" * 10_000_000})
    assert len(bomb) < LIMITS.bytes_max

    with pytest.raises(TooLarge):
        read_archive(bomb, LIMITS)


def test_many_files_are_refused():
    with pytest.raises(TooLarge, match="more than 5 files"):
        read_archive(zipped({f"{n}.py": b"1" for n in range(6)}), LIMITS)


@pytest.mark.parametrize(
    "data",
    [b"", b"not an archive", zipped({"a": b"1"})[:-20], b"\x1f\x8b" + b"\0" * 50],
    ids=["nothing", "text", "a cut zip", "a broken gzip"],
)
def test_what_cannot_be_read_is_said_so(data):
    with pytest.raises(Invalid) as caught:
        read_archive(data, LIMITS)

    assert "\n" not in caught.value.message and caught.value.what_to_do


@given(st.binary(max_size=400))
def test_no_bytes_escape_as_another_error(data):
    with contextlib.suppress(WorkbenchError):
        read_archive(data, LIMITS)


@given(st.dictionaries(st.text("ab/.", min_size=1, max_size=8), st.binary(max_size=4), min_size=1, max_size=3))
def test_the_hash_depends_on_every_path_and_byte(tree):
    changed = {**tree, next(iter(tree)): b"other bytes"}

    assert tree_sha256(tree) == tree_sha256(dict(reversed(tree.items()))) != tree_sha256(changed)


def test_a_path_that_is_also_a_folder_is_refused(tmp_path):
    with pytest.raises(Invalid):
        lay_out(check_tree({"a": b"1", "a/b": b"2"}, LIMITS), tmp_path)
