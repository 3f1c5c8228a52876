"""The submission's gradients: a forward and a backward pass, and once more to count memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from workers.wire import storage
from workers.wire.autograd import Question, backward, memory
from workers.wire.tensors import Unpacked, pack
from workers.wire.values import NotAValue


def differentiate(
    called: Callable[..., Any], message: dict[str, Any], fds: list[int]
) -> tuple[dict[str, Any], list[int]]:
    """Outputs and gradients, packed one after the other, with what is told of them; takes over `fds`.

    `inputs` and `cotangents` come packed one after the other too.  Raises what the two passes raise.
    """
    count, held = len(message["inputs"]["storages"]), []

    def inputs() -> Any:
        held.append(Unpacked(message["inputs"], fds[:count], arrays_as_torch=True))
        return held[-1].value

    try:
        cotangents = Unpacked(message["cotangents"], fds[count:])
        question = Question(message["wrt"], message["in_place"], cotangents.value)
        start = time.perf_counter()
        found = backward(called, inputs(), question)
        seconds = time.perf_counter() - start
        reply, out = _packed(found.result, found.gradients)
        needed = _memory(called, inputs(), question)
    finally:
        storage.close_all(fds)
    facts = {"seconds": seconds, "detached": found.detached, "unreached": found.unreached, "memory": needed}
    return {**reply, **facts}, out


def _packed(outputs: Any, gradients: list[Any]) -> tuple[dict[str, Any], list[int]]:
    try:
        first, out = pack(outputs, trim=True)
        second, more = pack(gradients, trim=True)
    except NotAValue as error:
        return {"not_a_value": str(error)}, []
    return {"outputs": first, "gradients": second}, [*out, *more]


def _memory(called: Callable[..., Any], inputs: Any, question: Question) -> dict[str, int] | None:
    """In a pass of its own, since hooks on saved tensors change what autograd checks of them."""
    try:
        return memory(called, inputs, question)
    except Exception:  # noqa: BLE001 - what decides has been answered; a count is information
        return None
