"""Length-prefixed JSON messages with file descriptors over one Unix stream socket.

A frame is a 4-byte big-endian length and that many bytes of UTF-8 JSON (an object).
Descriptors ride on the first byte of the frame as SCM_RIGHTS; a frame carries at most
`MAX_FDS` of them.  Both ends treat what arrives as hostile: lengths, nesting and descriptor
counts are bounded before anything is parsed.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

MAX_FRAME_BYTES = 8 << 20
MAX_FDS = 250  # the kernel's SCM_MAX_FD is 253
_HEADER = struct.Struct(">I")


class FrameError(Exception):
    """What arrived is no valid frame: too long, not JSON, too deeply nested, no object."""


class Closed(Exception):
    """The other end closed the socket (or died)."""


class Late(Exception):
    """No whole frame arrived before the deadline."""


def send(sock: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one frame; `fds` are duplicated into the receiver and stay open here."""
    body = json.dumps(message, separators=(",", ":"), allow_nan=True).encode()
    if len(body) > MAX_FRAME_BYTES:
        raise FrameError(f"message of {len(body)} bytes; at most {MAX_FRAME_BYTES}")
    if len(fds) > MAX_FDS:
        raise FrameError(f"{len(fds)} descriptors in one message; at most {MAX_FDS}")
    data = memoryview(_HEADER.pack(len(body)) + body)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        sent = sock.sendmsg([data[:65536]], ancillary)
        if sent < len(data):
            sock.sendall(data[sent:])
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed(str(error)) from error


def receive(
    sock: socket.socket, deadline: float | None = None, max_bytes: int = MAX_FRAME_BYTES
) -> tuple[dict[str, Any], list[int]]:
    """Receive one frame as (message, descriptors); the caller owns the descriptors.

    `deadline` is a `time.monotonic()` value.  Raises `Closed`, `Late` or `FrameError`; on an
    error every descriptor that came with the frame is closed.
    """
    fds: list[int] = []
    try:
        header = _exactly(sock, _HEADER.size, deadline, fds)
        length = _length(header, max_bytes)
        return _parse(_exactly(sock, length, deadline, fds)), fds
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise


def _length(header: bytes, max_bytes: int) -> int:
    (length,) = _HEADER.unpack(header)
    if length > max_bytes:
        raise FrameError(f"frame of {length} bytes announced; at most {max_bytes}")
    return int(length)


def _exactly(sock: socket.socket, count: int, deadline: float | None, fds: list[int]) -> bytes:
    chunks: list[bytes] = []
    while count:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise Late
        sock.settimeout(left)
        try:
            chunk, ancillary, flags, _ = sock.recvmsg(
                min(count, 1 << 20), socket.CMSG_SPACE(4 * MAX_FDS), socket.MSG_CMSG_CLOEXEC
            )
        except TimeoutError as error:
            raise Late from error
        except ConnectionResetError as error:
            raise Closed(str(error)) from error
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                received = array.array("i")
                received.frombytes(data[: len(data) - len(data) % received.itemsize])
                fds.extend(received)
        if flags & socket.MSG_CTRUNC or len(fds) > MAX_FDS:
            raise FrameError(f"more than {MAX_FDS} descriptors in one message")
        if not chunk:
            raise Closed("end of stream")
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def _parse(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise FrameError("a message is a JSON object")
    return message
