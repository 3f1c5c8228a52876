"""`evaluate`: one task and one submission in, one report out.  The stages in order, on one page."""

from __future__ import annotations

import contextlib
import platform
import resource
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.domain.report import (
    EvidenceLevel,
    Location,
    Replay,
    Report,
    Scope,
    Severity,
    Stage,
    StageName,
    StageStatus,
    TaskIdentity,
    Tier,
    Verdict,
)
from app.domain.request import EvaluationRequest
from app.domain.task import TaskBundle, TaskError, Workload, read_bundle
from workers.judge import author_claims, integrity, named_rules, verdicts
from workers.judge.answers import Answers, TaskFault, in_place_positions
from workers.judge.artefacts import Artefacts
from workers.judge.calls import Caller, NotRun
from workers.judge.correctness import Correctness, WorkloadRun, not_run
from workers.judge.environments import is_for, with_environments
from workers.judge.faults import EngineFault, SubmissionError
from workers.judge.foreign import Raised, start_reference
from workers.judge.gathering import gather
from workers.judge.gradients import WithGradients
from workers.judge.inspection import forged_lines, inspect_python
from workers.judge.interventions import Interventions
from workers.judge.notebook import Notebook, Progress
from workers.judge.observations import memory_findings
from workers.judge.outside import look_outside
from workers.judge.own_kernel import own_kernel
from workers.judge.restartable import MAX_RESTARTS, GivenUp, Restartable
from workers.judge.seeds import Seeds
from workers.judge.semantic import run_checks
from workers.judge.submission import Submission, read_submission
from workers.judge.trust import refuse_untrusted
from workers.sandbox import Sandboxes, SandboxUnavailable

RUNS_HERE = ("torch", "triton")
MODES = {"torch": "host:torch", "triton": "interpreter:triton"}
NO_DEVICE = "not measured here: no device"
NEED_CALLS = (StageName.CORRECTNESS, StageName.INTEGRITY, StageName.SANITIZE)
NEED_TIME = (StageName.BENCHMARK, StageName.PROFILE)


def evaluate(request: EvaluationRequest, sandboxes: Sandboxes, progress: Progress | None = None) -> Report:
    """Judge one submission.

    Raises `TaskError` or `SubmissionError` for what cannot be read (the message says what to do) and
    `EngineFault` for our own failures; whatever task or submission do wrong is in the report.
    """
    _raise_descriptor_limit()
    bundle = with_environments(read_bundle(request.task_folder.resolve()), request.environments)
    seeds = Seeds.fresh(request.secret)
    with tempfile.TemporaryDirectory(prefix="workbench-") as staging:
        submission = read_submission(request.submission, bundle.spec, Path(staging) / "submission", request.framework)
        artefacts = Artefacts() if request.artefacts_folder else None
        notebook = Notebook(progress, request.stages, artefacts=artefacts)
        stated = author_claims.stated_in(submission)
        judging = _Judging(request, bundle, submission, seeds, notebook)
        try:
            judging.run(sandboxes)
        except SandboxUnavailable as error:
            raise EngineFault(str(error)) from error
        report = judging.report()
        workloads = (*bundle.spec.workloads, *judging.drawn)
        report = replace(report, claims=author_claims.settle(stated, report, workloads, judging.runs))
        if request.artefacts_folder and artefacts:
            launches = {run.workload.name: run.launches() for run in judging.runs}
            _write(artefacts, request.artefacts_folder, report, submission, notebook, launches)
        return report


def _write(
    artefacts: Artefacts, folder: Path, report: Report, submission: Submission, notebook: Notebook, launches: Any
) -> None:
    try:
        artefacts.write(folder, report, submission, "\n".join(notebook.logs), launches)
    except OSError as error:
        raise EngineFault(f"the artefacts cannot be written to {folder}: {error}") from error


