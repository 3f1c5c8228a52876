"""What a reviewer asks of every submission, answered in one place from the evidence there is.

An answer is a sentence and the place that shows it; what was not measured is said as that, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.report import OutputResult, Severity, StageName, StageStatus, WorkloadResult
from app.evaluations.numerics import AGAIN
from app.evaluations.panels import Evidence, cell_id
from app.kit.figures import apart, significant
from app.reviews import facts
from app.submissions.differences import Changed

ADVICE_MAX = 3
NAMES_SHOWN = 6
NOTHING_FOUND = "no error and no warning"


@dataclass(frozen=True)
class Answer:
    """`place` is an address or a fragment of the page; empty where no place says more."""

    question: str
    says: str
    place: str = ""


@dataclass(frozen=True)
class Setting:
    """What the evidence itself does not know: the files' anchors, the revision before, who else is at it.

    `others` are the names of those whose reviews this viewer may read, `reviews_in` all that are in.
    """

    anchors: Mapping[str, str]
    changes: Sequence[Changed] | None
    compare: str
    reviews_in: int
    others: Sequence[str]


def answers(evidence: Evidence, setting: Setting) -> list[Answer]:
    """Twelve of them, always in this order."""
    return [
        _worst(evidence),
        _line(evidence, setting),
        _not_checked(evidence),
        _baseline(evidence),
        _precision(evidence),
        _again(evidence),
        _reference(evidence),
        _registers(evidence),
        _sizes(evidence),
        _changes(setting),
        _others(setting),
        _advice(evidence),
    ]


def _worst(evidence: Evidence) -> Answer:
    question, found = "Which element is worst?", facts.worst_output(evidence.report)
    if found is None:
        reason = _reason(evidence, StageName.CORRECTNESS) or "no output was compared"
        return Answer(question, reason, "#panel-correctness")
    workload, output = found
    return Answer(question, _worst_element(workload, output), _numerics_cell(evidence, workload, output))


def _worst_element(workload: WorkloadResult, output: OutputResult) -> str:
    if not facts.has_values(output):
        return f"{output.name} on {workload.name} has no values to compare: its shape or kind is another"
    if not output.worst:
        return f"no element was kept; the largest error is {significant(output.max_ulp)} ULP, on {workload.name}"
    at = output.worst[0]
    index, (got, want) = ", ".join(map(str, at.index)), apart(at.got, at.want)
    return (
        f"{output.name}[{index}] on {workload.name}: {got} where {want} is right, {significant(at.ulp)} ULP; "
        f"{'inside' if output.ok else 'outside'} what is allowed"
    )


def _numerics_cell(evidence: Evidence, workload: WorkloadResult, output: OutputResult) -> str:
    keys = (row.key for row in evidence.workloads if row.workload is workload)
    return next((f"#{cell_id('numerics', key, output.name)}" for key in keys), "#panel-correctness")


def _line(evidence: Evidence, setting: Setting) -> Answer:
    question, found = "At which line?", facts.first_line(evidence.report)
    if found is None:
        return Answer(question, "no finding names a line", "#source")
    finding, where = found
    row = next(row for row in evidence.findings if row.finding is finding)
    anchor = setting.anchors.get(where.file)
    place = f"#{anchor}-L{where.line}" if anchor else f"#{row.cell}"
    return Answer(question, f"{where.file}:{where.line}, {row.kind.title.lower()}", place)


def _not_checked(evidence: Evidence) -> Answer:
    says = "; ".join(evidence.report.not_checked) or "nothing that this kind of task asks for was left out"
    return Answer("What was not checked?", says)


def _baseline(evidence: Evidence) -> Answer:
    question, place = "Faster than which baseline?", "#panel-benchmark"
    bases = facts.baselines(evidence.report)
    if bases:
        return Answer(question, f"timed against {_few(bases)}", place)
    return Answer(question, _reason(evidence, StageName.BENCHMARK) or "none was timed", place)


def _precision(evidence: Evidence) -> Answer:
    outputs = [o for row in evidence.deciding_runs for o in row.workload.outputs]
    dtypes = list(dict.fromkeys(f"{o.name} {o.dtype}" for o in outputs))
    lower = [row for row in evidence.findings if row.finding.code == "numerics.precision_downgrade"]
    # Only on values does a narrower format leave a sign.
    is_seen = any(facts.has_values(o) for o in outputs)
    seen = f"; {lower[0].finding.message}" if lower else "; no sign of a lower one inside" if is_seen else ""
    model = "" if evidence.report.scope.accumulator_modelled else "; the chip's accumulator is not modelled here"
    says = (_few(dtypes) if dtypes else "no output was compared") + seen + (model if dtypes else "")
    return Answer("In which precision?", says, f"#{lower[0].cell}" if lower else "#panel-correctness")


def _again(evidence: Evidence) -> Answer:
    question, place = "The same on a new seed and a second call?", "#panel-correctness"
    runs = [row.workload for row in evidence.deciding_runs if row.workload.family in AGAIN]
    if not runs:
        return Answer(question, "no call was repeated", place)
    passed = sum(run.status is StageStatus.PASSED for run in runs)
    return Answer(question, f"{passed} of {len(runs)} repeats and runs on new values passed", place)


def _reference(evidence: Evidence) -> Answer:
    return Answer("What does the reference get wrong?", evidence.task_health, "#panel-correctness")


def _registers(evidence: Evidence) -> Answer:
    question, place = "How many registers, on which chip?", "#panel-compile"
    used = [
        f"{build.environment}: {significant(build.resources['registers'])}"
        for build in evidence.report.builds
        if "registers" in build.resources
    ]
    missing = evidence.report.scope.environments_not_built
    unbuilt = [f"not built here for {_few(missing)}"] if missing else []
    if used:
        return Answer(question, "; ".join([_few(used), *unbuilt]), place)
    return Answer(question, f"not measured: {''.join(unbuilt) or 'nothing was built for a chip'}", place)


def _sizes(evidence: Evidence) -> Answer:
    question, place = "Do tails and odd sizes work?", "#panel-correctness"
    drawn = [w for row in evidence.deciding_runs if "=" in (w := row.workload).name]
    if not drawn:
        says = "not tried: the task's contract grants no other sizes; try one on the bench"
        return Answer(question, says, "#bench")
    wrong = [w.name for w in drawn if w.status is not StageStatus.PASSED]
    says = f"wrong or not judged on {_few(wrong)}" if wrong else f"right on {_few([w.name for w in drawn])}"
    return Answer(question, says, place)


def _changes(setting: Setting) -> Answer:
    question = "What changed since the last revision?"
    if setting.changes is None:
        return Answer(question, "this is the first revision", "#source")
    said = [f"{file.path} +{file.added} \N{MINUS SIGN}{file.removed}" for file in setting.changes]
    return Answer(question, _few(said) if said else "no line of any file", setting.compare)


def _others(setting: Setting) -> Answer:
    question = "Who else reviewed it?"
    if setting.others:
        return Answer(question, _few(list(setting.others)))
    if setting.reviews_in:
        count = "one review is" if setting.reviews_in == 1 else f"{setting.reviews_in} reviews are"
        return Answer(question, f"{count} in, and hidden until yours is")
    return Answer(question, "nobody yet")


def _advice(evidence: Evidence) -> Answer:
    question = "What do I tell the author?"
    said = dict.fromkeys(r.kind.advice for r in evidence.findings if r.finding.severity is not Severity.INFO)
    if said:
        return Answer(question, " ".join(list(said)[:ADVICE_MAX]), "#feedback")
    unmeasured = facts.left_unmeasured(evidence.report)
    found = f"no error and no warning in what was measured ({_few(unmeasured)} not)" if unmeasured else NOTHING_FOUND
    return Answer(question, f"{found}: say what is good, and what nobody has checked", "#feedback")


def _reason(evidence: Evidence, name: StageName) -> str:
    """Why a stage says nothing; empty where it was measured."""
    stage = evidence.stage(name)
    if stage.status is not StageStatus.NOT_MEASURED:
        return ""
    reason = (stage.reason or "").removeprefix("not measured here: ")
    return f"not measured: {reason}" if reason else "not measured"


def _few(names: Sequence[str]) -> str:
    left = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {left} more" if left > 0 else "")
