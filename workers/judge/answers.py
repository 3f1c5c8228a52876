"""Inputs and expected answers of every workload, drawn before the candidate runs and kept from it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.domain.report import Severity, StageName, Verdict
from app.domain.task import TaskBundle, Workload
from workers.judge import numerics
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised
from workers.judge.notebook import Notebook
from workers.judge.numerics.chunks import MeanSquare, chunks
from workers.judge.received import ANSWER, Leaf, Received
from workers.judge.rounding import Rounding, ask_rounding
from workers.judge.seeds import Seeds
from workers.wire.values import NotAValue

LARGE_BYTES = 256 << 20
ALL_ANSWERS_BYTES = 16 << 30  # they are kept until the end
ROUNDING_UP_TO_SECONDS, ROUNDING_UP_TO_BYTES = 0.5, 64 << 20
LONGEST_SUM = 4096  # of the rounding errors that a disagreement is excused with


@dataclass
class Draw:
    """One set of inputs with its answers: `native` as the reference returned it, `oracle` in float64."""

    inputs: Received
    native: Received
    oracle: Received | None
    seed: int  # of the inputs; the candidate is never told
    call_seed: int  # of the generators in the candidate's process
    rounding: Rounding = field(default_factory=lambda: Rounding("not asked for"))
    systematic: bool = False  # whether rounding errors add up on these inputs

    def expected(self) -> list[numerics.Expected]:
        """Per output: the native array, its oracle (None where there is none), and what its error budget needs."""
        natives = self.native.leaves()
        oracles: list[Leaf | None] = list(self.oracle.leaves()) if self.oracle else [None] * len(natives)
        if len(oracles) != len(natives) or any(
            o is not None and o.array.shape != n.array.shape for o, n in zip(oracles, natives, strict=True)
        ):
            oracles = [None] * len(natives)
        bound = max((leaf.array.size for leaf in self.inputs.leaves()), default=1)
        scales = self.rounding.matching([n.array for n in natives])
        return [
            numerics.Expected(
                n.array, _float64(o.array) if o else None, max(1, self.rounding.length or bound),
                s, self.systematic, self.rounding.basis,
            )
            for n, o, s in zip(natives, oracles, scales, strict=True)
        ]  # fmt: skip

    def drop_oracle(self) -> None:
        if self.oracle is not None:
            self.oracle.close()
        self.oracle = None

    def answer_bytes(self) -> int:
        return sum(r.total_bytes() for r in (self.native, self.oracle, self.rounding.scales) if r is not None)

    def close(self) -> None:
        self.drop_oracle()
        self.rounding.close()
        self.inputs.close()
        self.native.close()


@dataclass
class Answers:
    """Everything the task's own code said.  `draws[workload]` holds one or two draws."""

    arguments: list[str] = field(default_factory=list)
    has_check: bool = False
    draws: dict[str, list[Draw]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    vacuous: dict[str, bool] = field(default_factory=dict)

    def check_size(self) -> None:
        """Raises `NotAValue` when there is more than can be kept."""
        if sum(draw.answer_bytes() for draw in itertools.chain.from_iterable(self.draws.values())) > ALL_ANSWERS_BYTES:
            raise NotAValue(f"all answers together have more than {ALL_ANSWERS_BYTES >> 30} GiB")

    def close(self) -> None:
        for draw in itertools.chain.from_iterable(self.draws.values()):
            draw.close()


class TaskFault(Exception):
    """No answer to this task could be judged; it has been noted."""


def output_names(count: int) -> list[str]:
    return ["out"] if count == 1 else [f"out{n}" for n in range(count)]


def in_place_positions(bundle: TaskBundle, arguments: list[str]) -> list[int]:
    return [arguments.index(name) for name in bundle.spec.policy.in_place if name in arguments]


def gather(
    process: ForeignProcess, bundle: TaskBundle, workloads: list[Workload], seeds: Seeds, notebook: Notebook
) -> Answers:
    """Ask the reference for everything at once; raises `TaskFault` where no answer could be judged."""
    answers = Answers()
    try:
        try:
            facts = process.ask("load", timeout_s=IMPORT_SECONDS)
        except Raised as raised:
            raise _fault(notebook, raised, None) from raised
        answers.arguments, answers.has_check = facts.get("arguments", []), bool(facts.get("check"))
        answers.versions = facts.get("versions", {})
        own_oracle, moved, readers = bool(facts.get("oracle")), [], {}
        for workload in workloads:
            readers[workload.name] = reader = _Reader(process, bundle, workload, seeds, answers, own_oracle)
            try:
                answers.draws[workload.name] = reader.draws()
                answers.check_size()
                moved.append(reader.moves())
            except Raised as raised:
                raise _fault(notebook, raised, workload) from raised
            except NotAValue as error:
                raise _unusable(notebook, str(error), workload) from error
        _check_health(answers, bundle, moved, readers, notebook)
    except BaseException:
        answers.close()
        raise
    return answers


class _Reader:
    """Draws one workload's inputs and answers."""

    def __init__(
        self,
        process: ForeignProcess,
        bundle: TaskBundle,
        workload: Workload,
        seeds: Seeds,
        answers: Answers,
        own_oracle: bool,
    ) -> None:
        self.process, self.workload, self.seeds = process, workload, seeds
        self.in_place = in_place_positions(bundle, answers.arguments)
        self.timeout_s = bundle.spec.limits.seconds + IMPORT_SECONDS
        self.own_oracle = own_oracle
        self.drawn: list[Draw] = []

    def draws(self) -> list[Draw]:
        first = self._draw(0)
        self.drawn.append(first)
        if first.inputs.total_bytes() <= LARGE_BYTES:
            second = self._draw(1)
            if second.inputs.same_values(first.inputs):
                second.close()  # make_inputs ignores the seed: there is one set of values only
            else:
                self.drawn.append(second)
        return self.drawn

    def _draw(self, n: int) -> Draw:
        seed, slot = self.seeds.of(self.workload.name, "task", n), str(n)
        params, limit = dict(self.workload.params), self.timeout_s
        inputs = self.process.receive("draw", seed=seed, params=params, slot=slot, timeout_s=limit)
        start = time.monotonic()
        native = self.process.receive("native", in_place=self.in_place, slot=slot, timeout_s=limit, room=ANSWER)
        native_s = time.monotonic() - start
        draw = Draw(inputs, native, self._oracle(native, slot), seed, self.seeds.of(self.workload.name, "candidate", n))
        draw.systematic = numerics.is_systematic([leaf.array for leaf in inputs.leaves()])
        if draw.oracle is not None:
            draw.rounding = self._rounding(draw, slot, native_s)
        return draw

    def _rounding(self, draw: Draw, slot: str, native_s: float) -> Rounding:
        """S and K of the error budget, where asking for them costs little."""
        if native_s > ROUNDING_UP_TO_SECONDS:
            return Rounding(f"guessed: the reference takes {native_s:.2f} s")
        if draw.inputs.total_bytes() > ROUNDING_UP_TO_BYTES:
            return Rounding(f"guessed: the inputs have {draw.inputs.total_bytes() >> 20} MiB")
        seed = self.seeds.of(self.workload.name, "rounding", int(slot))
        return ask_rounding(self.process, slot=slot, in_place=self.in_place, seed=seed, timeout_s=self.timeout_s)

    def _oracle(self, native: Received, slot: str) -> Received | None:
        if not any(_is_floating(leaf.array) for leaf in native.leaves()):
            return None  # integers and booleans have nothing to gain from float64
        try:
            return self.process.receive(
                "oracle", slot=slot, in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
            )
        except (Raised, NotAValue) as error:
            if isinstance(error, Raised) and error.ended is not None:
                raise
            return None  # a reference that insists on its dtype has no automatic oracle

    def sensitivity(self, relative: float) -> list[float]:
        """Per output, how far the float64 answer moves when the inputs are disturbed by `relative`; [] if unknown."""
        oracle, seed = self.drawn[0].oracle, self.seeds.of(self.workload.name, "disturb", 0)
        if oracle is None or self.drawn[0].inputs.total_bytes() > LARGE_BYTES:
            return []
        try:
            self.process.ask(
                "redraw", slot="0", into="disturbed", seed=seed, relative=relative, timeout_s=self.timeout_s
            )
            other = self.process.receive(
                "oracle", slot="disturbed", in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
            )
        except (Raised, NotAValue):
            return []
        pairs = zip(oracle.leaves(), other.leaves(), strict=False)
        moves = [largest_difference(a.array, b.array) for a, b in pairs]
        other.close()
        return moves

    def moves(self) -> bool | None:
        """Whether the output depends on the input values; None where no other values could be drawn."""
        first = [leaf.array for leaf in self.drawn[0].native.leaves()]
        if not any(array.size for array in first):
            return None
        if len(self.drawn) > 1:
            other = [leaf.array for leaf in self.drawn[1].native.leaves()]
            if _shapes(first) != _shapes(other) or numerics.moved(first, other):
                return True
        return self._moves_when_redrawn(first)

    def _moves_when_redrawn(self, first: list[np.ndarray]) -> bool | None:
        """Perturb the floating inputs; what the reference makes of them must differ."""
        tried = len(self.drawn) > 1
        if self.drawn[0].inputs.total_bytes() > LARGE_BYTES:
            return None
        for n in range(2):
            seed = self.seeds.of(self.workload.name, "redraw", n)
            try:
                told = self.process.ask("redraw", slot="0", into="redrawn", seed=seed, timeout_s=self.timeout_s)
                if not told.get("changed"):
                    break
                other = self.process.receive(
                    "native", slot="redrawn", in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER
                )
            except (Raised, NotAValue):
                return None  # values outside what the reference takes: nothing can be said
            arrays = [leaf.array for leaf in other.leaves()]
            if _shapes(first) != _shapes(arrays) or numerics.moved(first, arrays):
                return True
            tried = True
        return False if tried else None


def _check_health(
    answers: Answers, bundle: TaskBundle, moved: list[bool | None], readers: dict[str, _Reader], notebook: Notebook
) -> None:
    """The task faults that every evaluation looks for."""
    for name, draws in answers.draws.items():
        for draw in draws:
            _check_finite(draw, name, notebook)
    if moved and any(m is False for m in moved) and not any(m is not False for m in moved):
        notebook.note(
            "task.constant_output", Severity.ERROR, StageName.CORRECTNESS,
            "the reference returns the same values whatever the inputs are, so a constant passes",
            verdict=Verdict.INVALID_TASK,
        )  # fmt: skip
        raise TaskFault
    _check_oracles(answers, bundle, readers, notebook)
    if not answers.has_check:
        _check_tolerance(answers, bundle, notebook)


def _check_finite(draw: Draw, workload: str, notebook: Notebook) -> None:
    for output, leaf in zip(output_names(len(draw.native.leaves())), draw.native.leaves(), strict=True):
        if (
            leaf.array.size
            and _is_floating(leaf.array)
            and all(np.isnan(piece).all() for _, (piece,) in chunks(leaf.array))
        ):
            notebook.note(
                "task.reference_nonfinite", Severity.ERROR, StageName.CORRECTNESS,
                f"every element of the expected `{output}` is NaN on `{workload}`",
                verdict=Verdict.INVALID_TASK, workload=workload,
            )  # fmt: skip
            raise TaskFault


def _check_oracles(answers: Answers, bundle: TaskBundle, readers: dict[str, _Reader], notebook: Notebook) -> None:
    """Drop the oracle where float64 and native differ by more than rounding can explain."""
    public = [w.name for w in bundle.spec.workloads if not w.hidden] or [w.name for w in bundle.spec.workloads]
    for name in public:
        for draw in answers.draws.get(name, [])[:1]:
            coarsest = max(
                (_unit_roundoff(leaf.array.dtype) for leaf in draw.inputs.leaves() if _is_floating(leaf.array)),
                default=0.0,
            )
            worst = max((_disagreement(e, coarsest) for e in draw.expected()), default=0.0)
            if worst > 1 and not _ill_conditioned(draw, readers[name].sensitivity(coarsest)):
                notebook.note(
                    "task.oracle_disagrees", Severity.WARNING, StageName.CORRECTNESS,
                    f"the reference in float64 differs from itself in its own dtype by {worst:.3g} times what rounding"
                    f" explains on `{name}`; its native result is the truth here",
                    workload=name, evidence={"ratio": worst},
                )  # fmt: skip
                for dropped in itertools.chain.from_iterable(answers.draws.values()):
                    dropped.drop_oracle()
                return


def _ill_conditioned(draw: Draw, sensitivity: list[float]) -> bool:
    """Whether disturbing the inputs by their own rounding moves the answer as much: terms cancel, nothing is wrong."""
    expected = draw.expected()
    if len(sensitivity) != len(expected):
        return False
    for e, moved in zip(expected, sensitivity, strict=True):
        error = largest_difference(e.native, e.truth)
        if error > 4 * np.sqrt(min(e.reduction_length, LONGEST_SUM)) * moved:
            return False
    return True


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Over elements that are finite on both sides; infinite for other shapes."""
    if a.shape != b.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        return max((float(np.max(np.abs(x - y), initial=0.0)) for x, y in _finite_pieces(a, b)), default=0.0)


def _disagreement(expected: numerics.Expected, coarsest: float) -> float:
    """How far native and oracle are apart, in error budgets of the coarsest unit roundoff that took part."""
    if expected.oracle is None or not expected.native.size:
        return 0.0
    mean = MeanSquare()
    for truth, _ in _finite_pieces(expected.oracle, expected.native):
        mean.add(np.abs(truth))
    unit, worst = max(coarsest, _unit_roundoff(expected.native.dtype)), 0.0
    for truth, native in _finite_pieces(expected.oracle, expected.native):
        with np.errstate(all="ignore"):
            budget = 4 * unit * (np.abs(truth) + np.sqrt(expected.reduction_length) * mean.root)
            error = np.abs(native - truth)
            ratio = np.where(error > 0, error / np.where(budget > 0, budget, np.inf), 0.0)
        worst = max(worst, float(np.max(ratio, initial=0.0)))
    return worst


def _finite_pieces(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Both in double precision, a piece at a time, where both are finite: they may be as large as memory."""
    for _, (x, y) in chunks(a, b):
        left, right = _float64(x), _float64(y)
        both = np.isfinite(left) & np.isfinite(right)
        yield left[both], right[both]


def _check_tolerance(answers: Answers, bundle: TaskBundle, notebook: Notebook) -> None:
    """A tolerance under which zeros pass on every workload decides nothing: the budget decides in its place."""
    seen: dict[str, list[bool]] = {}
    for draws in answers.draws.values():
        expected = draws[0].expected()
        for output, e in zip(output_names(len(expected)), expected, strict=True):
            if e.native.size and _is_floating(e.native):
                seen.setdefault(output, []).append(numerics.is_vacuous(e, tolerance_of(bundle, output, e.native.dtype)))
    for output, flags in seen.items():
        answers.vacuous[output] = all(flags)
        if all(flags):
            notebook.note(
                "task.tolerance_vacuous", Severity.WARNING, StageName.CORRECTNESS,
                f"zeros would pass for `{output}` on every workload; the error budget decides in place of the tolerance",
            )  # fmt: skip


def tolerance_of(bundle: TaskBundle, output: str, dtype: np.dtype[Any]) -> numerics.Tolerance:
    """What the task grants `output`.

    Integers and booleans are exact unless the output has a table of its own or the task's atol allows
    a whole step: a relative tolerance meant for floating outputs would let large indices slip.
    """
    given, all_outputs = bundle.spec.tolerance.of(output), bundle.spec.tolerance
    if dtype.kind in "iub" and output not in all_outputs.per_output:
        step = given.atol if given.atol is not None and given.atol >= 1 else None
        return numerics.Tolerance(
            step, 0.0 if step is not None else None, None, all_outputs.special, all_outputs.budget
        )
    return numerics.Tolerance(given.atol, given.rtol, given.max_ulp, all_outputs.special, all_outputs.budget)


def _fault(notebook: Notebook, raised: Raised, workload: Workload | None) -> TaskFault:
    hangs = raised.kind == "time"
    where = f" on `{workload.name}`" if workload else ""
    notebook.note(
        "task.reference_hangs" if hangs else "task.reference_raises", Severity.ERROR, StageName.CORRECTNESS,
        f"the task's own code {'did not return in time' if hangs else 'failed'}{where}: {raised.sentence}",
        verdict=Verdict.INVALID_TASK, workload=workload.name if workload else None,
        evidence={"traceback": raised.facts.get("traceback", "")},
    )  # fmt: skip
    return TaskFault(raised.sentence)


def _unusable(notebook: Notebook, reason: str, workload: Workload) -> TaskFault:
    notebook.note(
        "task.reference_raises", Severity.ERROR, StageName.CORRECTNESS,
        f"the task's own code returned what cannot be judged on `{workload.name}`: {reason}",
        verdict=Verdict.INVALID_TASK, workload=workload.name,
    )  # fmt: skip
    return TaskFault(reason)


def _shapes(arrays: list[np.ndarray]) -> list[tuple[int, ...]]:
    return [array.shape for array in arrays]


def _is_floating(array: np.ndarray) -> bool:
    return array.dtype.kind in "fc" or array.dtype.name.startswith(("bfloat", "float"))


def _float64(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def _unit_roundoff(dtype: np.dtype[Any]) -> float:
    import ml_dtypes

    if dtype.kind in "iub":
        return 0.5
    real = np.dtype(np.float32) if dtype == np.complex64 else np.dtype(np.float64) if dtype == np.complex128 else dtype
    return float(ml_dtypes.finfo(real).eps) / 2  # type: ignore[no-untyped-call]
