"""What comparing costs: everything the judge measures of an output, beside `torch.testing.assert_close`.

`python bench/numerics.py [--full] [--rounds N]`; `--full` adds 10**8 elements (5 GB of memory).  Both run in
turns, each in a process of its own with its arrays made once, so that a busy machine slows both.  Ours
counts from arrays in memory to the finished result: distances to a float64 oracle, error budget with
S, histograms, quantiles, error map, the reference's own error and eleven named rules.  assert_close
compares candidate and reference alone.  Extra memory is the process's peak during a comparison above what
it held before (Linux).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
TORCH_PYTHON = REPOSITORY / ".runtimes/torch/bin/python"
FIGURES = ("ms", "torch ms", "ratio", "extra MiB", "torch extra MiB")

OURS = """
import sys
sys.path.insert(0, {root!r})
import ml_dtypes
import numpy as np
from workers.judge.numerics import Expected, Tolerance, compare
n, name = {n}, {dtype!r}
rng = np.random.default_rng(1)
truth = rng.standard_normal(n).reshape(-1, 1000)
dtype = np.dtype(getattr(ml_dtypes, name, name))
native, scale = truth.astype(dtype), np.abs(truth).astype(np.float32)
got = native.copy()
part = slice(0, n // 4000)  # a quarter of the elements is a code or so away, as another order of sums gives
got[part] = (truth[part] * (1 + rng.uniform(-2, 2, truth[part].shape) * 2.0 ** {exponent})).astype(dtype)
expected = Expected(native, truth, 1024, scale)
tolerance = Tolerance(None, None, None)
run = lambda: compare("y", got, expected, tolerance)
"""
THEIRS = """
import torch
n, dtype = {n}, torch.{dtype}
torch.manual_seed(1)
truth = torch.randn(n // 1000, 1000, dtype=torch.float64)
native = truth.to(dtype)
got = native.clone()
part = slice(0, n // 4000)
got[part] = (truth[part] * (1 + (torch.rand_like(truth[part]) * 4 - 2) * 2.0 ** {exponent})).to(dtype)
run = lambda: torch.testing.assert_close(got, native)
"""
LOOP = """
import json, sys, time
def status_mib(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1024
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak is now what is in use
before = status_mib("VmRSS")
run()
print(json.dumps(status_mib("VmHWM") - before), flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    run()
    print(json.dumps(time.perf_counter() - start), flush=True)
"""


class Runner:
    """One process that runs its comparison once for every line it is sent."""

    def __init__(self, python: Path | str, code: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", code + LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.extra_mib = self._answer()

    def _answer(self) -> float:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a process of the benchmark ended early")
        return float(json.loads(line))

    def seconds(self) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(n: int, dtype: str, rounds: int) -> dict[str, float]:
    """Medians over interleaved rounds."""
    facts: dict[str, Any] = {"n": n, "dtype": dtype, "exponent": -24 if dtype == "float32" else -9}
    ours = Runner(sys.executable, OURS.format(root=str(REPOSITORY), **facts))
    theirs = Runner(TORCH_PYTHON, THEIRS.format(**facts))
    pairs = [(ours.seconds(), theirs.seconds()) for _ in range(rounds)]
    ours.close()
    theirs.close()
    mine, other = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    return dict(zip(FIGURES, (mine * 1e3, other * 1e3, ratio, ours.extra_mib, theirs.extra_mib), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--full", action="store_true", help="10**8 elements too")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    if not TORCH_PYTHON.exists():
        raise SystemExit("no torch runtime: run `make setup` first")
    print(f"{'elements':>10}  {'dtype':<9}" + "".join(f"{name:>17}" for name in FIGURES))
    for n in (10**7, 10**8) if arguments.full else (10**7,):
        for dtype in ("float32", "bfloat16"):
            figures = measure(n, dtype, arguments.rounds)
            print(f"{n:>10}  {dtype:<9}" + "".join(f"{value:>17.2f}" for value in figures.values()), flush=True)


if __name__ == "__main__":
    main()
