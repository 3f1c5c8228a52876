# ruff: noqa: E501 - tables read better in long lines
"""What a hostile process may send instead of values: each is refused before anything is touched."""

from __future__ import annotations

import os
import tempfile

import ml_dtypes
import numpy as np
import pytest

from workers.judge.received import Received
from workers.wire import storage
from workers.wire.tensors import Unpacked, pack
from workers.wire.values import NotAValue, TensorSpec, as_array, read_spec, rebuild


def tensor(**changes):
    body = {"kind": "torch", "dtype": "float32", "shape": [4], "strides": [1], "offset": 0, "storage": 0}
    return {"tensor": {**body, **changes}}


def memfd(data: bytes) -> int:
    fd = storage.create(len(data))
    os.pwrite(fd, data, 0)
    return fd


def received(manifest, data=bytes(16), sizes=None):
    return Received.of({"manifest": manifest, "storages": [len(data)] if sizes is None else sizes}, [memfd(data)])


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": 1}, {"shape": [5]}, {"strides": [2]}, {"strides": [-1]}, {"shape": [2, 2], "strides": [2, 2]},
        {"storage": 1}, {"storage": -1}, {"offset": -1}, {"shape": [-4]}, {"shape": [True]}, {"shape": [1 << 63]},
        {"shape": [1 << 40, 1 << 40], "strides": [1, 1]}, {"strides": [1 << 61]}, {"shape": [4, 4]}, {"shape": "4"},
        {"dtype": "object"}, {"dtype": "float128"}, {"dtype": ["float32"]}, {"shape": None}, {"shape": [1] * 65, "strides": [1] * 65},
        {"shape": [1.5]}, {"offset": "0"}, {"dtype": "V8"}, {"dtype": "__class__"},
    ],
    ids=str,
)  # fmt: skip
def test_tensors_outside_their_storage_or_malformed_are_refused(changes):
    with pytest.raises(NotAValue):
        received(tensor(**changes))


@pytest.mark.parametrize(
    "manifest",
    [
        None, 3, "py", [], {}, {"py": 1, "list": []}, {"py": [1]}, {"py": {}}, {"list": 3}, {"list": [[]]}, {"dict": [1]},
        {"dict": [["a"]]}, {"dict": {"a": {"py": 1}}}, {"pickle": "gASVAA=="}, {"tensor": 3}, {"tensor": {}},
        {"list": [{"py": 1}] * 5000}, {"dtype": 3},
    ],
    ids=lambda m: str(m)[:40],
)  # fmt: skip
def test_malformed_manifests_are_refused(manifest):
    with pytest.raises(NotAValue):
        received(manifest)


def test_deep_nesting_is_refused():
    manifest = {"py": 1}
    for _ in range(40):
        manifest = {"list": [manifest]}
    with pytest.raises(NotAValue, match="malformed"):
        received(manifest)


@pytest.mark.parametrize("message", [{}, {"manifest": {"py": 1}}, {"storages": []}, {"manifest": {"py": 1}, "storages": 3},
                                     {"manifest": {"py": 1}, "storages": ["16"]}, {"manifest": {"py": 1}, "storages": [None]}])  # fmt: skip
def test_messages_without_their_parts_are_refused(message):
    with pytest.raises(NotAValue):
        Received.of(message, [memfd(bytes(16))])


def test_more_or_fewer_storages_than_announced_are_refused():
    for sizes in ([], [16, 16], [8], [1 << 60]):
        with pytest.raises(NotAValue):
            received(tensor(), sizes=sizes)


def _regular_file():
    fd = os.open(tempfile.mkdtemp() + "/file", os.O_RDWR | os.O_CREAT)
    os.write(fd, bytes(16))
    return fd


@pytest.mark.parametrize("opened", [
    _regular_file, lambda: os.pipe()[0], lambda: os.memfd_create("x") and os.eventfd(0),
    lambda: os.open("/dev/zero", os.O_RDWR), lambda: os.open("/proc/self/mem", os.O_RDONLY), lambda: os.open("/", os.O_RDONLY),
], ids=["file", "pipe", "eventfd", "zero", "mem", "folder"])  # fmt: skip
def test_descriptors_that_are_no_memfd_are_refused(opened):
    with pytest.raises(NotAValue, match="no memfd"):
        Received.of({"manifest": tensor(), "storages": [16]}, [opened()])


