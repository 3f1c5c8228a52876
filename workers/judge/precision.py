"""What a format costs a task: its reference on inputs rounded to that format, beside its float64 answer.

The judge rounds (`numerics.quantisation`); the reference's sandbox only answers at the values that it is sent.
Two kinds of rows: the **inputs** are rounded and the arithmetic stays float64, the least that a kernel in this
format loses; **throughout**, the reference runs in the format itself, every operator rounding its result, which
adds what intermediate values lose (fp32, bf16 and fp16: the formats that frameworks compute in; inside one
operator the framework adds up as it pleases, mostly in fp32).  Outputs are rounded to the dtype that the
task returns, and judged as a candidate's are.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from app.domain.report import Finding, OutputResult
from app.domain.task import TaskBundle, TaskError, Workload, read_bundle
from workers.judge import numerics
from workers.judge.answers import (
    LARGE_BYTES,
    Answers,
    Draw,
    in_place_positions,
    is_floating,
    output_names,
)
from workers.judge.correctness import Correctness
from workers.judge.downgrade import is_downgraded
from workers.judge.faults import EngineFault
from workers.judge.foreign import IMPORT_SECONDS, ForeignProcess, Raised, start_reference
from workers.judge.gathering import gather
from workers.judge.notebook import Notebook
from workers.judge.numerics.budget import accumulator_for
from workers.judge.numerics.formats import float_format, is_exact
from workers.judge.numerics.quantisation import BF16, FORMATS, FP16, FP32, ValueFormat, quantised, rounded_to
from workers.judge.reader import Reader
from workers.judge.received import ANSWER, Leaf, Received
from workers.judge.seeds import Seeds
from workers.sandbox import Sandboxes, SandboxUnavailable
from workers.wire import storage
from workers.wire.values import NotAValue, TensorSpec

ARITHMETIC: dict[ValueFormat, np.dtype[Any]] = {
    FP32: np.dtype(np.float32),
    BF16: np.dtype(ml_dtypes.bfloat16),
    FP16: np.dtype(np.float16),
}


BY_CHECK = "the task's own check decides"


class Shows(enum.StrEnum):
    """What becomes of a kernel that secretly works in the format."""

    AS_DECLARED = "as declared"  # its inputs lose nothing, or it computes as the reference or the accumulator does
    REFUSED = "refused"
    WARNED = "warned"  # accepted, with `numerics.precision_downgrade`
    HIDDEN = "hidden"
    UNKNOWN = "unknown"  # the reference does not run so, or the task's own check would decide


@dataclass(frozen=True)
class Cost:
    """One output on one workload under one format; errors as in `OutputResult`, in the output's unit or its ulp."""

    workload: str
    output: str
    dtype: str
    shows: Shows
    elements: int = 0
    outside: int = 0
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    normalised_rms: float | None = None
    max_ulp: float | None = None
    budget_ratio: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """One format, `throughout` or for the inputs alone, over all outputs and workloads."""

    form: ValueFormat
    throughout: bool
    costs: tuple[Cost, ...]

    @property
    def name(self) -> str:
        return f"{self.form.name} throughout" if self.throughout else self.form.name

    @property
    def shows(self) -> Shows:
        """Of all outputs and workloads together: one that gives the kernel away is enough."""
        found = {cost.shows for cost in self.costs}
        return next(
            (s for s in (Shows.REFUSED, Shows.UNKNOWN, Shows.WARNED, Shows.HIDDEN) if s in found), Shows.AS_DECLARED
        )

    @property
    def is_enough(self) -> bool:
        """Whether every output on every workload would be accepted."""
        return bool(self.costs) and self.shows not in (Shows.REFUSED, Shows.UNKNOWN)


@dataclass(frozen=True)
class Survey:
    bundle: TaskBundle
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...]  # workloads that were not tried, with the reason
    undecided: str  # why no format can be said to be enough; empty where that can be said
    rounds_outputs: bool

    def narrowest(self) -> Row | None:
        """The format of fewest bits that is enough for the inputs; `None` where none is, or none can be said to be."""
        if self.undecided:
            return None
        return min((r for r in self.rows if r.is_enough and not r.throughout), key=lambda r: r.form.bits, default=None)

    def hidden(self) -> list[str]:
        """The rows that lose something and are accepted everywhere without a warning."""
        return [r.name for r in self.rows if r.shows is Shows.HIDDEN]


