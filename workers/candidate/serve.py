"""The candidate process's loop: load the submission, call it, read an earlier output again."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workers.candidate import program, watched
from workers.candidate.frameworks import Framework, framework
from workers.candidate.gradients import differentiate
from workers.candidate.poison import poisoned
from workers.candidate.trace import OperatorTrace
from workers.wire import frames, raised, storage
from workers.wire.modules import build
from workers.wire.tensors import Unpacked, pack
from workers.wire.values import NotAValue

# Where a task written in NumPy still means torch tensors.
TORCH_FRAMEWORKS = ("torch", "triton")

# Calls whose outputs may be asked for again.
KEPT_SLOTS = ("first", "second", "third")

Answer = tuple[dict[str, Any], list[int]]


def serve(sock: socket.socket) -> None:
    """Answer messages until the other end closes; whatever the submission raises is an answer too."""
    program.import_libraries()  # while the judge is still busy with the task's reference
    desk = _Desk()
    while True:
        try:
            message, fds = frames.receive(sock)
        except frames.Closed:
            return
        try:
            reply, out = desk.answer(message, fds)
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything, SystemExit too
            reply, out = _failure(error), []
        frames.send(sock, {**reply, "id": message["id"]}, out)
        storage.close_all(out)


def _failure(error: BaseException) -> dict[str, Any]:
    """An exception as an answer; our own "cannot" is told apart from the kernel's errors, by class and not by name."""
    told = raised.describe(error, program.SUBMISSION_FOLDER)
    if isinstance(error, _unsupported()):
        return _cannot({"kind": "unsupported", "reason": error.reason, "location": error.location})
    out_of_memory = isinstance(error, MemoryError) or "can't allocate memory" in str(error)
    return {"error": {**told, "out_of_memory": out_of_memory}}


def _unsupported() -> tuple[type[Any], ...]:
    """The class of the shim's own refusals, where the shim has been loaded."""
    module = sys.modules.get("workers.candidate.frameworks.cuda_shim.unsupported")
    return (module.Unsupported,) if module else ()


def _cannot(stopped: dict[str, Any]) -> dict[str, Any]:
    """What this machine could not do, as an answer in place of outputs."""
    return {"too_slow" if stopped["kind"] == "too_slow" else "unsupported": stopped}


@dataclass
class _Call:
    """One finished call, kept so that its outputs can be looked at again."""

    inputs: Unpacked
    result: Any


