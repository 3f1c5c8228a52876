"""Probes: did the submission work on the values given, leave them as they are, and leave the judge's tools alone?

Whether a kernel of its own did the work is asked in `workers.judge.own_kernel`.
"""

from __future__ import annotations

from typing import Any

from app.domain.report import Severity, StageName, Tier, Verdict
from app.domain.task import TaskBundle
from workers.judge.answers import Answers
from workers.judge.calls import POISON_A, Caller, NotRun
from workers.judge.correctness import WorkloadRun
from workers.judge.interventions import same_bits
from workers.judge.notebook import Notebook


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
        if not answers.draws[run.workload.name][0].native.shares_inputs:
            _aliased_outputs(call.facts, run, bundle, notebook)


def _mutated_inputs(
    facts: dict[str, Any], run: WorkloadRun, bundle: TaskBundle, answers: Answers, notebook: Notebook
) -> None:
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
            f"an output of `{run.workload.name}` shares memory with an input",
            tier=Tier.SUPPORT, workload=run.workload.name,
        )  # fmt: skip


def kept_weights(
    runs: list[WorkloadRun], caller: Caller | None, bundle: TaskBundle, answers: Answers, notebook: Notebook
) -> None:
    """Wrong with new weights in an earlier module, and something else in one built anew: it kept the old ones."""
    for run in runs:
        if run.ok or run.third is None or caller is None or bundle.spec.policy.caching == "weights":
            continue
        draw = answers.draws[run.workload.name][1]
        if draw.state is None:
            continue
        try:
            anew = caller.call(run.workload, draw, slot="probe", poison=POISON_A, note=False)
        except NotRun:
            return
        if not same_bits(run.third, anew):
            notebook.note(
                "integrity.weights_kept", Severity.ERROR, StageName.INTEGRITY,
                f"on `{run.workload.name}` new weights in the same module do not reach the result, which they do in a"
                " module built anew; the task does not allow to keep what is made of weights",
                verdict=Verdict.WRONG_RESULT, tier=Tier.SUPPORT, workload=run.workload.name,
            )  # fmt: skip
        anew.outputs.close()
