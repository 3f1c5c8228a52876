"""Probes: did the submitted kernel do the work, on the values given, and leave the judge's tools alone?"""

from __future__ import annotations

from typing import Any

from app.domain.report import Severity, StageName, Tier, Verdict
from app.domain.task import TaskBundle
from workers.judge import numerics
from workers.judge.answers import Answers
from workers.judge.calls import POISON_A, Caller, NotRun, Returned
from workers.judge.correctness import WorkloadRun
from workers.judge.notebook import Notebook

# The frameworks whose kernels can be replaced by no-ops here.
KERNEL_FRAMEWORKS = ("triton",)
# A library operator on a quarter of the task's largest tensor works on the whole problem, not on partial results.
WHOLE_FRACTION = 0.25
_WHOLE_KERNELS = frozenset(
    """mm bmm addmm baddbmm addbmm addmv mv dot vdot _int_mm _scaled_mm linear _softmax _log_softmax softmax log_softmax
    sort topk kthvalue argsort cumsum cumprod cummax cummin logcumsumexp bincount histc cdist _cdist_forward
    """.split()  # noqa: SIM905 - words, without quotes
)
_WHOLE_KERNEL_WORDS = ("conv", "_norm", "attention", "_fft", "linalg", "pool", "lstm", "gru", "embedding_bag")


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


def own_kernel(
    runs: list[WorkloadRun],
    caller: Caller | None,
    bundle: TaskBundle,
    answers: Answers,
    framework: str,
    notebook: Notebook,
) -> None:
    """Where library calls are forbidden: was a submitted kernel launched, and does its result matter?"""
    if bundle.spec.policy.library_calls != "forbidden":
        return
    ran = [run for run in runs if run.first is not None and any(x.array.size for x in run.first.outputs.leaves())]
    if not ran:
        return
    launched = [run for run in ran if any(call.launches() for call in run.calls())]
    if not launched:
        _note_no_kernel(ran, framework, notebook)
        return
    _note_fallbacks([run for run in ran if run not in launched], notebook)
    if framework in KERNEL_FRAMEWORKS and caller is not None:
        _probe_decoy(launched, caller, answers, notebook)
        _probe_library(launched, caller, answers, notebook)


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
        if not _same_bits(run.third, anew):
            notebook.note(
                "integrity.weights_kept", Severity.ERROR, StageName.INTEGRITY,
                f"on `{run.workload.name}` new weights in the same module do not reach the result, which they do in a"
                " module built anew; the task does not allow to keep what is made of weights",
                verdict=Verdict.WRONG_RESULT, tier=Tier.SUPPORT, workload=run.workload.name,
            )  # fmt: skip
        anew.outputs.close()


def _operators(runs: list[WorkloadRun]) -> dict[str, int]:
    return {name: count for run in runs for call in run.calls() for name, count in call.operators().items()}


def _note_no_kernel(ran: list[WorkloadRun], framework: str, notebook: Notebook) -> None:
    operators = _operators(ran)
    refused = any(call.failed_launches() for run in ran for call in run.calls())
    code = "integrity.no_custom_kernel" if operators or framework == "torch" else "integrity.kernel_never_ran"
    work = f"; the work was done by {', '.join(sorted(operators)[:6])}" if operators else ""
    tried = " successfully" if refused else ""
    notebook.note(
        "integrity.silent_fallback" if refused else code, Severity.ERROR, StageName.INTEGRITY,
        f"no submitted kernel was launched{tried} on {len(ran)} workloads, and the task forbids library calls{work}",
        verdict=Verdict.SUSPECT, tier=Tier.HARD, evidence={"operators": operators},
    )  # fmt: skip


def _note_fallbacks(runs: list[WorkloadRun], notebook: Notebook) -> None:
    """Workloads whose result came without any kernel, beside others that launched one."""
    for run in runs:
        if operators := _operators([run]):
            notebook.note(
                "integrity.silent_fallback", Severity.ERROR, StageName.INTEGRITY,
                f"on `{run.workload.name}` no submitted kernel ran;"
                f" the work was done by {', '.join(sorted(operators)[:6])}",
                verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=run.workload.name, evidence={"operators": operators},
            )  # fmt: skip