def test_a_storage_still_mapped_for_writing_cannot_change_under_the_judge():
    """Refused, or copied: the sender's later writes are never seen."""
    fd = memfd(np.arange(4, dtype=np.float32).tobytes())
    theirs = storage.map_shared(fd, 16)
    try:
        got = Received.of({"manifest": tensor(), "storages": [16]}, [fd])
    except NotAValue:
        return
    theirs[:] = bytes(16)
    assert got.leaves()[0].array.tolist() == [0, 1, 2, 3]


def test_a_sealed_storage_cannot_be_changed_by_its_sender():
    fd = memfd(bytes(16))
    theirs = os.dup(fd)
    Received.of({"manifest": tensor(), "storages": [16]}, [fd])
    with pytest.raises(PermissionError):
        os.pwrite(theirs, b"x", 0)


def test_aliasing_offsets_and_negative_strides_survive():
    base = np.arange(12, dtype=np.float32)
    packed, fds = pack((base[2:8], base[::-1], base[::3].reshape(2, 2)), trim=True)
    assert packed["storages"] == [48]
    leaves = Received.of(packed, fds).leaves()
    assert leaves[0].array.tolist() == [2, 3, 4, 5, 6, 7]
    assert leaves[1].array.tolist() == base[::-1].tolist()
    assert np.shares_memory(leaves[0].array, leaves[1].array)
    assert not leaves[1].contiguous


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "complex64", "bool", "uint64"])
def test_every_dtype_comes_back_as_it_went(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    data = bytes(range(48))[: 6 * dtype.itemsize] if name != "bool" else bytes([0, 1] * 3)
    spec = TensorSpec("numpy", name, (3, 2), (1, 3), 0, 0)
    array = as_array(spec, data)
    assert array.dtype == dtype
    assert array.tobytes() == np.frombuffer(data, dtype).reshape(2, 3).T.tobytes()


def test_an_unpacked_value_keeps_its_aliases_and_can_be_refilled():
    base = np.arange(6, dtype=np.float32)
    packed, fds = pack([base[:4], base[2:]], trim=False)
    value = Unpacked(packed, fds)
    first, second = value.value
    first[2] = 40.0
    assert second[0] == 40.0
    assert value.storages[0].changed()
    again, others = pack([base[:4] + 0, base[2:]], trim=False)
    assert not value.refill(again, others)  # another structure: no aliases any more
    other = base + 10
    again, others = pack([other[:4], other[2:]], trim=False)
    assert value.refill(again, others)
    assert first.tolist() == [10, 11, 12, 13]


def test_a_huge_sparse_storage_crosses_cheaply():
    fd = storage.create(3 << 30)
    os.pwrite(fd, b"\7", 2 << 30)
    manifest = tensor(dtype="int8", shape=[3], strides=[1 << 30])
    got = Received.of({"manifest": manifest, "storages": [3 << 30]}, [fd])
    assert got.leaves()[0].array.tolist() == [0, 0, 7]
    assert os.fstat(got.fds[0]).st_blocks * 512 < 1 << 20


def test_holes_are_not_filled_by_comparing():
    sparse = [Received.of({"manifest": {"py": 1}, "storages": [1 << 30]}, [storage.create(1 << 30)]) for _ in range(2)]
    assert sparse[0].same_values(sparse[1])
    assert all(os.fstat(s.fds[0]).st_blocks == 0 for s in sparse)


def test_dicts_are_put_into_the_order_of_a_model():
    def ordered(*keys):
        return Received.of({"manifest": {"dict": [[k, {"py": float(ord(k))}] for k in keys]}, "storages": []}, [])

    assert [float(x.array) for x in ordered("b", "a").leaves(like=ordered("a", "b"))] == [97.0, 98.0]
    assert [float(x.array) for x in ordered("b", "c").leaves(like=ordered("a", "b"))] == [98.0, 99.0]


def test_read_spec_refuses_what_is_no_table():
    for body in (None, [], "tensor", {"kind": "torch"}):
        with pytest.raises(NotAValue):
            read_spec(body)


def test_dtypes_cross_by_name():
    assert rebuild({"dtype": "float16"}, lambda spec: spec) == "float16"
