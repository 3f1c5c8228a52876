"""What the workbench adds: warm through the service and cold on the command line, against a bare script.

`make bench-overhead`: medians of five interleaved rounds; prints ratios, and exits 1 when one misses its bound.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from app.config import load_settings  # noqa: E402
from bench.service import Service, running  # noqa: E402

ROUNDS = 5
CASES = {name: REPOSITORY / "bench" / "cases" / name for name in ("torch-scale", "triton-softmax")}
BOUNDS = {
    ("torch-scale", "warm"): 0.6,
    ("triton-softmax", "warm"): 1.0,
    ("torch-scale", "cold"): 2.6,
    ("triton-softmax", "cold"): 2.6,
}
CROSSING_BOUND = 0.8
TWENTY = 20


def timed(command: list[str | Path], **environment: str) -> float:
    start = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment}, cwd=REPOSITORY)
    return time.monotonic() - start


def bare(python: Path, case: Path) -> float:
    return timed([python, REPOSITORY / "bench" / "bare.py", case], TRITON_INTERPRET="1")


def cold(case: Path) -> float:
    workbench = Path(sys.executable).with_name("workbench")
    return timed([workbench, "evaluate", case, case / "submission.py"])


def warm(service: Service, case: Path, n: int) -> float:
    """From the upload's request to the evaluation's end, as a client sees it."""
    source = f"{(case / 'submission.py').read_text()}\n# {n}\n"  # the same bytes would be the same submission
    start = time.monotonic()
    row = service.wait(service.submit(f"bench-{case.name}", source))
    assert row["verdict"] == "accepted", row
    return time.monotonic() - start


def measure(service: Service, python: Path) -> dict[tuple[str, str], list[float]]:
    times: dict[tuple[str, str], list[float]] = {}
    for case in CASES.values():
        warm(service, case, -1)
    for n in range(ROUNDS):
        for name, case in CASES.items():
            times.setdefault((name, "bare"), []).append(bare(python, case))
            times.setdefault((name, "warm"), []).append(warm(service, case, n))
            times.setdefault((name, "cold"), []).append(cold(case))
    return times


def report(times: dict[tuple[str, str], list[float]]) -> bool:
    """Print the table; True when every bound holds."""
    fine = True
    print(f"{'case':<16} {'how':<5} {'median s':>9} {'ratio':>6} {'bound':>6}")
    for (name, how), samples in times.items():
        median = statistics.median(samples)
        ratio = median / statistics.median(times[name, "bare"])
        bound = BOUNDS.get((name, how))
        fine = fine and (bound is None or ratio <= bound)
        print(f"{name:<16} {how:<5} {median:9.3f} {ratio:6.2f} {bound or '':>6}")
    return fine


def twenty(service: Service) -> None:
    """Twenty evaluations at once: none lost; how long each waited and ran."""
    sources = [(CASES["triton-softmax"] / "submission.py").read_text() + f"\n# twenty {n}\n" for n in range(TWENTY)]
    start = time.monotonic()
    rows = [service.wait(e) for e in [service.submit("bench-triton-softmax", source) for source in sources]]
    total = time.monotonic() - start
    waits, runs = zip(
        *[(_between(r, "queued_at", "started_at"), _between(r, "started_at", "ended_at")) for r in rows], strict=True
    )
    done = sum(row["state"] == "done" for row in rows)
    print(f"\n{done} of {TWENTY} evaluations done, total {total:.1f} s")
    print(f"queue wait median {statistics.median(waits):.2f} s, most {max(waits):.2f} s")
    print(f"evaluation median {statistics.median(runs):.2f} s")
    assert done == TWENTY, "an evaluation was lost"


def _between(row: dict[str, str], first: str, second: str) -> float:
    from datetime import datetime

    return (datetime.fromisoformat(row[second]) - datetime.fromisoformat(row[first])).total_seconds()


def crossing(python: Path) -> bool:
    done = subprocess.run([python, REPOSITORY / "bench" / "crossing.py"], check=True, capture_output=True, text=True)
    ratio = json.loads(done.stdout)["speed_ratio"]
    print(f"\ncrossing 1 GiB: {ratio:.2f} of a NumPy copy into a fresh memfd (at least {CROSSING_BOUND})")
    return ratio >= CROSSING_BOUND


def main() -> int:
    python = load_settings().runtimes["torch"]
    with running(list(CASES.values())) as service:
        fine = report(measure(service, python))
        twenty(service)
    return 0 if fine & crossing(python) else 1


if __name__ == "__main__":
    sys.exit(main())