def survey(
    task_folder: Path, sandboxes: Sandboxes, *, workloads: tuple[str, ...] = (), outputs: bool = False
) -> Survey:
    """Run the reference once for every format and workload.

    `outputs`: round them to the format too, before they are rounded to the task's dtype.
    Raises `TaskError` for a bundle that cannot be read or lacks such a workload, `TaskFault` where no
    answer could be judged, `EngineFault` for our own failures.
    """
    bundle, notebook, seeds = read_bundle(task_folder.resolve()), Notebook(), Seeds.fresh()
    chosen = _chosen(bundle, workloads)
    try:
        with start_reference(sandboxes, bundle) as process:
            answers = gather(process, bundle, chosen, seeds, notebook)
            try:
                return _survey(_Study(process, bundle, answers, seeds, outputs), chosen, notebook)
            finally:
                answers.close()
    except SandboxUnavailable as error:
        raise EngineFault(str(error)) from error


def _survey(study: _Study, chosen: list[Workload], notebook: Notebook) -> Survey:
    draws = {w.name: study.answers.draws[w.name][0] for w in chosen}
    small = [w for w in chosen if draws[w.name].inputs.total_bytes() <= LARGE_BYTES]
    left_out = tuple(f"{w.name}: its inputs are too large" for w in chosen if w not in small)
    kinds = [(form, False) for form in FORMATS] + [(form, True) for form in ARITHMETIC]
    found: dict[tuple[ValueFormat, bool], list[Cost]] = {kind: [] for kind in kinds}
    for workload in small:
        study.restore(workload, draws[workload.name])
        for kind in kinds:
            found[kind] += study.costs(workload.name, draws[workload.name], *kind)
    rows = tuple(Row(*kind, tuple(costs)) for kind, costs in found.items())
    undecided = study.undecided([draws[w.name] for w in small])
    return Survey(study.bundle, rows, tuple(notebook.findings), left_out, undecided, study.rounds_outputs)


def _chosen(bundle: TaskBundle, names: tuple[str, ...]) -> list[Workload]:
    known = [w for w in bundle.spec.workloads if w.runs_on == "any"]
    if unknown := set(names) - {w.name for w in known}:
        raise TaskError(f"no workload that runs here is named {', '.join(sorted(unknown))}")
    return [w for w in known if not names or w.name in names]


