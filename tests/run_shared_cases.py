"""Run the labelled cases beside the repository, print a table of verdicts, and say which are wrong.

`python tests/run_shared_cases.py [--match REGEX] [--jobs N]`; skipped with a word where there are none.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CASES = REPOSITORY.parent / "shared" / "cases"
FRAMEWORKS = ("torch", "triton")


def cases(match: str) -> list[Path]:
    """The folders of the cases that this machine's frameworks can judge."""
    found = []
    for expected in sorted(CASES.glob("*/expected.json")):
        labels = json.loads(expected.read_text())
        if labels["framework"] in FRAMEWORKS and re.search(match, labels["id"]):
            found.append(expected.parent)
    return found


def run(folder: Path) -> dict[str, object]:
    """Evaluate one case as a user would; `right` says whether its verdict is one of those expected."""
    labels = json.loads((folder / "expected.json").read_text())
    submission = next(folder.glob("submission.*"))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        report_file = Path(scratch) / "report.json"
        command = [REPOSITORY / ".venv/bin/workbench", "evaluate", folder, submission, "--json", report_file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        report = json.loads(report_file.read_text()) if report_file.exists() else None
    seconds = time.monotonic() - start
    verdict = report["verdict"] if report else f"no report: {done.stderr.strip()[-300:]}"
    codes = {finding["code"] for finding in report["findings"]} if report else set()
    wanted = set(labels["codes"])
    return {
        "id": labels["id"],
        "verdict": verdict,
        "right": verdict in labels["verdicts"],
        "code": bool(wanted & codes) or not wanted,
        "codes": sorted(codes),
        "wanted": sorted(wanted),
        "seconds": seconds,
    }


def main() -> int:
    """Print the table; exit 1 when fewer than 26 verdicts (or a smaller selection's all) are right."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default=".")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not CASES.is_dir():
        print("skipped: no labelled cases beside this repository")
        return 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(run, cases(arguments.match)))
    for row in rows:
        mark = "right" if row["right"] else "WRONG"
        code = "" if row["code"] else f"  wanted {', '.join(row['wanted'])}"
        print(f"{mark}  {row['id']:<24} {row['verdict']:<16} {row['seconds']:5.1f} s  {', '.join(row['codes'])}{code}")
    right = sum(bool(row["right"]) for row in rows)
    print(f"\n{right} of {len(rows)} verdicts right; an expected code on {sum(bool(r['code']) for r in rows)}")
    return 0 if right >= min(26, len(rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
