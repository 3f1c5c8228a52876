"""The task's module and what is asked of it: draw inputs, answer natively and in float64, check."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from workers.reference.families import filled, laid_out
from workers.reference.gradients import Gradients
from workers.reference.noise import is_floating
from workers.reference.sensitivity import Sensitivity, Stopwatch, measure
from workers.reference.state import State, argument_names, bound

TASK_FOLDER = "/task"


class NoSuchFunction(Exception):
    """`reference.py` lacks a function that every task has."""


class TaskBench:
    """One task in one process.  Inputs stay here by slot, so that the reference sees them as they were drawn."""

    def __init__(self, folder: str = TASK_FOLDER) -> None:
        self.module = _load(Path(folder) / "reference.py")
        for name in ("make_inputs", "reference"):
            if not callable(getattr(self.module, name, None)):
                raise NoSuchFunction(f"reference.py defines no function {name!r}")
        self.drawn: dict[str, tuple[Any, ...]] = {}
        self.states: dict[str, State] = {}  # by slot, where the task has weights
        self.asked: dict[str, Gradients] = {}  # by slot, where the task has gradients
        self.shares_inputs = False  # whether the last native answer lies in the memory of its inputs
        self.native_s = 0.0  # what it took

    def facts(self) -> dict[str, Any]:
        """What the judge wants to know of the module: argument names and which optional functions exist."""
        names = argument_names(self.module.reference)
        optional = {name: callable(getattr(self.module, name, None)) for name in ("oracle", "check", "make_state")}
        return {"arguments": names, "versions": _versions(), **optional}

    def draw(self, slot: str, seed: int, params: dict[str, Any], state_seed: int | None = None) -> tuple[Any, ...]:
        """Inputs, and with `state_seed` the weights that go with them."""
        self.states.pop(slot, None)
        self.asked.pop(slot, None)
        if state_seed is not None:
            self.states[slot] = State.of(self.module.make_state(seed=state_seed, **params))
        inputs = self.module.make_inputs(seed=seed, **params)
        self.drawn[slot] = tuple(inputs) if isinstance(inputs, list | tuple) else (inputs,)
        return self.drawn[slot]

    def native(self, slot: str, in_place: list[int]) -> Any:
        """The reference's answer on copies; the in-place inputs when it returns None."""
        inputs, watch = _map(_copy, self.drawn[slot]), Stopwatch()
        answer = _answer(self._bound(self.module.reference, slot, _copy), inputs, in_place)
        self.native_s = watch.seconds()
        self.shares_inputs = bool(_addresses(answer) & _addresses(inputs))
        return answer

    def idle_weights(self, slot: str, in_place: list[int]) -> list[str]:
        """Counters among the weights that no answer depends on, as seen by counting on; a submission may lack them.

        A batch norm counts its batches in one, for an average that few ask for.
        """
        state = self.states[slot]
        counters = state.counters()
        if not counters:
            return []
        other = State(state.init_args, state.tensors | {name: state.tensors[name] + 1 for name in counters})
        first, second = (
            _answer(bound(self.module.reference, one.changed(_copy)), _map(_copy, self.drawn[slot]), in_place)
            for one in (state, other)
        )
        return counters if _are_equal(first, second) else []

    def oracle(self, slot: str, in_place: list[int]) -> Any:
        """The answer in float64: the task's `oracle`, else the reference on float64 copies of floating inputs."""
        function = getattr(self.module, "oracle", None) or self.module.reference
        return _answer(self._bound(function, slot, _widen), _map(_widen, self.drawn[slot]), in_place)

    def _bound(self, function: Callable[..., Any], slot: str, change: Callable[[Any], Any]) -> Callable[..., Any]:
        """The function with the slot's weights, each of them changed; itself where the task has none."""
        state = self.states.get(slot)
        return bound(function, state.changed(change)) if state else function

    def _inherit(self, slot: str, into: str) -> None:
        """Other inputs, the same weights."""
        self.states.pop(into, None)
        if slot in self.states:
            self.states[into] = self.states[slot]

    def sensitivity(self, slot: str, in_place: list[int], seed: int, seconds: float) -> Sensitivity | None:
        """How the float64 answer reacts to rounding, as `workers.reference.sensitivity` measures it."""
        function = getattr(self.module, "oracle", None) or self.module.reference
        state = self.states.get(slot)

        def answer(given: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
            inputs, weights = given
            return _answer(bound(function, State(state.init_args, weights)) if state else function, inputs, in_place)

        operands = self.drawn[slot], state.tensors if state else {}  # weights are rounded like inputs
        return measure(answer, lambda change: _map(lambda leaf: change(_widen(leaf)), operands), seed, seconds)

    def gradients(self, slot: str) -> Gradients:
        """What is asked of gradients at the inputs of `slot`, once its cotangents have been drawn."""
        if slot not in self.asked:
            wide = getattr(self.module, "oracle", None) or self.module.reference
            self.asked[slot] = Gradients(
                self._bound(self.module.reference, slot, _copy),
                self._bound(wide, slot, _widen),
                lambda: _map(_copy, self.drawn[slot]),
                lambda change: _map(lambda leaf: change(_widen(leaf)), self.drawn[slot]),
            )
        return self.asked[slot]

    def redraw(self, slot: str, into: str, seed: int, relative: float = 0.0) -> bool:
        """Other values in the same shapes: floating inputs are scaled and shifted at random, the rest stays.

        With `relative` they are only disturbed by as much, in float64, to see what that does to the answer.
        False when no input could be redrawn.
        """
        generator = np.random.default_rng(seed)
        changes: list[bool] = []

        def change(value: Any) -> Any:
            other = _disturbed(value, generator, relative) if relative else _redrawn(value, generator)
            changes.append(other is not value)
            return other

        self._inherit(slot, into)
        self.drawn[into] = _map(change, self.drawn[slot])
        return any(changes)

    def vary(self, slot: str, into: str, seed: int, *, family: str, layout: str) -> tuple[tuple[Any, ...], bool]:
        """Inputs with a family's values or in another layout ("": as they are), and whether any is another now."""
        random = np.random.default_rng(seed)
        changed: list[bool] = []

        def change(leaf: Any) -> Any:
            other = filled(leaf, family, random) if family else leaf
            other = laid_out(other, layout) if layout else other
            changed.append(other is not leaf)
            return other

        self._inherit(slot, into)
        self.drawn[into] = _map(change, self.drawn[slot])
        return self.drawn[into], any(changed)

    def replace(self, slot: str, into: str, values: list[Any]) -> None:
        """The inputs of `slot`, and then its weights, with other values in place of the floating leaves, in order."""
        others = iter(values)

        def change(leaf: Any) -> Any:
            return next(others) if is_floating(leaf) else leaf

        self._inherit(slot, into)
        self.drawn[into] = _map(change, self.drawn[slot])
        if state := self.states.get(slot):
            weights = _map(change, state.to_value())
            self.states[into] = State(weights["init_args"], weights["state"])

    def check(self, inputs: Any, outputs: Any, expected: Any) -> tuple[bool, str]:
        """The task's own semantic check; raises `TypeError` for an answer that is no (ok, message) pair."""
        verdict = self.module.check(inputs, outputs, expected)
        ok, message = verdict
        return bool(ok), str(message)[:2000]


def _load(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["reference"] = module
    spec.loader.exec_module(module)
    return module


def _answer(function: Callable[..., Any], inputs: tuple[Any, ...], in_place: list[int]) -> Any:
    result = function(*inputs)
    if result is None and in_place:
        changed = tuple(inputs[n] for n in in_place)
        return changed[0] if len(changed) == 1 else changed
    return result


def _map(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_map(change, item) for item in value)
    if isinstance(value, dict):
        return {key: _map(change, item) for key, item in value.items()}
    return change(value)


def _are_equal(a: Any, b: Any) -> bool:
    """Whether two answers are the same to the bit, for all that can be told: a NaN is not."""
    torch = _torch()
    leaves: tuple[list[Any], list[Any]] = ([], [])
    for answer, found in zip((a, b), leaves, strict=True):
        _map(found.append, answer)
    return len(leaves[0]) == len(leaves[1]) and all(
        torch.equal(x, y) if _is_torch(x) and _is_torch(y) else bool(np.all(x == y))
        for x, y in zip(*leaves, strict=True)
    )


def _torch() -> Any:
    return sys.modules.get("torch")


def _is_torch(value: Any) -> bool:
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


LARGE_BYTES = 256 << 20


def _copy(value: Any) -> Any:
    """A copy that keeps strides; large tensors are handed over as they are (their pages may be holes)."""
    if _is_torch(value):
        if value.untyped_storage().nbytes() > LARGE_BYTES:
            return value
        return _strided_clone(value)
    return value.copy() if isinstance(value, np.ndarray) and value.nbytes <= LARGE_BYTES else value


def _strided_clone(value: Any) -> Any:
    torch = _torch()
    base = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage().clone())
    return base.set_(base.untyped_storage(), value.storage_offset(), value.shape, value.stride())


def _widen(value: Any) -> Any:
    torch = _torch()
    if _is_torch(value):
        if value.is_floating_point():
            return value.to(torch.float64)
        return value.to(torch.complex128) if value.is_complex() else _copy(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" or value.dtype.name.startswith(("bfloat", "float")):
            return value.astype(np.float64)
        return value.astype(np.complex128) if value.dtype.kind == "c" else _copy(value)
    return value


def _redrawn(value: Any, generator: np.random.Generator) -> Any:
    torch = _torch()
    if _is_torch(value) and value.is_floating_point() and 0 < value.untyped_storage().nbytes() <= LARGE_BYTES:
        factors = torch.from_numpy(generator.uniform(0.5, 1.5, tuple(value.shape)))
        wide = value.to(torch.float64) * factors + torch.from_numpy(generator.uniform(-0.1, 0.1, tuple(value.shape)))
        changed = _strided_clone(value)
        return changed.copy_(wide.to(value.dtype))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.nbytes <= LARGE_BYTES:
        noise = generator.uniform(-0.1, 0.1, value.shape)
        return (value.astype(np.float64) * generator.uniform(0.5, 1.5, value.shape) + noise).astype(value.dtype)
    return value


def _disturbed(value: Any, generator: np.random.Generator, relative: float) -> Any:
    wide = _widen(value)
    if wide is value or not (_is_torch(wide) or isinstance(wide, np.ndarray)) or "float" not in str(wide.dtype):
        return value
    factors = 1 + relative * generator.uniform(-1, 1, tuple(wide.shape))
    return wide * (_torch().from_numpy(np.asarray(factors)) if _is_torch(wide) else factors)


def _addresses(value: Any) -> set[int]:
    """Where the storages of the tensors in `value` begin."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return {address for item in value for address in _addresses(item)}
    if _is_torch(value):
        return {value.untyped_storage().data_ptr()} - {0}
    if isinstance(value, np.ndarray) and value.size:
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        return {root.__array_interface__["data"][0]}
    return set()


def _versions() -> dict[str, str]:
    loaded = ("torch", "numpy", "triton", "jax")
    return {name: str(getattr(sys.modules[name], "__version__", "")) for name in loaded if name in sys.modules}
