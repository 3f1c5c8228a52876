"""The reference process's loop: one message in, one answer out, until the judge closes the socket."""

from __future__ import annotations

import socket
from typing import Any

from workers.reference import gradients
from workers.reference.bench import TASK_FOLDER, TaskBench
from workers.reference.sensitivity import told
from workers.wire import frames, raised, storage
from workers.wire.tensors import Unpacked, pack

Answer = tuple[dict[str, Any], list[int]]


def serve(sock: socket.socket) -> None:
    """Answer messages until the other end closes; whatever the task's code raises is an answer too."""
    desk = _Desk()
    while True:
        try:
            message, fds = frames.receive(sock)
        except frames.Closed:
            return
        try:
            reply, out = desk.answer(message, fds)
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit too
            reply, out = {"error": raised.describe(error, TASK_FOLDER)}, []
        frames.send(sock, {**reply, "id": message["id"]}, out)
        storage.close_all(out)
        storage.close_all(fds)


class _Desk:
    def __init__(self) -> None:
        self.bench: TaskBench | None = None

    def answer(self, message: dict[str, Any], fds: list[int]) -> Answer:
        if message["op"] == "load":
            self.bench = TaskBench()
            return self.bench.facts(), []
        assert self.bench is not None, "load comes first"
        return getattr(self, "_" + message["op"])(self.bench, message, fds)

    def _draw(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        inputs = bench.draw(message["slot"], message["seed"], message["params"], message.get("state_seed"))
        return pack(inputs, trim=False)

    def _state(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        """`init_args` and `state`, the weights by name; `idle` are those that no answer depends on."""
        packed, out = pack(bench.states[message["slot"]].to_value(), trim=True)
        return {**packed, "idle": bench.idle_weights(message["slot"], message["in_place"])}, out

    def _redraw(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        relative = message.get("relative", 0.0)
        return {"changed": bench.redraw(message["slot"], message["into"], message["seed"], relative)}, []

    def _vary(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        """Other values or another layout in `slot`'s place; `changed` False: the family applies to no input."""
        inputs, changed = bench.vary(
            message["slot"], message["into"], message["seed"], family=message["family"], layout=message["layout"]
        )
        packed, out = pack(inputs, trim=False)
        return {**packed, "changed": changed}, out

    def _replace(self, bench: TaskBench, message: dict[str, Any], fds: list[int]) -> Answer:
        """`values` is a packed list with one tensor for every floating leaf."""
        bench.replace(message["slot"], message["into"], Unpacked(message["values"], fds).value)
        return {}, []

    def _native(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        packed, out = pack(bench.native(message["slot"], message["in_place"]), trim=True)
        return {**packed, "shares_inputs": bench.shares_inputs, "seconds": bench.native_s}, out

    def _oracle(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        return pack(bench.oracle(message["slot"], message["in_place"]), trim=True)

    def _sensitivity(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        return told(bench.sensitivity(message["slot"], message["in_place"], message["seed"], message["seconds"]))

    def _gradients(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        return gradients.answer(bench.gradients(message["slot"]), message)

    def _forget(self, bench: TaskBench, message: dict[str, Any], _: list[int]) -> Answer:
        bench.drawn.pop(message["slot"], None)
        bench.states.pop(message["slot"], None)
        return {}, []

    def _check(self, bench: TaskBench, message: dict[str, Any], fds: list[int]) -> Answer:
        """`inputs`, `outputs` and `expected` come packed one after the other, descriptors in that order."""
        values, rest = [], list(fds)
        for name in ("inputs", "outputs", "expected"):
            count = len(message[name]["storages"])
            values.append(Unpacked(message[name], rest[:count]))
            rest = rest[count:]
        ok, text = bench.check(*(value.value for value in values))
        return {"ok": ok, "message": text}, []
