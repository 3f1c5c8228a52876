"""Number formats in which the interpreter failed its own self-test: nothing that uses them is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.domain.report import Severity, StageName, Verdict
from workers.judge.answers import Draw
from workers.judge.calls import NotRun
from workers.judge.notebook import Notebook
from workers.judge.submission import Submission

# What the self-test calls them, and how dtypes and sources of theirs begin.
WRITTEN = {"bf16": ("bfloat16",), "fp8": ("float8",)}


def refuse_untrusted(
    refusals: Mapping[str, list[str]], draws: Iterable[Draw], submission: Submission, notebook: Notebook, workload: str
) -> None:
    """Raise `NotRun` where a workload's inputs, expected outputs or the source use a format that cannot be trusted.

    `refusals` maps a format to the checks that failed.  The source is asked too: what a kernel rounds to on its way
    shows in no tensor.
    """
    failing = {name for name, failed in refusals.items() if failed}
    if not failing:
        return
    used = {leaf.array.dtype.name for d in draws for side in (d.inputs, d.native) for leaf in side.leaves()}
    used |= {text for _, text in submission.sources()}
    untrusted = sorted(name for name in failing if any(w in u for w in WRITTEN.get(name, (name,)) for u in used))
    if not untrusted:
        return
    reason = f"the interpreter failed its self-test for {', '.join(untrusted)}"
    notebook.note(
        "numerics.bf16_not_trusted", Severity.WARNING, StageName.CORRECTNESS, f"{reason}; `{workload}` is not judged",
        verdict=Verdict.INCONCLUSIVE, workload=workload, evidence={n: refusals[n][:20] for n in untrusted},
    )  # fmt: skip
    raise NotRun(reason, measured=False, fatal=False)