class _Desk:
    def __init__(self) -> None:
        self.entry: Callable[..., Any] | None = None
        self.framework: Framework | None = None
        self.trusted: dict[str, Any] = {}
        self.calls: dict[str, _Call] = {}
        self.modules: dict[str, Callable[..., Any]] = {}  # by slot, where the task has weights

    def answer(self, message: dict[str, Any], fds: list[int]) -> Answer:
        try:
            reply, out = getattr(self, "_" + message["op"])(message, fds)
        except BaseException:
            if stopped := self._stopped():
                return _cannot(stopped), []
            raise
        return (_cannot(reply["events"]["stopped"]), []) if (reply.get("events") or {}).get("stopped") else (reply, out)

    def _stopped(self) -> dict[str, Any] | None:
        """Why interpretation gave up during this call, even where the submission swallowed the exception."""
        return self.framework.after_call().get("stopped") if self.framework is not None else None

    def _load(self, message: dict[str, Any], _: list[int]) -> Answer:
        self.framework = framework(message["framework"])
        self.framework.setup()
        self.trusted = watched.snapshot()
        start = time.perf_counter()
        self.entry = program.load(message["main"], message["entry"])
        return {
            "seconds": time.perf_counter() - start,
            "rebound": watched.rebound(self.trusted),
            "refusals": self.framework.refusals(),
            "versions": _versions(),
        }, []

    def _build(self, message: dict[str, Any], fds: list[int]) -> Answer:
        """What the call of the same slot is going to call: the entry's class, built and given the weights.

        With `reload`, an earlier call's module gets the new weights where the old ones were.
        """
        from workers.candidate import weights

        assert self.framework is not None and self.entry is not None
        if message["slot"] == KEPT_SLOTS[0]:
            self._forget(message, [])
        given = Unpacked(message["state"], fds, arrays_as_torch=True, owned=True).value
        self.framework.before_call(budget_seconds=message["budget_seconds"], skip_launches=False, watch=False)
        _seed(message["seed"])
        earlier = self.modules.get(message["reload"] or "")
        module = build(self.entry, given["init_args"], given["state"]) if earlier is None else earlier
        self.modules[message["slot"]] = module
        try:
            matched, left_out = weights.load(module, given["state"], frozenset(message["idle"]))
        except weights.StateMismatch as mismatch:
            return {"mismatch": str(mismatch)}, []
        return {"matched": matched, "left_out": left_out}, []

    def _call(self, message: dict[str, Any], fds: list[int]) -> Answer:
        assert self.framework is not None
        inputs = self._inputs(message, fds)
        self.framework.before_call(
            budget_seconds=message["budget_seconds"], skip_launches=message["skip_launches"], watch=message["watch"]
        )
        result, facts = self._run(message, inputs)
        if result is None and message["in_place"]:
            changed = tuple(inputs.value[n] for n in message["in_place"])
            result = changed[0] if len(changed) == 1 else changed
        self.calls[message["slot"]] = _Call(inputs, result)
        facts |= {
            "mutated": [n for n, mapped in enumerate(inputs.storages) if mapped.changed()],
            "rebound": watched.rebound(self.trusted),
            "events": self.framework.after_call(),
        }
        reply = self._outputs(message["slot"], facts)
        if message["slot"] not in KEPT_SLOTS:
            del self.calls[message["slot"]]
        if message["slot"] != KEPT_SLOTS[0]:  # later calls look at outputs, but nobody at a module
            self.modules.pop(message["slot"], None)
        return reply

    def _gradients(self, message: dict[str, Any], fds: list[int]) -> Answer:
        assert self.framework is not None and self.entry is not None
        self.framework.before_call(budget_seconds=message["budget_seconds"], skip_launches=False, watch=False)
        _seed(message["seed"])
        reply, out = differentiate(self.modules.pop(message["slot"], self.entry), message, fds)
        return {**reply, "events": self.framework.after_call()}, out

    def _inputs(self, message: dict[str, Any], fds: list[int]) -> Unpacked:
        """Fresh storages, or an earlier call's storages with the new values in them."""
        assert self.framework is not None
        if message["slot"] == KEPT_SLOTS[0]:
            self.calls.clear()  # another workload: what is left of the last one holds descriptors and memory
        earlier = self.calls.get(message["refill"] or "")
        if earlier is not None and earlier.inputs.refill(message["inputs"], fds):
            return earlier.inputs
        return Unpacked(message["inputs"], fds, arrays_as_torch=self.framework.name in TORCH_FRAMEWORKS, owned=True)

    def _run(self, message: dict[str, Any], inputs: Unpacked) -> tuple[Any, dict[str, Any]]:
        called = self.modules.get(message["slot"], self.entry)
        assert called is not None
        _seed(message["seed"])
        threads = set(threading.enumerate())
        trace = OperatorTrace(frozenset(message["hollow"]), message["hollow_factor"], message["capture"])
        with poisoned(message["poison"]) as poison_in_force:
            start = time.perf_counter()
            if message["trace"] or message["hollow"] or message["capture"]:
                with trace:
                    result = called(*inputs.value)
            else:
                result = called(*inputs.value)
            seconds = time.perf_counter() - start
        return trace.captured() if message["capture"] else result, {
            "seconds": seconds,
            "poison": poison_in_force,
            "threads": [t.name for t in threading.enumerate() if t not in threads],
            "operators": trace.work(),
            "operator_elements": trace.elements(),
        }

    def _outputs(self, slot: str, facts: dict[str, Any]) -> Answer:
        call = self.calls[slot]
        try:
            packed, out = pack(call.result, trim=True)
        except NotAValue as error:
            return {**facts, "not_a_value": str(error)}, []
        return {**facts, "outputs": packed, "aliases": self._aliases(slot)}, out

    def _aliases(self, slot: str) -> dict[str, list[Any]]:
        """Input storages and earlier calls whose memory the outputs of `slot` share."""
        mine = self.calls[slot]
        addresses = set(_addresses(mine.result))
        return {
            "inputs": [n for n, m in enumerate(mine.inputs.storages) if m.nbytes and m.address in addresses],
            "calls": [s for s, c in self.calls.items() if s != slot and addresses & set(_addresses(c.result))],
        }

    def _again(self, message: dict[str, Any], _: list[int]) -> Answer:
        """The outputs of an earlier call as they are now, after `wait_seconds`."""
        time.sleep(message["wait_seconds"])
        inputs = self.calls[message["slot"]].inputs
        mutated = [n for n, mapped in enumerate(inputs.storages) if mapped.changed()]
        return self._outputs(message["slot"], {"mutated": mutated})

    def _forget(self, _message: dict[str, Any], _: list[int]) -> Answer:
        self.calls.clear()
        self.modules.clear()
        return {}, []


def _addresses(result: Any) -> list[int]:
    if isinstance(result, list | tuple):
        return [address for item in result for address in _addresses(item)]
    if isinstance(result, dict):
        return _addresses(list(result.values()))
    if hasattr(result, "untyped_storage"):
        address = result.untyped_storage().data_ptr()
        return [address] if address else []
    return []


def _seed(seed: int) -> None:
    import random

    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - submissions use the legacy generator
    torch.manual_seed(seed)


def _versions() -> dict[str, str]:
    import sys

    loaded = ("torch", "numpy", "triton")
    return {name: str(getattr(sys.modules[name], "__version__", "")) for name in loaded if name in sys.modules}