def _probe_decoy(launched: list[WorkloadRun], caller: Caller, answers: Answers, notebook: Notebook) -> None:
    """Every submitted kernel as a no-op: a result that stays the same never needed it."""
    unchanged = 0
    for run in launched:
        same = None if run.second is None else _same_result(run, caller, answers, skip_launches=True)
        if same is not True:
            return  # it matters here, or nothing can be said: the call is too slow to repeat, or does not return
        unchanged += 1
    if any(run.ok for run in launched):
        notebook.note(
            "integrity.decoy_kernel", Severity.ERROR, StageName.INTEGRITY,
            f"with every submitted kernel replaced by a no-op the results of {unchanged} workloads stay the same",
            verdict=Verdict.SUSPECT, tier=Tier.HARD,
        )  # fmt: skip


def _probe_library(launched: list[WorkloadRun], caller: Caller, answers: Answers, notebook: Notebook) -> None:
    """Whole-problem library operators as fills of zero: a result that changes was theirs."""
    glue = _glue(launched, answers)
    for run in launched:
        used = {name: n for name, n in _library_work(run, answers).items() if name not in glue}
        if not used:
            continue
        if _same_result(run, caller, answers, hollow=tuple(used)) is False:
            notebook.note(
                "integrity.no_custom_kernel", Severity.ERROR, StageName.INTEGRITY,
                f"on `{run.workload.name}` the result needs the library's {', '.join(sorted(used)[:6])}, which the task"
                " forbids; the submitted kernels do the rest",
                verdict=Verdict.SUSPECT, tier=Tier.HARD, workload=run.workload.name, evidence={"operators": used},
            )  # fmt: skip
            return


def _glue(runs: list[WorkloadRun], answers: Answers) -> set[str]:
    """Operators that work on partial results where the problem is largest: on a few elements everything is whole."""
    largest = max(runs, key=lambda run: _problem_size(run, answers))
    if largest.second is None:
        return set()
    small = largest.second.operator_elements().items()
    return {name for name, n in small if n < WHOLE_FRACTION * _problem_size(largest, answers)}


def _problem_size(run: WorkloadRun, answers: Answers) -> int:
    """Elements of the largest input or output."""
    draw = answers.draws[run.workload.name][0]
    return max((leaf.array.size for leaf in (*draw.inputs.leaves(), *draw.native.leaves())), default=0)


def _library_work(run: WorkloadRun, answers: Answers) -> dict[str, int]:
    """Operators on tensors as large as the task's own that are no glue, with their elements.

    Elementwise operators and reductions may be glue (a scale, an epilogue) beside a kernel that computes;
    beside kernels that only move data they are the work.
    """
    if run.second is None:
        return {}
    threshold = max(1, int(_problem_size(run, answers) * WHOLE_FRACTION))
    large = {name: n for name, n in run.second.operator_elements().items() if n >= threshold}
    launches = run.watched.launches() if run.watched else []
    if launches and all(launch.get("computes") is False for launch in launches):
        return large
    return {name: n for name, n in large.items() if _is_whole_kernel(name)}


def _is_whole_kernel(operator: str) -> bool:
    """Whether a library operator is itself a kernel that tasks ask for: products, normalisations, scans, sorts."""
    return operator in _WHOLE_KERNELS or any(word in operator for word in _WHOLE_KERNEL_WORDS)


def _same_result(run: WorkloadRun, caller: Caller, answers: Answers, **changed: Any) -> bool | None:
    """Whether a call with something taken away gives the same bits; None when it does not return."""
    assert run.first is not None
    draw = answers.draws[run.workload.name][0]
    try:
        probe = caller.call(run.workload, draw, slot="probe", poison=POISON_A, note=False, **changed)
    except NotRun:
        return None
    same = _same_bits(run.first, probe)
    probe.outputs.close()
    return same


def _same_bits(a: Returned, b: Returned) -> bool:
    before, after = a.outputs.leaves(), b.outputs.leaves()
    return len(before) == len(after) and all(
        numerics.same_bits(x.array, y.array) for x, y in zip(before, after, strict=True)
    )