@dataclass
class _Judging:
    """One evaluation under way."""

    request: EvaluationRequest
    bundle: TaskBundle
    submission: Submission
    seeds: Seeds
    notebook: Notebook
    drawn: list[Workload] = field(default_factory=list)
    runs: list[WorkloadRun] = field(default_factory=list)
    refused: int = 0
    environment: dict[str, Any] = field(default_factory=dict)

    def run(self, sandboxes: Sandboxes) -> None:
        workloads = self._asked_workloads()
        if self.notebook.wants(StageName.INSPECT):
            self._inspect()
        if self.submission.framework not in RUNS_HERE:
            self._cannot_run(f"no runner for {self.submission.framework} on this machine")
        elif self.notebook.wants(*NEED_CALLS):
            self._run(sandboxes, [w for w in workloads if self._runs_here(w)])
        elif self.notebook.wants(StageName.COMPILE):
            with Restartable(sandboxes, self.bundle, self.submission) as candidate:
                self._compile(candidate, in_place=[])
                self._read_log(candidate.log())
        self._finish()

    def _run(self, sandboxes: Sandboxes, workloads: list[Workload]) -> None:
        """Answers from the task's own code, then calls of the submission, each in a process of its own."""
        with contextlib.ExitStack() as held:
            with Restartable(sandboxes, self.bundle, self.submission) as candidate:
                try:
                    answers = self._answers(sandboxes, workloads)
                except TaskFault as fault:
                    self._stop_after(StageName.CORRECTNESS, str(fault) or "the task cannot be judged")
                    return
                held.callback(answers.close)
                self._calls(candidate, answers, workloads)
                self._read_log(candidate.log())
            if answers.has_check and self.notebook.wants(StageName.CORRECTNESS):  # the candidate is gone by now
                run_checks(sandboxes, self.bundle, self.runs, self.notebook)
        self.environment["versions"] = {**answers.versions, **(self.environment.get("versions") or {})}
        if self.submission.framework == "triton" and Verdict.INVALID_TASK not in self.notebook.verdicts:
            self.notebook.not_checked.append(
                "accumulator not modelled: the interpreter may accumulate wider than a chip"
            )

    def _inspect(self) -> None:
        if unread := self.submission.unread_sources():
            self.notebook.not_checked.append(f"the source of {len(unread)} files that are too long to be read")
        with self.notebook.stage(StageName.INSPECT):
            for file, source in self.submission.sources():
                entry = self.bundle.spec.entry if file == self.submission.main else None
                for hit in inspect_python(file, source, entry) if file.endswith(".py") else []:
                    self.notebook.note(
                        hit.code, Severity.WARNING, StageName.INSPECT, f"the source uses {hit.what}",
                        tier=Tier.SUPPORT, location=Location(hit.file, hit.line),
                    )  # fmt: skip

    def _asked_workloads(self) -> list[Workload]:
        """Those asked for; raises `TaskError` for a name that the task has not."""
        known = {w.name for w in self.bundle.spec.workloads}
        if unknown := set(self.request.workloads) - known:
            raise TaskError(
                f"no workload is named {', '.join(sorted(unknown))}; the task has {', '.join(sorted(known))}"
            )
        return [
            w
            for w in self.bundle.spec.workloads
            if "correctness" in w.uses and (not self.request.workloads or w.name in self.request.workloads)
        ]

    def _runs_here(self, workload: Workload) -> bool:
        """False for `runs_on = "device"`, which is said to be not checked."""
        if workload.runs_on == "device":
            not_run(workload, NotRun("needs a device", measured=False, fatal=False), self.notebook)
        return workload.runs_on == "any"

    def _answers(self, sandboxes: Sandboxes, workloads: list[Workload]) -> Answers:
        with start_reference(sandboxes, self.bundle) as process:
            try:
                return gather(process, self.bundle, workloads, self.seeds, self.notebook)
            finally:
                self.environment["sandbox"] = process.session.limits_in_force

    def _calls(self, candidate: Restartable, answers: Answers, workloads: list[Workload]) -> None:
        judge = WithGradients(self.bundle, answers, self.notebook)
        in_place = in_place_positions(self.bundle, answers.arguments)
        caller = self._compile(candidate, in_place)
        if caller is None:
            return
        self.drawn = answers.drawn
        workloads = self.seeds.shuffled([*workloads, *self.drawn])
        with self.notebook.stage(StageName.CORRECTNESS) as stage:
            for workload in workloads:
                caller = caller or self._reload(candidate, in_place, workload)
                if caller is not None:
                    caller = self._judge_workload(judge, caller, workload)
            self._correctness_status(stage, workloads)
        if self.notebook.wants(StageName.INTEGRITY):
            self._probe(caller, answers, judge)
        if self.notebook.wants(StageName.SANITIZE):
            self._sanitize()
        if self.notebook.wants(StageName.CORRECTNESS):
            look_outside(caller, judge, self.runs)

    def _compile(self, candidate: Restartable, in_place: list[int]) -> Caller | None:
        """Load the submission; None where it does not load, which ends every later stage too."""
        with self.notebook.stage(StageName.COMPILE) as stage:
            try:
                return self._load(candidate, in_place)
            except NotRun as error:
                stage.failed(str(error))
                reason = f"the submission does not load: {error}"
            finally:
                self._note_environments(stage)
        if not self.notebook.wants(StageName.COMPILE):
            self.notebook.end(Stage(StageName.CORRECTNESS, StageStatus.FAILED, 0.0, reason))
        self.notebook.end_others("the submission does not load")
        return None

    def _probe(self, caller: Caller | None, answers: Answers, judge: Correctness) -> None:
        with self.notebook.stage(StageName.INTEGRITY) as stage:
            for run in self.runs:
                integrity.call_findings(run, self.bundle, answers, self.notebook)
            integrity.kept_weights(self.runs, caller, self.bundle, answers, self.notebook)
            take_away = Interventions(caller, answers, judge.compare_values) if caller else None
            own_kernel(self.runs, take_away, self.bundle, self.submission.framework, self.notebook)
            if not self.runs:
                stage.not_measured("no call gave a result")

    def _sanitize(self) -> None:
        with self.notebook.stage(StageName.SANITIZE) as stage:
            for run in self.runs:
                memory_findings(run, self.notebook)
            if self.submission.framework == "torch":
                stage.not_measured(
                    "torch operators check their own bounds; nothing of the submission's touches memory directly"
                )
            elif not self.runs:
                stage.not_measured("no call gave a result")

    def _read_log(self, log: str) -> None:
        self.notebook.logs.append(log)
        if lines := forged_lines(log):
            self.notebook.note(
                "integrity.forged_result", Severity.WARNING, StageName.INTEGRITY,
                "it prints what a harness would print as a result", tier=Tier.SUPPORT, evidence={"lines": lines},
            )  # fmt: skip

    def _load(self, candidate: Restartable, in_place: list[int]) -> Caller:
        caller = Caller(candidate.process(), self.bundle, in_place, self.notebook)
        facts = caller.load(self.submission)
        integrity.rebound_functions(facts, self.notebook)
        self.environment |= {"versions": facts.get("versions"), "refusals": facts.get("refusals")}
        return caller

    def _reload(self, candidate: Restartable, in_place: list[int], workload: Workload) -> Caller | None:
        """A fresh process after a crash, a few times; None where the submission is given up."""
        try:
            candidate.restart()
            return self._load(candidate, in_place)
        except NotRun as error:
            not_run(workload, error, self.notebook)
        except GivenUp:
            reason = f"not run: the process had ended {MAX_RESTARTS} times before"
            self.notebook.not_checked.append(f"`{workload.name}`: {reason}")
            not_run(workload, NotRun(reason, measured=False, fatal=False), self.notebook)
        return None

    def _judge_workload(self, judge: Correctness, caller: Caller, workload: Workload) -> Caller | None:
        refusals, draws = self.environment.get("refusals") or {}, judge.answers.draws[workload.name]
        try:
            refuse_untrusted(refusals, draws, self.submission, self.notebook, workload.name)
            run = judge.judge(caller, workload)
        except NotRun as error:
            not_run(workload, error, self.notebook)
            self.refused += error.compiler
            return None if error.fatal else caller
        except Raised as raised:  # between two calls: the process died on its own
            not_run(workload, NotRun(raised.sentence, measured=True, fatal=True), self.notebook)
            self.notebook.note(
                "runtime.crash", Severity.ERROR, StageName.CORRECTNESS, f"{raised.sentence} on `{workload.name}`",
                verdict=Verdict.RUNTIME_ERROR, workload=workload.name,
            )  # fmt: skip
            return None
        self.runs.append(run)
        return caller

    def _correctness_status(self, stage: Any, workloads: list[Workload]) -> None:
        statuses = [w.status for w in self.notebook.workloads]
        if self.refused and self.refused == len(workloads):
            # On one shape of several it is a crash of that call; on all of them the kernel does not compile.
            self.notebook.note(
                "compile.error", Severity.ERROR, self.notebook.loading_stage(),
                "the just-in-time compiler refuses the kernel on every workload", verdict=Verdict.COMPILE_ERROR,
            )  # fmt: skip
        if StageStatus.FAILED in statuses:
            stage.failed()
        elif not workloads or StageStatus.PASSED not in statuses:
            stage.not_measured("no workload could be run here")
            self.notebook.verdicts.add(Verdict.INCONCLUSIVE)

    def _note_environments(self, stage: Any) -> None:
        """Environments that apply to the framework and that nothing here can build for yet."""
        listed, framework = self.bundle.spec.compile_environments, self.submission.framework
        applies = [e for e in listed if is_for(e, framework)]
        if foreign := [e for e in self.request.environments if e not in applies]:
            self.notebook.not_checked.append(f"builds for {', '.join(foreign)}: not for {framework}")
        if applies and stage.status is None:
            stage.not_measured(f"not built here: {', '.join(applies)}")
            self.notebook.not_checked.append(f"builds for {', '.join(applies)}")
            self.notebook.verdicts.add(Verdict.INCONCLUSIVE)

    def _finish(self) -> None:
        """Every stage has a word in the end, and a verdict needs all stages that decide."""
        if self.notebook.wants(*NEED_TIME) and Verdict.INVALID_TASK not in self.notebook.verdicts:
            self.notebook.not_checked.append(f"speed and profile: {NO_DEVICE}")
        self.notebook.end_others(NO_DEVICE)
        unasked = [stage for stage in StageName if not self.notebook.wants(stage)]
        if unasked:
            self.notebook.not_checked.append(f"not asked for: {', '.join(unasked)}")
        if not self.notebook.wants(StageName.CORRECTNESS):
            self.notebook.workloads.clear()  # other stages needed the calls, nobody asked what came of them
        decide = set(verdicts.deciding(self.bundle.spec.kind))
        if decide & {*unasked, StageName.BENCHMARK}:
            self.notebook.verdicts.add(Verdict.INCONCLUSIVE)

    def _stop_after(self, name: StageName, reason: str) -> None:
        """The task itself cannot be judged: say so for every stage that did not happen."""
        self.notebook.end(Stage(name, StageStatus.FAILED, 0.0, reason))
        self.notebook.end_others("the task cannot be judged")

    def _cannot_run(self, reason: str) -> None:
        self.notebook.verdicts.add(Verdict.INCONCLUSIVE)
        if self.notebook.wants(StageName.COMPILE, *NEED_CALLS, *NEED_TIME):
            self.notebook.not_checked.append(f"everything that needs a run: {reason}")
        self.notebook.end_others(reason)

    def report(self) -> Report:
        book = self.notebook
        verdict, scope = verdicts.decide(book.verdicts), self._scope()
        return Report(
            verdict=verdict,
            scope=scope,
            headline=verdicts.headline(verdict, book.workloads, scope, book.findings),
            task=TaskIdentity(self.bundle.spec.name, self.bundle.spec.version, self.bundle.sha256),
            submission=self.submission.identity(),
            mode=MODES.get(self.submission.framework, "static"),
            not_checked=tuple(dict.fromkeys(book.not_checked)),
            stages=book.ended(),
            workloads=book.workloads_in_order([w.name for w in (*self.bundle.spec.workloads, *self.drawn)]),
            findings=tuple(book.findings),
            environment={"host": platform.platform(), "device": None, "driver": None, **self.environment},
            replay=Replay(self.request.command, self.seeds.secret.hex(), dict(self.seeds.drawn)),
            hidden_workloads=tuple(w.name for w in (*self.bundle.spec.workloads, *self.drawn) if w.hidden),
            log=book.log(),
            rules=named_rules.worst(book.workloads),
        )

    def _scope(self) -> Scope:
        ran = {w.name for w in self.notebook.workloads if w.status is not StageStatus.NOT_MEASURED}
        names = [w.name for w in (*self.bundle.spec.workloads, *self.drawn) if "correctness" in w.uses]
        applies = [e for e in self.bundle.spec.compile_environments if is_for(e, self.submission.framework)]
        runs_here = self.submission.framework in RUNS_HERE
        return Scope(
            evidence=EvidenceLevel.EMULATED if runs_here and (ran or self.runs) else EvidenceLevel.STATIC,
            workloads_run=tuple(n for n in names if n in ran),
            workloads_not_run=tuple(n for n in names if n not in ran),
            environments_not_built=tuple(applies),
        )


def _raise_descriptor_limit() -> None:
    """Every storage is a descriptor here; many workloads need more than the customary 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


__all__ = ["EngineFault", "SubmissionError", "TaskError", "evaluate"]
