"""Fifteen honest and fifteen faulty kernels before every named rule, and before ours.

`python -m tests.run_rules [--match REGEX] [--times N]`.  The kernels are in tests/kernels/rules, each with a first
line that says what it does; the folder, honest or faulty, says what is right.  Every rule is given the outputs of
the first call on each of the task's workloads, with its harness's own thresholds (those of pygpubench are an
example's: it has no others).  Inputs are drawn from a fresh secret each time.
"""

from __future__ import annotations

import argparse
import re
import secrets
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from app.domain.report import Report, Severity, Verdict
from app.domain.request import EvaluationRequest
from tests.kernels.engine import ZOO, warm_sandboxes
from workers.judge.named_rules import PASS, RULES
from workers.judge.pipeline import evaluate
from workers.sandbox import Sandboxes

FOLDER = ZOO / "rules"
OURS = "workbench"
NAMES = (OURS, *(rule.name for rule in RULES))


@dataclass(frozen=True)
class Kernel:
    """One specimen; `honest` is what it is, whatever anybody says of it."""

    path: Path
    honest: bool

    @property
    def task(self) -> Path:
        return FOLDER / "tasks" / self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.task.name}/{self.path.stem}"

    def wrong(self, report: Report) -> dict[str, bool]:
        """By rule, and for our verdict, whether it is mistaken about this kernel."""
        accepted = report.verdict is Verdict.ACCEPTED
        ours = accepted != self.honest or (not accepted and report.verdict is not Verdict.WRONG_RESULT)
        return {OURS: ours, **{name: (said == PASS) != self.honest for name, said in report.rules.items()}}


def kernels(match: str = ".") -> list[Kernel]:
    """Honest ones first, by task."""
    found = [Kernel(path, kind == "honest") for kind in ("honest", "faulty") for path in _files(FOLDER / kind)]
    return [kernel for kernel in found if re.search(match, kernel.name)]


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.py"))


def judge(kernel: Kernel, sandboxes: Sandboxes) -> Report:
    return evaluate(EvaluationRequest(kernel.task, kernel.path, secret=secrets.token_bytes(32)), sandboxes)


def main() -> int:
    """Print the table; exit 1 where our own verdict was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default=".")
    parser.add_argument("--times", type=int, default=1, help="evaluations of each, with fresh secrets")
    arguments = parser.parse_args()
    totals: Counter[str] = Counter()
    print(_header())
    with warm_sandboxes() as sandboxes:
        for kernel in kernels(arguments.match):
            for _ in range(arguments.times):
                report = judge(kernel, sandboxes)
                wrong = kernel.wrong(report)
                totals.update(name for name in NAMES if wrong[name])
                totals["kernels"] += 1
                print(_row(kernel, report, wrong), flush=True)
    print(_footer(totals))
    return 1 if totals[OURS] else 0


def _header() -> str:
    numbered = "\n".join(f"{n:>4}  {name}" for n, name in enumerate(NAMES))
    return f"{numbered}\n\n{'':<50}" + "".join(f"{n:>4}" for n in range(len(NAMES)))


def _row(kernel: Kernel, report: Report, wrong: dict[str, bool]) -> str:
    kind = "honest" if kernel.honest else "faulty"
    marks = "".join(f"{'X' if wrong[name] else '.':>4}" for name in NAMES)
    warned = sorted({f.code for f in report.findings if f.severity is Severity.WARNING})
    return f"{kind}  {kernel.name:<42}{marks}  {' '.join([report.verdict, *warned])}"


def _footer(totals: Counter[str]) -> str:
    counts = "".join(f"{totals[name]:>4}" for name in NAMES)
    return f"\n{'wrong, of ' + str(totals['kernels']):<50}{counts}"


if __name__ == "__main__":
    sys.exit(main())
