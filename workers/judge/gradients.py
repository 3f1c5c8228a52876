"""A workload's gradients, once its outputs are right: what the submission's backward pass gives, and what it costs."""

from __future__ import annotations

import dataclasses

import numpy as np

from app.domain.report import OutputResult, Severity, StageName, StageStatus, Verdict, WorkloadResult
from app.domain.task import Workload
from workers.judge import numerics
from workers.judge.answers import Draw, Gradients, is_floating, output_names
from workers.judge.calls import Caller, NotRun, Returned
from workers.judge.correctness import AS_GOOD, Correctness, WorkloadRun
from workers.judge.cotangents import gradient_name
from workers.judge.health import largest_difference
from workers.judge.received import Leaf


class WithGradients(Correctness):
    """`Correctness`, and gradients where the task asks for them."""

    def judge(self, caller: Caller, workload: Workload) -> WorkloadRun:
        run = super().judge(caller, workload)
        asked = self.answers.gradients.get(workload.name)
        if asked is None:
            return run
        if not run.ok:
            self.notebook.not_checked.append(f"gradients on `{workload.name}`: its outputs are wrong already")
            return run
        try:
            self._differentiate(caller, run, asked)
        except NotRun as error:
            if error.fatal:
                raise
            self._row(run, StageStatus.FAILED if error.measured else StageStatus.NOT_MEASURED, reason=str(error)[:300])
            run.ok = False
        return run

    def _differentiate(self, caller: Caller, run: WorkloadRun, asked: Gradients) -> None:
        draw = self.answers.draws[run.workload.name][0]
        returned, gradients = caller.differentiate(run.workload, draw, asked)
        run.differentiated = returned
        run.ok = self.compare(run, returned, draw, "with gradients")
        if not run.ok:
            return
        self._note_unexamined()
        got, expected = gradients.leaves(), _expected(asked, draw)
        if len(got) != len(expected):
            self._wrong("numerics.wrong_shape", Verdict.WRONG_SHAPE, run.workload, f"{len(got)} gradients came back")
            self._row(run, StageStatus.FAILED)
        elif missing := self._missing(run, returned, asked, expected):
            self._wrong("gradients.missing", Verdict.WRONG_RESULT, run.workload, missing)
            self._row(run, StageStatus.FAILED, reason=missing)
        else:
            pairs = zip(asked.names, got, expected, strict=True)
            self._compare_all([self._compare_one(name, g, e, run.workload) for name, g, e in pairs], run)
            self._note_memory(run, returned, asked)
        gradients.close()

    def _missing(
        self, run: WorkloadRun, returned: Returned, asked: Gradients, expected: list[numerics.Expected]
    ) -> str:
        """What has no gradient although the reference's has one; "" where nothing is missing."""
        leaves = self.answers.draws[run.workload.name][0].native.leaves()
        names = [n for n, leaf in zip(output_names(len(leaves)), leaves, strict=True) if _has_gradient(leaf)]
        cut_off = [names[n] for n in returned.facts.get("detached") or [] if 0 <= n < len(names)]
        if cut_off:
            return f"`{cut_off[0]}` is cut off from the inputs: it has no grad_fn, and so no gradient"
        unreached = returned.facts.get("unreached") or []
        for name, position, e in zip(asked.names, asked.positions, expected, strict=True):
            if position in unreached and bool(np.any(e.native)):
                return f"no gradient reaches `{name}`"
        return ""

    def _compare_all(self, results: list[OutputResult], run: WorkloadRun) -> None:
        run.ok = all(result.ok for result in results)
        self._row(run, StageStatus.PASSED if run.ok else StageStatus.FAILED, tuple(results))

    def _compare_one(self, name: str, got: Leaf, expected: numerics.Expected, workload: Workload) -> OutputResult:
        output, want = gradient_name(name), expected.native
        if got.array.shape != want.shape or got.array.dtype != want.dtype:
            message = f"`{output}` is {got.array.dtype.name}{got.array.shape}, not {want.dtype.name}{want.shape}"
            self._wrong("numerics.wrong_shape", Verdict.WRONG_SHAPE, workload, message)
            return OutputResult(output, got.array.shape, got.array.dtype.name, False, "shape", int(want.size))
        compared = self.compare_values(output, got.array, expected)
        if not compared.ok and output not in self.bundle.spec.tolerance.per_output:
            compared = self._as_good_as_the_reference(compared, got.array, expected)
        if not compared.ok:
            self._note_values(compared, workload)
        return dataclasses.replace(compared, expected_shape=want.shape, expected_dtype=want.dtype.name)

    def _as_good_as_the_reference(
        self, compared: OutputResult, array: np.ndarray, expected: numerics.Expected
    ) -> OutputResult:
        """A tolerance that was set for outputs may be far too narrow for gradients, which have sizes of their own."""
        if expected.oracle is None:
            return compared
        model = self.bundle.spec.tolerance.accumulate
        own = numerics.Tolerance(AS_GOOD * largest_difference(expected.native, expected.oracle), 0.0, None)
        again = numerics.compare(compared.name, array, expected, own, accumulate=model)
        if again.ok:
            return dataclasses.replace(again, decided_by="reference_error")
        if expected.sensitivity is None:
            return compared
        budgeted = numerics.compare(compared.name, array, expected, own, vacuous=True, accumulate=model)
        return budgeted if budgeted.ok else compared

    def _row(
        self, run: WorkloadRun, status: StageStatus, outputs: tuple[OutputResult, ...] = (), reason: str | None = None
    ) -> None:
        if status is StageStatus.FAILED:
            run.ok = False
        workload = run.workload
        self.notebook.workloads.append(
            WorkloadResult(workload.name, "gradients", status, outputs, None, reason, workload.hidden, 1)
        )

    def _note_memory(self, run: WorkloadRun, returned: Returned, asked: Gradients) -> None:
        name, needs = run.workload.name, returned.facts.get("memory") or {}
        if not needs:
            self.notebook.not_checked.append(f"memory of the backward pass on `{name}`: the counting pass failed")
            return
        words = (
            ("saved_bytes", "saves"),
            ("saved_beyond_inputs_bytes", "of these beyond inputs"),
            ("peak_bytes", "peak"),
        )
        told = ", ".join(
            f"{word} {_size(needs.get(key))} (reference {_size(asked.memory.get(key))})" for key, word in words
        )
        self.notebook.note(
            "gradients.memory", Severity.INFO, StageName.CORRECTNESS, f"for the backward pass on `{name}` it {told}",
            workload=name, evidence={"candidate": needs, "reference": asked.memory},
        )  # fmt: skip

    def _note_unexamined(self) -> None:
        if self.bundle.spec.policy.library_calls == "forbidden":
            self.notebook.not_checked.append("whether the backward pass does its work in kernels of its own")


def _expected(asked: Gradients, draw: Draw) -> list[numerics.Expected]:
    if draw.oracle is None:  # float64 was found to be another function
        asked.draw.drop_oracle()
    return asked.draw.expected()


def _has_gradient(leaf: Leaf) -> bool:
    return leaf.kind == "torch" and is_floating(leaf.array) and leaf.array.dtype.kind != "c"


def _size(count: int | None) -> str:
    if count is None:
        return "not known"
    return f"{count} B" if count < 10_000 else f"{count / 2**20:.3g} MiB"