class _Study:
    """One task's reference and its answers."""

    def __init__(
        self, process: ForeignProcess, bundle: TaskBundle, answers: Answers, seeds: Seeds, rounds_outputs: bool
    ) -> None:
        self.process, self.bundle, self.answers = process, bundle, answers
        self.seeds, self.rounds_outputs = seeds, rounds_outputs
        self.in_place = in_place_positions(bundle, answers.arguments)
        self.timeout_s = bundle.spec.limits.seconds + IMPORT_SECONDS
        self.judge = Correctness(bundle, answers, Notebook())

    def restore(self, workload: Workload, draw: Draw) -> None:
        """Put a workload's inputs back into their slot, which the workloads after it have taken."""
        reader = Reader(self.process, self.bundle, workload, self.seeds, self.answers, own_oracle=False)
        reader.drawn = [draw]
        reader.redraw()

    def undecided(self, draws: list[Draw]) -> str:
        """Why nothing can be said of what the task needs."""
        if self.answers.has_check:
            return BY_CHECK
        return "" if any(_floating(draw) for draw in draws) else "no input that could be rounded"

    def costs(self, workload: str, draw: Draw, form: ValueFormat, throughout: bool) -> Iterator[Cost]:
        """Of every output."""
        floating = _floating(draw)
        values = [_rounded(leaf.array, form) for leaf in floating]
        lossless = all(map(_same, values, floating)) and not self.rounds_outputs
        expected = draw.expected()
        wanted = list(zip(output_names(len(expected)), expected, strict=True))
        try:
            got = self._answer(draw, floating, values, ARITHMETIC[form] if throughout else None)
        except (Raised, NotAValue) as error:
            if isinstance(error, Raised) and error.ended is not None:
                raise
            reason = error.sentence if isinstance(error, Raised) else str(error)
            for name, e in wanted:
                yield Cost(
                    workload, name, e.native.dtype.name, Shows.UNKNOWN, reason=f"does not run so: {reason[:200]}"
                )
            return
        for (name, e), array in zip(wanted, got, strict=True):
            declared = self._is_declared(form, e, floating) if throughout else lossless
            yield self._cost(workload, name, e, self._finished(array, e, form), declared)

    def _is_declared(self, form: ValueFormat, expected: numerics.Expected, floating: list[Leaf]) -> bool:
        """Whether the reference itself runs in the format, or its accumulator is no better."""
        dtype = ARITHMETIC[form]
        accumulator = accumulator_for(self.bundle.spec.tolerance.accumulate, expected.native.dtype)
        is_own = all(leaf.array.dtype == dtype for leaf in floating)
        return is_own or float_format(dtype).unit_roundoff <= accumulator.u_acc

    def _answer(
        self, draw: Draw, floating: list[Leaf], values: list[NDArray[Any]], dtype: np.dtype[Any] | None
    ) -> list[NDArray[Any]]:
        """The outputs on these inputs: in float64, or computed in `dtype`."""
        op = "oracle" if dtype is None and draw.oracle is not None else "native"
        if op == "native":
            values = [v.astype(_kept(leaf, dtype)) for v, leaf in zip(values, floating, strict=True)]
        message, fds = _packed(values, [leaf.kind for leaf in floating])
        try:
            self.process.ask("replace", fds, slot="0", into="rounded", values=message, timeout_s=self.timeout_s)
        finally:
            storage.close_all(fds)
        answer = self.process.receive(op, slot="rounded", in_place=self.in_place, timeout_s=self.timeout_s, room=ANSWER)
        return self._copied(answer, draw)

    def _copied(self, answer: Received, draw: Draw) -> list[NDArray[Any]]:
        natives, leaves = draw.native.leaves(), answer.leaves(like=draw.native)
        try:
            if [leaf.array.shape for leaf in leaves] != [leaf.array.shape for leaf in natives]:
                raise NotAValue("the reference returns other shapes")
            return [leaf.array.copy() for leaf in leaves]
        finally:
            answer.close()

    def _finished(self, array: NDArray[Any], expected: numerics.Expected, form: ValueFormat) -> NDArray[Any]:
        """As a kernel would have stored it."""
        dtype = expected.native.dtype
        if is_exact(dtype):
            return array.astype(dtype)
        if self.rounds_outputs:
            array = _rounded(array, form)
        if dtype.kind == "c":
            return array.astype(dtype)
        return rounded_to(array.astype(np.float64), float_format(dtype)).astype(dtype)

    def _cost(self, workload: str, name: str, expected: numerics.Expected, got: NDArray[Any], declared: bool) -> Cost:
        result = self.judge.compare_values(name, got, expected)
        return Cost(
            workload=workload,
            output=name,
            dtype=result.dtype,
            shows=Shows.UNKNOWN if self.answers.has_check else _shows(result, declared),
            elements=result.elements,
            outside=result.mismatched,
            max_abs_error=result.max_abs_error,
            max_rel_error=result.max_rel_error,
            normalised_rms=result.normalised_rms,
            max_ulp=result.max_ulp,
            budget_ratio=result.budget_ratio,
            reason=BY_CHECK if self.answers.has_check else "",
        )


def _floating(draw: Draw) -> list[Leaf]:
    """Of the inputs, then of the weights."""
    return [leaf for leaf in draw.operands() if leaf.kind != "python" and is_floating(leaf.array)]


def _shows(result: OutputResult, declared: bool) -> Shows:
    if not result.ok:
        return Shows.REFUSED
    if declared:
        return Shows.AS_DECLARED
    return Shows.WARNED if is_downgraded(result) else Shows.HIDDEN


def _rounded(array: NDArray[Any], form: ValueFormat) -> NDArray[Any]:
    if array.dtype.kind != "c":
        return quantised(array, form)
    return quantised(array.real, form) + 1j * quantised(array.imag, form)


def _same(values: NDArray[Any], leaf: Leaf) -> bool:
    return np.array_equal(values, leaf.array.astype(values.dtype), equal_nan=True)


def _kept(leaf: Leaf, dtype: np.dtype[Any] | None) -> np.dtype[Any]:
    """Complex inputs have no narrow dtype."""
    return leaf.array.dtype if dtype is None or leaf.array.dtype.kind == "c" else dtype


def _packed(arrays: list[NDArray[Any]], kinds: list[str]) -> tuple[dict[str, Any], list[int]]:
    """A list of tensors as the wire has it, contiguous, a storage each; the caller closes the descriptors."""
    items, fds = [], []
    for n, (array, kind) in enumerate(zip(arrays, kinds, strict=True)):
        plain = np.ascontiguousarray(array).reshape(array.shape)
        raw = plain.reshape(-1).view(np.uint8)
        fds.append(storage.create(raw.size))
        storage.write(fds[-1], raw.data, raw.__array_interface__["data"][0])
        strides = tuple(s // plain.itemsize for s in plain.strides)
        items.append(TensorSpec(kind, plain.dtype.name, plain.shape, strides, 0, n).to_json())
    return {"manifest": {"list": items}, "storages": [array.nbytes for array in arrays]}, fds
