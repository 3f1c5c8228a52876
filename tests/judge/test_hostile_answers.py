"""Answers that a hostile process could send: each becomes a refusal, never a crash, a hang or a leak of the judge's."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import mmap
import os
import socket

import pytest

from app.domain.report import Location, Severity, StageName, Verdict
from workers.judge import claims
from workers.judge.foreign import ForeignProcess, Raised
from workers.judge.notebook import Notebook
from workers.judge.received import Received, Room
from workers.sandbox import Reply
from workers.wire import storage
from workers.wire.values import NotAValue


def memfd(nbytes=16, flags=os.MFD_ALLOW_SEALING):
    fd = os.memfd_create("hostile", flags)
    os.ftruncate(fd, nbytes)
    return fd


def tensor(shape=(4,), strides=(1,), **changed):
    body = {"kind": "torch", "dtype": "float32", "shape": [*shape], "strides": [*strides], "offset": 0, "storage": 0}
    return {"tensor": body | changed}


def message(manifest=None, nbytes=16):
    return {"manifest": manifest or tensor(), "storages": [nbytes]}


def refuse(told, fds, room=None):
    """It raises `NotAValue` and keeps no descriptor."""
    numbers = list(fds)
    with pytest.raises(NotAValue) as refusal:
        Received.of(told, fds, room or Room())
    for fd in numbers:
        with pytest.raises(OSError):
            os.fstat(fd)
    assert len(str(refusal.value)) <= 300


def test_an_honest_answer_is_frozen_and_read():
    fd = memfd()
    os.pwrite(fd, b"\0\0\x80?" * 4, 0)
    received = Received.of(message(), [fd])
    assert received.leaves()[0].array.tolist() == [1.0] * 4
    for change in (lambda: os.ftruncate(received.fds[0], 0), lambda: os.pwrite(received.fds[0], b"x", 0)):
        with pytest.raises(PermissionError):
            change()


def test_descriptors_go_with_a_value_that_nobody_closed():
    fd = memfd()
    Received.of(message(), [fd])
    with pytest.raises(OSError):
        os.fstat(fd)


def test_a_storage_sealed_against_writing_only_could_still_shrink_under_us():
    fd = memfd()
    fcntl.fcntl(fd, storage.F_ADD_SEALS, storage.F_SEAL_WRITE | storage.F_SEAL_SEAL)
    refuse(message(), [fd])


def test_a_storage_that_somebody_maps_for_writing():
    fd = memfd(4096)
    with mmap.mmap(fd, 4096):
        refuse(message(nbytes=4096), [fd])


def test_a_storage_that_cannot_be_sealed():
    refuse(message(), [memfd(flags=0)])


@pytest.mark.parametrize("make", ["pipe", "socket", "file", "device", "huge pages", "folder", "path"])
def test_descriptors_that_are_no_memfds(make, tmp_path):
    (tmp_path / "file").write_bytes(b"0" * 16)
    makers = {
        "pipe": lambda: os.pipe()[0],
        "socket": lambda: socket.socket(socket.AF_UNIX).detach(),
        "file": lambda: os.open(tmp_path / "file", os.O_RDWR),
        "device": lambda: os.open("/dev/zero", os.O_RDONLY),
        "huge pages": lambda: memfd(0, os.MFD_ALLOW_SEALING | os.MFD_HUGETLB),
        "folder": lambda: os.open(tmp_path, os.O_RDONLY),
        "path": lambda: os.open(tmp_path, os.O_PATH),
    }
    try:
        fd = makers[make]()
    except OSError:
        pytest.skip("not to be had here")
    refuse(message(nbytes=16 if make != "huge pages" else 0), [fd])


@pytest.mark.parametrize("sizes", [[], [15], [1 << 60], [-16], [True], ["16"], [16.0], "x", None, {"0": 16}, [16, 16]])
def test_sizes_that_are_not_those_of_the_storages(sizes):
    refuse({"manifest": tensor(), "storages": sizes}, [memfd()])


@pytest.mark.parametrize(
    "manifest",
    [
        tensor((1 << 61, 1 << 61), (0, 0)),
        tensor((0, 1 << 61, 1 << 61), (0, 0, 0)),
        tensor((1 << 45,), (0,)),
        tensor((5,)),
        tensor((2,), (-1,)),
        tensor((4,), (1 << 61,)),
        tensor(storage=1),
        tensor(kind="python"),
        tensor(kind=["torch"]),
        tensor(dtype="object"),
        tensor(shape=[]) | {"py": 1},
        tensor((1,) * 65, (0,) * 65),
        {"list": [{"py": 0}] * 4000 + [{"list": [{"py": 0}] * 4000}]},
        {"list": [{"list": []}] * 200_000},
        {"py": "x" * (2 << 20)},
        {"tensor": None},
        {"tensor": {"shape": "ab"}},
        {"dict": [[1, {"py": 1}, 2]]},
        {"dict": 5},
        {"py": [1]},
        "text",
        None,
        [],
        5,
    ],
)
def test_manifests_that_make_no_sense(manifest):
    refuse({"manifest": manifest, "storages": [16]}, [memfd()])


def test_deep_manifests():
    deep = {"py": 1}
    for _ in range(500):
        deep = {"list": [deep]}
    refuse(message(deep), [memfd()])


@pytest.mark.parametrize("told", [None, 5, "outputs", [], {}])
def test_answers_that_are_no_table(told):
    refuse(told, [memfd()])


def test_numbers_beyond_every_dtype_are_infinite():
    received = Received.of(
        {"manifest": {"list": [{"py": 10**400}, {"py": -(10**400)}, {"py": 2**63}]}, "storages": []}, []
    )
    assert [float(leaf.array) for leaf in received.leaves()] == [float("inf"), -float("inf"), 2.0**63]


def test_texts_are_compared_as_bytes():
    first, second = (
        Received.of({"manifest": {"py": word}, "storages": []}, []).leaves()[0] for word in ("ab", "a\ud800")
    )
    assert first.array.tobytes() == b"ab" and first.array.size != second.array.size


def test_an_answer_larger_than_its_room():
    refuse(message(nbytes=1 << 20), [memfd(1 << 20)], Room(total_bytes=1 << 16))
    refuse(message(tensor((1 << 20,), (0,))), [memfd()], Room(total_bytes=1 << 16))
    refuse(message(tensor((1 << 20,), (0,))), [memfd()], Room(values=1 << 16))
    refuse({"manifest": {"py": 1}, "storages": [0, 0, 0]}, [memfd(0), memfd(0), memfd(0)], Room(storages=2))


class Liar:
    """A session that answers what it is told to, with the number of the question."""

    def __init__(self, answer, fds=()):
        self.answer, self.fds, self.log = answer, list(fds), ""

    def call(self, message, fds, *, timeout_s):
        return Reply({**self.answer, "id": message["id"]}, self.fds)

    def close(self):
        pass


def test_descriptors_that_nobody_asked_for_are_closed():
    for answer in ({}, {"error": {"type": "X"}}):
        fds = [memfd(), memfd()]
        numbers = list(fds)
        try:
            ForeignProcess(Liar(answer, fds)).ask("load", timeout_s=1)
        except Raised:
            assert answer
        for fd in numbers:
            with pytest.raises(OSError):
                os.fstat(fd)


def test_an_error_of_strange_types_is_an_error_all_the_same():
    wrong = {
        "bases": [[1], "SyntaxError"],
        "type": 5,
        "message": {"a": 1},
        "line": "x",
        "file": 4,
        "out_of_memory": "yes",
    }
    with pytest.raises(Raised) as raised:
        ForeignProcess(Liar({"error": wrong})).ask("load", timeout_s=1)
    assert raised.value.kind == "exception"
    assert set(raised.value.facts["bases"]) == {"SyntaxError"}
    assert raised.value.facts["line"] is None


STRANGE = [
    None,
    True,
    5,
    -1.5,
    float("nan"),
    float("inf"),
    10**400,
    "x",
    "\ud800\x00",
    [],
    [[]],
    {},
    {"a": [1]},
    [None, {}],
]


@pytest.mark.parametrize("name", sorted(claims._FIELDS))
def test_each_known_field_comes_out_with_its_own_type(name):
    expected = type(claims.facts({name: claims._FIELDS[name](None)})[name])
    for value in STRANGE:
        told = claims.facts({name: value})[name]
        if name in ("error", "method"):
            assert told is None or isinstance(told, (dict if name == "error" else str))
        else:
            assert type(told) is expected
        json.dumps(told, allow_nan=False).encode("utf-8", "strict")


def test_events_of_strange_types():
    for value in STRANGE:
        names = ("launches", "failed_launches", "observations", "shim", "stopped", "unjoined")
        told = claims.facts({"events": dict.fromkeys(names, value)})["events"]
        assert all(isinstance(told[name], dict if name == "stopped" else list) for name in names)
        assert all(isinstance(launch, dict) for launch in told["launches"])


def test_claims_are_bounded_and_printable():
    deep = None
    for _ in range(200):
        deep = [deep]
    dirt = "\x1b[31m\0\u202e\ud800\r\n<b>"
    told = claims.facts({"anything": {"dirt": dirt, "deep": deep, "wide": ["x" * 100_000] * 5000}})
    text = json.dumps(told, ensure_ascii=False)
    assert len(text) < 6 << 20
    assert not claims._UNPRINTABLE.search(told["anything"]["dirt"])
    assert told["anything"]["dirt"].endswith("\n<b>")


def test_a_flood_of_findings_is_bounded_and_hides_no_other_kind():
    book = Notebook()
    for n in range(2000):
        evidence = {"output": n, "dirt": "\0\x1b" * 50_000, "nan": float("nan")}
        place = Location("\x1b[2J\ud800.py", n)
        book.note(
            "runtime.out_of_bounds",
            Severity.ERROR,
            StageName.SANITIZE,
            "\0\ud800" * 9000,
            evidence=evidence,
            location=place,
        )
    book.note("numerics.wrong_values", Severity.ERROR, StageName.CORRECTNESS, "wrong", verdict=Verdict.WRONG_RESULT)
    assert book.findings[-1].code == "numerics.wrong_values"
    text = json.dumps([dataclasses.asdict(finding) for finding in book.findings], ensure_ascii=False, allow_nan=False)
    assert len(text.encode()) < 2 << 20
    assert not claims._UNPRINTABLE.search(text)


def test_the_log_keeps_its_end_and_nothing_that_acts():
    book = Notebook(logs=["\x1b]0;title\x07 \0" * 50_000, "the end\u202e"])
    assert len(book.log()) <= 64_000
    assert not claims._UNPRINTABLE.search(book.log())
    assert "the end" in book.log()
    said, _, kept = book.log().partition(" earlier characters are not kept)\n")
    assert int(said.removeprefix("(at least ")) + len(kept) == len("\n".join(book.logs))
    assert Notebook(logs=["short", "", "log"]).log() == "short\nlog"


def test_what_goes_into_every_report_is_short():
    long = {f"{n}" * 500: "x" * 9000 for n in range(5000)}
    told = claims.facts(
        {"versions": long, "refusals": {name: ["y" * 9000] * 900 for name in long}, "method": "z" * 9000}
    )
    assert len(json.dumps(told)) < 1 << 20
