"""Frames from a hostile end: bounded before anything is parsed, and no descriptor is leaked."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time

import pytest

from workers.wire import frames


@pytest.fixture
def ends():
    here, there = socket.socketpair()
    yield here, there
    here.close()
    there.close()


def raw(body: bytes, length: int | None = None) -> bytes:
    return struct.pack(">I", len(body) if length is None else length) + body


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"3", b"null", b"\xff\xfe", b"[" * 200000, b'{"a": 1} {}', b'"text"'],
    ids=lambda b: str(b[:10]),
)
def test_what_is_no_object_is_refused(ends, body):
    here, there = ends
    threading.Thread(target=here.sendall, args=(raw(body),)).start()
    with pytest.raises(frames.FrameError):
        frames.receive(there, time.monotonic() + 5)


def test_a_length_beyond_the_limit_is_refused_before_it_is_read(ends):
    here, there = ends
    here.sendall(raw(b"{}", 0xFFFFFFFF))
    with pytest.raises(frames.FrameError, match="at most"):
        frames.receive(there, time.monotonic() + 5)


@pytest.mark.parametrize("sent", [b"", b"\0\0", raw(b'{"a"', 100)])
def test_a_truncated_frame_is_a_closed_end(ends, sent):
    here, there = ends
    here.sendall(sent)
    here.shutdown(socket.SHUT_WR)
    with pytest.raises(frames.Closed):
        frames.receive(there, time.monotonic() + 5)


def test_a_frame_that_does_not_come_is_late(ends):
    here, there = ends
    here.sendall(raw(b"{}", 50))
    with pytest.raises(frames.Late):
        frames.receive(there, time.monotonic() + 0.1)


def test_dripping_bytes_do_not_move_the_deadline(ends):
    here, there = ends
    stop = threading.Event()

    def drip():
        here.sendall(struct.pack(">I", 1000))
        while not stop.wait(0.02):
            here.sendall(b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    start = time.monotonic()
    with pytest.raises(frames.Late):
        frames.receive(there, start + 0.3)
    stop.set()
    thread.join()
    assert time.monotonic() - start < 2


def test_descriptors_of_a_bad_frame_are_closed(ends):
    here, there = ends
    before = len(os.listdir("/proc/self/fd"))
    socket.send_fds(here, [raw(b"no json")], [0, 0, 0])
    with pytest.raises(frames.FrameError):
        frames.receive(there, time.monotonic() + 5)
    assert len(os.listdir("/proc/self/fd")) == before


def test_too_many_descriptors_are_refused_on_both_sides(ends):
    here, there = ends
    with pytest.raises(frames.FrameError):
        frames.send(here, {}, [0] * (frames.MAX_FDS + 1))
    body = raw(b'{"a":1}')
    socket.send_fds(here, [body[:2]], [0] * 200)
    socket.send_fds(here, [body[2:]], [0] * 200)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(frames.FrameError, match="descriptors"):
        frames.receive(there, time.monotonic() + 5)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_message_and_its_descriptors_arrive(ends):
    here, there = ends
    fd = os.memfd_create("x")
    os.write(fd, b"hello")
    big = {"text": "x" * 500_000, "nan": float("nan")}
    thread = threading.Thread(target=frames.send, args=(here, big, [fd]))
    thread.start()
    message, fds = frames.receive(there, time.monotonic() + 5)
    thread.join()
    assert message["text"] == big["text"]
    assert os.pread(fds[0], 5, 0) == b"hello"


def test_a_message_that_is_too_long_is_the_senders_fault(ends):
    with pytest.raises(frames.FrameError):
        frames.send(ends[0], {"text": "x" * (frames.MAX_FRAME_BYTES + 1)})
