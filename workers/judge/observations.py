"""What the interpreter saw of memory accesses, as findings."""

from __future__ import annotations

from app.domain.report import Location, Severity, StageName, Verdict
from app.domain.task import Workload
from workers.judge.correctness import WorkloadRun
from workers.judge.notebook import Notebook


def memory_findings(run: WorkloadRun, notebook: Notebook) -> None:
    """What the interpreter saw of memory accesses and the framework of launches."""
    for call in (*run.calls(), *([run.differentiated] if run.differentiated else [])):
        for seen in call.events.get("observations") or []:
            if isinstance(seen, dict):
                _note_observation(seen, run.workload, notebook)


# Proved by an access that was caught; the rest are observations for people.
_PROVED = {
    "runtime.out_of_bounds": Verdict.RUNTIME_ERROR,
    "runtime.index_overflow": Verdict.RUNTIME_ERROR,
    "runtime.race": Verdict.WRONG_RESULT,
}
_TOLD = {"runtime.reads_past_view": Severity.WARNING}


def _note_observation(seen: dict[str, object], workload: Workload, notebook: Notebook) -> None:
    code = str(seen.get("code"))
    if code not in _PROVED and code not in _TOLD:
        return
    file, line = seen.get("file"), seen.get("line")
    location = (
        Location(str(file).removeprefix("/submission/")[:300], line if isinstance(line, int) else None)
        if file
        else None
    )
    evidence = seen.get("evidence")
    notebook.note(
        code, _TOLD.get(code, Severity.ERROR), StageName.SANITIZE,
        f"{str(seen.get('message', ''))[:400]} on `{workload.name}`",
        verdict=_PROVED.get(code), workload=workload.name, location=location,
        evidence=evidence if isinstance(evidence, dict) else {},
    )  # fmt: skip
