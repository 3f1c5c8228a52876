"""A model of CUDA streams and events: who has waited for which work."""

# ruff: noqa: SLF001 - the framework's private names are what is replaced

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self

# How far each stream is known to have come: stream number -> operations queued.
Progress = dict[int, int]


def _merge(into: Progress, other: Progress) -> None:
    for number, count in other.items():
        into[number] = max(into.get(number, 0), count)


@dataclass
class _FirstOperation:
    name: str
    file: str
    line: int


@dataclass
class StreamModel:
    """All streams of the process. Work runs at once here; only the order that a device would need is kept."""

    streams: list[Any] = field(default_factory=list)
    stack: list[Any] = field(default_factory=list)
    host: Progress = field(default_factory=dict)
    first: dict[int, _FirstOperation] = field(default_factory=dict)
    machinery: tuple[str, ...] = ()

    @property
    def current(self) -> Any:
        """The stream that new work goes to."""
        return self.stack[-1]

    @property
    def default(self) -> Any:
        return self.streams[0]

    def queue(self, name: str) -> None:
        """Counts one operation on the current stream."""
        stream = self.stack[-1]
        stream.progress[stream.number] = stream.progress.get(stream.number, 0) + 1
        if stream.number and stream.number not in self.first:
            self.first[stream.number] = self._where(name)

    def host_waits(self, progress: Progress) -> None:
        """The host has waited: whatever it queues or returns later comes after that work."""
        _merge(self.host, progress)

    def wait_for_all(self) -> None:
        """A device-wide synchronisation."""
        for stream in self.streams:
            _merge(self.host, stream.progress)

    def begin_call(self) -> None:
        """Earlier calls' work no longer counts, and the default stream is current again."""
        self.wait_for_all()
        self.first.clear()
        self.stack[:] = [self.default]

    def unjoined(self) -> list[tuple[Any, int, _FirstOperation]]:
        """Side streams with work that neither the default stream nor the host has waited for."""
        found = []
        for stream in self.streams[1:]:
            queued = stream.progress.get(stream.number, 0)
            joined = max(self.default.progress.get(stream.number, 0), self.host.get(stream.number, 0))
            if queued > joined:
                found.append((stream, queued - joined, self.first[stream.number]))
        return found

    def _where(self, name: str) -> _FirstOperation:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(self.machinery):
            frame = frame.f_back
        if frame is None:
            return _FirstOperation(name, "", 0)
        return _FirstOperation(name, frame.f_code.co_filename, frame.f_lineno)


class Stream:
    """Stands for `torch.cuda.Stream`."""

    model: StreamModel

    def __init__(self, *_: Any, **options: Any) -> None:
        self.priority = options.get("priority", 0)
        self.number = len(self.model.streams)
        self.cuda_stream = self.stream_id = self.number
        self.device_index = 0
        self.progress: Progress = {}
        self.model.streams.append(self)

    def wait_stream(self, stream: Stream) -> None:
        _merge(self.progress, stream.progress)

    def wait_event(self, event: Event) -> None:
        _merge(self.progress, event.progress)

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self) -> None:
        self.model.host_waits(self.progress)

    def query(self) -> bool:
        self.synchronize()
        return True

    def __enter__(self) -> Self:
        self.model.stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if len(self.model.stack) > 1:
            self.model.stack.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


class Event:
    """Stands for `torch.cuda.Event`; times are those of this machine, in milliseconds."""

    model: StreamModel

    def __init__(self, *_: Any, **__: Any) -> None:
        self.progress: Progress = {}
        self._recorded_s = 0.0

    def record(self, stream: Stream | None = None) -> None:
        stream = stream or self.model.current
        self.progress = dict(self.model.host)
        _merge(self.progress, stream.progress)
        self._recorded_s = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        (stream or self.model.current).wait_event(self)

    def synchronize(self) -> None:
        self.model.host_waits(self.progress)

    def query(self) -> bool:
        self.synchronize()
        return True

    def elapsed_time(self, end: Event) -> float:
        return (end._recorded_s - self._recorded_s) * 1e3


class StreamContext:
    """Stands for `torch.cuda.stream(s)`; None leaves the current stream alone."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        return self.stream.__enter__() if self.stream is not None else None

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            self.stream.__exit__()


def make_model(machinery: tuple[str, ...]) -> StreamModel:
    """A model with its default stream, bound to the stand-in classes."""
    model = StreamModel(machinery=machinery)
    Stream.model = Event.model = model
    model.stack.append(Stream())
    return model
