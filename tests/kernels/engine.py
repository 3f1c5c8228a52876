"""The whole engine for tests: one warm fork server, the zoo's files, and what each file expects.

`python -m tests.kernels.engine [REGEX]` runs specimens and prints what is wrong.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from app.config import load_settings
from app.domain.report import Report, Verdict
from app.domain.request import EvaluationRequest
from workers.judge.pipeline import evaluate
from workers.local import sandboxes_for
from workers.sandbox import Sandboxes

ZOO = Path(__file__).parent
TASKS = ZOO / "tasks"
_EXPECT = re.compile(r"^#+ *expect: *(?P<words>.+)$")


@dataclass(frozen=True)
class Specimen:
    """One submission of the zoo.  Any of `verdicts` is right; every code of `codes` has to be there, none of `never`."""

    path: Path
    task: Path
    verdicts: tuple[str, ...]
    codes: tuple[str, ...]
    never: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.task.name}/{self.path.stem}"

    def wrong(self, report: Report) -> str | None:
        """What is not as expected; None when everything is."""
        codes = {finding.code for finding in report.findings}
        missing, unwanted = set(self.codes) - codes, set(self.never) & codes
        if report.verdict not in self.verdicts:
            return f"verdict {report.verdict} is none of {', '.join(self.verdicts)}; findings {sorted(codes)}"
        if missing:
            return f"no finding {', '.join(sorted(missing))}; there are {sorted(codes)}"
        return f"accused of {', '.join(sorted(unwanted))}" if unwanted else None


def read(path: Path) -> Specimen:
    """The first line of a specimen's main file says `# expect: verdict … code.… !code.that_must_not_be_there`."""
    main = path / "submission.py" if path.is_dir() else path
    line = main.read_text().split("\n", 1)[0]
    found = _EXPECT.match(line)
    if not found:
        raise ValueError(f"{main}: the first line is no `# expect: ...`")
    words = found["words"].split()
    verdicts = tuple(w for w in words if "." not in w)
    unknown = set(verdicts) - set(Verdict)
    if unknown or not verdicts:
        raise ValueError(f"{main}: unknown verdicts {unknown or 'none'}")
    codes = tuple(w for w in words if "." in w and not w.startswith("!"))
    return Specimen(path, TASKS / path.parent.name, verdicts, codes, tuple(w[1:] for w in words if w.startswith("!")))


def specimens(pattern: str = ".") -> list[Specimen]:
    """Every submission of the zoo whose `task/name` matches."""
    folders = sorted(f for f in ZOO.iterdir() if (TASKS / f.name).is_dir())
    paths = [p for f in folders for p in sorted(f.iterdir()) if p.suffix == ".py" or (p / "submission.py").is_file()]
    return [s for s in map(read, paths) if re.search(pattern, s.name)]


def warm_sandboxes(*, warm: bool = True) -> Sandboxes:
    return sandboxes_for({"torch": load_settings().runtimes["torch"]}, warm=warm, allow_unsandboxed=False)


def judge(specimen: Specimen, sandboxes: Sandboxes, secret: bytes | None = None) -> Report:
    return evaluate(EvaluationRequest(specimen.task, specimen.path, secret=secret), sandboxes)


def main() -> int:
    wrong = 0
    with warm_sandboxes() as sandboxes:
        for specimen in specimens(sys.argv[1] if len(sys.argv) > 1 else "."):
            start = time.monotonic()
            report = judge(specimen, sandboxes)
            problem = specimen.wrong(report)
            wrong += problem is not None
            codes = " ".join(sorted({f.code for f in report.findings}))
            mark, seconds = "WRONG" if problem else "right", time.monotonic() - start
            print(f"{mark} {specimen.name:<44} {report.verdict:<14} {seconds:5.1f} s {problem or codes}", flush=True)
            if problem and "-v" in sys.argv:
                print("\n".join(f"      {f.severity} {f.code}: {f.message}" for f in report.findings))
                print("      " + "; ".join(report.not_checked), report.log[-1500:], flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
