"""Probes: did the submitted kernel do the work, on the values given, and leave the judge's tools alone?"""

from __future__ import annotations

from typing import Any

from app.domain.report import Severity, StageName, Tier, Verdict
from app.domain.task import TaskBundle
from workers.judge import numerics
from workers.judge.answers import Answers
from workers.judge.calls import POISON_A, Caller, NotRun
from workers.judge.correctness import WorkloadRun
from workers.judge.notebook import Notebook

# The frameworks whose kernels can be replaced by no-ops here.
KERNEL_FRAMEWORKS = ("triton",)


def rebound_functions(facts: dict[str, Any], notebook: Notebook) -> None:
    """The submission bound a clock, a synchronisation or a comparison to something of its own."""
    names = [str(name)[:80] for name in facts.get("rebound") or []]
    if names:
        notebook.note(
            "integrity.timer_patched", Severity.ERROR, StageName.INTEGRITY,
            f"it replaces {', '.join(names[:6])}", verdict=Verdict.SUSPECT, tier=Tier.HARD,
            evidence={"functions": names},
        )  # fmt: skip


def call_findings(run: WorkloadRun, bundle: TaskBundle, answers: Answers, notebook: Notebook) -> None:
    """What each call of one workload says against the submission."""
    for call in run.calls():
        rebound_functions(call.facts, notebook)
        _mutated_inputs(call.facts, run, bundle, answers, notebook)
        _unjoined_streams(call.events, run, notebook)
        _aliased_outputs(call.facts, run, bundle, notebook)


def _mutated_inputs(facts: dict[str, Any], run: WorkloadRun, bundle: TaskBundle, answers: Answers, notebook: Notebook) -> None:
    storages = {n for n in facts.get("mutated") or [] if isinstance(n, int)}
    if not storages:
        return
    declared = set(bundle.spec.policy.in_place)
    owners = _arguments_by_storage(answers, run.workload.name)
    changed = sorted({name for n in storages for name in owners.get(n, [f"input storage {n}"])} - declared)
    if changed and not any(owners.get(n) and set(owners[n]) & declared for n in storages):
        notebook.note(
            "integrity.input_mutated", Severity.ERROR, StageName.INTEGRITY,
            f"`{run.workload.name}` changes {', '.join(changed)}, which the contract does not declare in place",
            verdict=Verdict.WRONG_RESULT, tier=Tier.SUPPORT, workload=run.workload.name, evidence={"inputs": changed},
        )  # fmt: skip


def _arguments_by_storage(answers: Answers, workload: str) -> dict[int, list[str]]:
    manifest = answers.draws[workload][0].inputs.manifest
    items = next(iter(manifest.values())) if isinstance(manifest, dict) else []
    owners: dict[int, list[str]] = {}
    for position, item in enumerate(items if isinstance(items, list) else []):
        name = answers.arguments[position] if position < len(answers.arguments) else f"input {position}"
        for storage in _storages(item):
            owners.setdefault(storage, []).append(name)
    return owners


def _storages(item: Any) -> list[int]:
    if isinstance(item, dict) and isinstance(item.get("tensor"), dict):
        return [item["tensor"]["storage"]]
    if isinstance(item, dict):
        return [s for value in item.values() for s in _storages(value)]
    return [s for value in item for s in _storages(value)] if isinstance(item, list) else []


def _unjoined_streams(events: dict[str, Any], run: WorkloadRun, notebook: Notebook) -> None:
    unjoined = events.get("unjoined")
    if isinstance(unjoined, list) and unjoined:
        notebook.note(
            "integrity.side_stream", Severity.ERROR, StageName.INTEGRITY,
            f"`{run.workload.name}` returns while work on a side stream was never joined to the caller's stream",
            verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=run.workload.name, evidence={"unjoined": unjoined[:10]},
        )  # fmt: skip


def _aliased_outputs(facts: dict[str, Any], run: WorkloadRun, bundle: TaskBundle, notebook: Notebook) -> None:
    aliases = facts.get("aliases")
    inputs = aliases.get("inputs") if isinstance(aliases, dict) else None
    if inputs and not bundle.spec.policy.in_place:
        notebook.note(
            "integrity.output_aliased", Severity.WARNING, StageName.INTEGRITY,
            f"an output of `{run.workload.name}` shares memory with an input", tier=Tier.SUPPORT, workload=run.workload.name,
        )  # fmt: skip


def own_kernel(runs: list[WorkloadRun], caller: Caller | None, bundle: TaskBundle, answers: Answers, framework: str, notebook: Notebook) -> None:
    """Where library calls are forbidden: was a submitted kernel launched, and does its result matter?"""
    if bundle.spec.policy.library_calls != "forbidden":
        return
    ran = [run for run in runs if run.first is not None and any(x.array.size for x in run.first.outputs.leaves())]
    if not ran:
        return
    launched = [run for run in ran if any(call.launches() for call in run.calls())]
    if not launched:
        _note_no_kernel(ran, framework, notebook)
    elif framework in KERNEL_FRAMEWORKS and caller is not None:
        _probe_decoy(launched, caller, answers, notebook)


def _note_no_kernel(ran: list[WorkloadRun], framework: str, notebook: Notebook) -> None:
    operators: dict[str, int] = {}
    for run in ran:
        for call in run.calls():
            operators |= call.operators()
    code = "integrity.no_custom_kernel" if operators or framework == "torch" else "integrity.kernel_never_ran"
    work = f"; the work was done by {', '.join(sorted(operators)[:6])}" if operators else ""
    notebook.note(
        code, Severity.ERROR, StageName.INTEGRITY,
        f"no submitted kernel was launched on {len(ran)} workloads, and the task forbids library calls{work}",
        verdict=Verdict.SUSPECT, tier=Tier.HARD, evidence={"operators": operators},
    )  # fmt: skip


def _probe_decoy(launched: list[WorkloadRun], caller: Caller, answers: Answers, notebook: Notebook) -> None:
    """Every submitted kernel as a no-op: a result that stays the same never needed it."""
    unchanged = []
    for run in launched:
        assert run.first is not None
        if run.second is None:
            return  # too slow to call again: nothing can be said
        draw = answers.draws[run.workload.name][0]
        try:
            hollow = caller.call(run.workload, draw, slot="hollow", poison=POISON_A, skip_launches=True, note=False)
        except NotRun:
            return  # without its kernels it does not even return: they matter
        before, after = run.first.outputs.leaves(), hollow.outputs.leaves()
        same = len(before) == len(after) and all(numerics.same_bits(a.array, b.array) for a, b in zip(before, after, strict=True))
        hollow.outputs.close()
        if not same:
            return
        unchanged.append(run.workload.name)
    written = any(run.ok for run in launched)
    if unchanged and written:
        notebook.note(
            "integrity.decoy_kernel", Severity.ERROR, StageName.INTEGRITY,
            f"with every submitted kernel replaced by a no-op the results of {len(unchanged)} workloads stay the same",
            verdict=Verdict.SUSPECT, tier=Tier.HARD,
        )  # fmt: skip
